const o = { b: 1, 10: 'x', a: 2, 2: 'y', [Symbol('s')]: 3, '01': 'z', '-1': 'w' };
o.c = 4;
delete o.a;
o.a = 5;
const seen = [];
for (const k in o) seen.push(k);
//=
({ seen, same: seen.join() === Object.keys(o).join(), json: JSON.stringify(o), symbols: Object.getOwnPropertySymbols(o).length })
