// value: 9,16,25 1
async function* map(it, f) { for await (const x of it) yield await f(x); } async function* take(it, n) { if (n) for await (const x of it) { yield x; if (!--n) return; } } async function* from(n) { try { for (;;) yield n++; } finally { closed++; } }
let closed = 0; const out = []; for await (const x of take(map(from(3), x => tools.gate({ q: x })), 3)) out.push(x * x);
[out.join(), closed].join(' ');
