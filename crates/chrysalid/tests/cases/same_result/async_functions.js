// value: 3,14,15
async function add(a, b) { return (await tools.gate({ q: a })) + (await tools.gate({ q: b })); }
const twice = async x => 2 * (await x);
const o = { async method(n) { await null; return this.base + n; }, base: 10 };
const first = await add(1, 2);
const second = await twice(add(3, 4));
[first, second, await o.method(await tools.gate({ q: 5 }))].join();
