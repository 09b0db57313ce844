// value: mmmm,mmmmmm
const pipe = (...fs) => async x => { for (const f of fs) x = await f(x); return x; }; const tap = f => async x => { await f(x); return x; };
const run = pipe(x => x + 1, tap(x => tools.note({ v: x })), x => tools.gate({ q: x * 2 }), async x => [x, await tools.gate({ q: 'm' })], ([n, m]) => m.repeat(n));
[await run(1), await run(2)].join();
