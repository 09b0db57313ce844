function* naturals() { let n = 1; while (true) yield n++; }
function* map(it, f) { for (const x of it) yield f(x); }
function* filter(it, p) { for (const x of it) if (p(x)) yield x; }
function* take(it, n) { if (n <= 0) return; for (const x of it) { yield x; if (--n === 0) return; } }
let pulled = 0;
const source = map(naturals(), n => { pulled++; return n * n; });
const result = [...take(filter(source, n => n % 3 === 1), 5)];
//=
({ result, pulled })
