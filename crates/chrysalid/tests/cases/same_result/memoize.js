// value: va,vb,va,vb,2,ab
const memo = f => { const cache = new Map(); return Object.assign(async k => { if (!cache.has(k)) cache.set(k, f(k)); return cache.get(k); }, { cache }); };
let calls = 0; const load = memo(async k => { calls++; return 'v' + await tools.gate({ q: k }); });
const all = await Promise.all([load('a'), load('b'), load('a')]); const again = await load('b');
[...all, again, calls, [...load.cache.keys()].join('')].join();
