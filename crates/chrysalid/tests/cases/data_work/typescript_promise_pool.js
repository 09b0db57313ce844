// expect: {"$map":[["job1",40],["job2",60],["job0",140]]}
// reason: Node 20 does not run TypeScript
interface Job<R> { name: string; run(): Promise<R> }
async function pool<R>(jobs: Job<R>[], limit: number): Promise<Map<string, R>> {
  const results = new Map<string, R>();
  const queue: Job<R>[] = [...jobs];
  const worker = async (): Promise<void> => {
    let job: Job<R> | undefined;
    while ((job = queue.shift()) !== undefined) results.set(job.name, await job.run());
  };
  await Promise.all(Array.from({ length: limit }, worker));
  return results;
}
const jobs: Job<number>[] = [70, 20, 30].map((ms: number, i: number): Job<number> => ({ name: `job${i}`, run: () => tools.slow({ ms, v: ms * 2 }) as Promise<number> }));
//=
await pool<number>(jobs, 2)
