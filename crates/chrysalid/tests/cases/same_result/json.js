// value: 107 42 4 [null,null,null] 8 TypeError
const data = { n: 1, nested: { list: [1, 'two', null, { deep: true }] }, date: new Date(0), skip: undefined, f() {}, toString: 1 };
const text = JSON.stringify(data, (k, v) => k === 'deep' ? 'replaced' : v); await tools.gate({ q: text });
const back = JSON.parse(text, function (k, v) { return k === 'n' ? v + 41 : v; }); await tools.gate({ q: back });
const cyc = {}; cyc.me = cyc; let error; try { JSON.stringify(cyc); } catch (e) { error = e.name; }
[text.length, back.n, back.nested.list.length, JSON.stringify([undefined, () => 1, Symbol()]), JSON.stringify({ a: [1, { b: 2 }] }, null, 1).split('\n').length, error].join(' ');
