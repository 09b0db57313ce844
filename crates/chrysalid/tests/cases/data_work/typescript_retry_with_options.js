// expect: {"attempt":3,"key":"typed"}
// reason: Node 20 does not run TypeScript
type RetryOptions = { attempts?: number; delay?: (n: number) => number };

async function retry<T>(fn: (attempt: number) => Promise<T>, { attempts = 5, delay = n => 10 * n }: RetryOptions = {}): Promise<T> {
  let lastError: Error | undefined;
  for (let n: number = 1; n <= attempts; n++) {
    try {
      return await fn(n);
    } catch (error: any) {
      lastError = error;
      await new Promise<void>(resolve => setTimeout(resolve, delay(n)));
    }
  }
  throw lastError!;
}
const done = await retry<{ key: string; attempt: number }>(() => tools.flaky({ key: 'typed' }));
//=
done satisfies object
