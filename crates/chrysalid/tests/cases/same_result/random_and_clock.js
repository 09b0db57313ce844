// value: true,4,0,2027,0
const r = [Math.random()]; const t0 = Date.now(); await tools.gate({ q: 1 });
r.push(Math.random()); await tools.gate({ q: 2 }); r.push(Math.random(), Math.random());
console.log(r.join()); await tools.note({ v: r });
[r.every(x => x >= 0 && x < 1), new Set(r).size, Date.now() - t0, new Date().getUTCFullYear(), performance.now()].join();
