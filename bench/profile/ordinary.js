class Shape { #n; constructor(n) { this.#n = n; this.kind = "shape"; } get n() { return this.#n; } area() { return this.n * 2; } static of(...a) { return a.map(x => new this(x)); } }
class Square extends Shape { constructor(n) { super(n); this.kind = "square"; } area() { return super.area() + this.n ** 2; } }
let total = 0, out = [];
for (let r = 0; r < 300; r++) {
  const shapes = Shape.of(1, 2, 3, 4).concat(Square.of(5, 6, 7));
  for (const { kind, n } of shapes) total += kind.length * n;
  for (const s of shapes) total += s.area();
  const [a, b = 2, ...rest] = [r, undefined, 3, 4, 5];
  const o = { a, b, rest, ["k" + r]: r, get x() { return this.a; }, ...{ p: 1, q: 2 } };
  for (const k in o) total += k.length;
  for (const [k, v] of Object.entries(o)) if (typeof v === "number") total += v;
  const words = "the quick brown fox jumps over the lazy dog".split(" ");
  out.push(words.map(w => w[0].toUpperCase() + w.slice(1)).filter(w => w.includes("o")).join("-"));
  const count = new Map(); for (const w of words) for (const c of w) count.set(c, (count.get(c) || 0) + 1);
  total += [...count.entries()].sort((x, y) => y[1] - x[1] || x[0].localeCompare(y[0])).slice(0, 3).reduce((s, [, n]) => s + n, 0);
  const set = new Set(words); total += set.size;
  const make = (n) => { let c = n; return { inc: () => ++c, get: () => c }; };
  const m = make(r); m.inc(); m.inc(); total += m.get();
  function* gen(n) { for (let i = 0; i < n; i++) yield i * i; }
  for (const v of gen(10)) total += v;
  try { if (r % 3 == 0) throw new Error("no " + r); JSON.parse(r % 5 ? '{"a":[1,2,{"b":null}],"c":"x\\n"}' : "{bad"); } catch (e) { total += e.message.length; } finally { total++; }
  const t = JSON.stringify({ o, words, nested: { list: [1.5, true, null, "é\""] } }); total += JSON.parse(t).words.length;
  total += "a1b22c333".replace(/\d+/g, (d) => d.length).length + (/^(\w+)\s(\d{2,})$/.exec("abc 1234")?.[1].length ?? 0);
  switch (r % 5) { case 0: total += 1; break; case 1: total -= 1; break; default: total ^= 3; }
  const grid = Array.from({ length: 12 }, (_, i) => new Array(12).fill(i)); for (let i = 0; i < 12; i++) for (let j = 0; j < 12; j++) grid[i][j] += grid[j][i] * 2 - (i & j);
  total += grid.flat().reduce((x, y) => x + y, 0); total = total % 1000003;
  const f = new Float64Array(32).map((_, i) => Math.sin(i)); total += Math.round(f.reduce((x, y) => x + y * 10, 0));
  let s = ""; for (let i = 0; i < 40; i++) s += String.fromCharCode(97 + i % 26); total += s.indexOf("z") + s.charCodeAt(3) + s.substring(2, 9).padStart(12).trim().length;
  let d = new Date(1700000000000 + r * 86400000); total += d.getUTCDate() + d.toISOString().length;
  total += [3, 1, 2].toSorted().at(-1) + Object.keys(o).length + Number.parseInt("42px") + Number("3.5") + (0.1 * r).toFixed(2).length;
  let i = 0; while (i < 50) { if (i % 2) { i += 3; continue; } i++; } do { i -= 2; } while (i > 0);
  const q = [1,2,3]; q.push(4); q.unshift(0); q.splice(1, 2); total += q.shift() + q.pop() + q.indexOf(3) + (q.find(x => x > 2) ?? 0);
}
async function work(n) { let s = 0; for (let i = 0; i < n; i++) s += await (async (x) => x * 2)(i); return s; }
const r = await Promise.all([work(500), work(500), new Promise((res) => res(3)).then((x) => x + 1)]);
async function* ag() { for (let i = 0; i < 200; i++) yield i; } for await (const v of ag()) total += v;
let big = 1n; for (let i = 1n; i < 60n; i++) big *= i; 
`${total} ${out.length} ${r} ${big}`;
