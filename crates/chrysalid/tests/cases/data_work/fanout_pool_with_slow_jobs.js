const jobs = [120, 30, 60, 90, 10, 45];
const order = [];
const executing = new Set();
for (const ms of jobs) {
  const p = tools.slow({ ms, v: ms }).then(v => { order.push(v); executing.delete(p); });
  executing.add(p);
  if (executing.size >= 2) await Promise.race(executing);
}
await Promise.all(executing);
//=
order
