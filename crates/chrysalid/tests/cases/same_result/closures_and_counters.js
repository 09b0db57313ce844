// value: 4,2 0,10,20,2,2
const counter = () => { let n = 0; return { up: by => (n += by), get value() { return n; } }; };
const cs = [counter(), counter()]; const fs = [];
for (let i = 0; i < 3; i++) { fs.push(() => i * 10); cs[i % 2].up(await tools.gate({ q: i + 1 })); }
for (var v = 0; v < 2; v++) fs.push(() => v);
[cs.map(c => c.value).join(), fs.map(f => f()).join()].join(' ');
