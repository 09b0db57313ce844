// value: 9999,5000,100,-1,end
const rows = Array.from({ length: 5000 }, (_, i) => ({ i, name: 'row' + i, tags: [i % 3, i % 5] })); await tools.gate({ q: 'made' });
const by = new Map(rows.map(r => [r.name, r])); rows.length = 100; await tools.gate({ q: 'cut' });
let sum = 0; for (const r of by.values()) sum += r.tags[0] * r.tags[1]; by.get('row4999').i = -1; [sum, by.size, rows.length, by.get('row4999').i, await tools.gate({ q: 'end' })].join();
