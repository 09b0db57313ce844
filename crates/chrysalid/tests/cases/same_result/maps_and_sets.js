// value: key,object,NaN,nan,late,2 1,2,3 object true 3
const m = new Map([['a', 1]]); const key = { id: 1 }; m.set(key, 'object').set(NaN, 'nan');
const it = m.entries(); it.next();
m.set(await tools.gate({ q: 'late' }), 2); m.delete('a');
const s = new Set([3, 1, 3, 2]); s.add(await tools.gate({ q: 1 })); s.delete(3); s.add(3);
const rest = []; for (const [k, v] of it) { rest.push(typeof k === 'object' ? 'key' : String(k), v); if (rest.length === 2) await tools.gate({ q: 'mid' }); }
[rest.join(), [...s].join(), m.get(key), m.has(NaN), m.size].join(' ');
