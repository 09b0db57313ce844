const halfEven = (x, digits = 2) => {
  const f = 10 ** digits;
  const n = +(x * f).toFixed(8);
  const floor = Math.floor(n);
  const diff = n - floor;
  const r = Math.abs(diff - 0.5) < 1e-8 ? (floor % 2 === 0 ? floor : floor + 1) : Math.round(n);
  return r / f;
};
//=
[1.005, 2.345, 2.355, -1.125, 0.125, 10.675].map(x => [x, halfEven(x), x.toFixed(2), Math.round(x * 100) / 100])
