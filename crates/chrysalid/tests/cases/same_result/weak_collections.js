// value: 0,1,2 true false true true
const keys = [{}, {}, function () {}]; const wm = new WeakMap(keys.map((k, i) => [k, i])); const ws = new WeakSet([keys[0]]);
await tools.gate({ q: 1 });
const ref = new WeakRef(keys[1]); ws.add(keys[2]);
await tools.gate({ q: 2 });
[keys.map(k => wm.get(k)).join(), ws.has(keys[0]), ws.has(keys[1]), ws.has(keys[2]), ref.deref() === keys[1]].join(' ');
