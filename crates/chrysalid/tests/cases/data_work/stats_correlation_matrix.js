const cols = { a: [1, 2, 3, 4], b: [2, 4, 6, 8.5], c: [4, 3, 2, 0] };
const mean = v => v.reduce((s, x) => s + x) / v.length;
const corr = (u, v) => {
  const mu = mean(u), mv = mean(v);
  let num = 0, du = 0, dv = 0;
  for (let i = 0; i < u.length; i++) {
    num += (u[i] - mu) * (v[i] - mv);
    du += (u[i] - mu) ** 2;
    dv += (v[i] - mv) ** 2;
  }
  return num / Math.sqrt(du * dv);
};
const names = Object.keys(cols);
//=
names.map(r => names.map(c => +corr(cols[r], cols[c]).toFixed(6)))
