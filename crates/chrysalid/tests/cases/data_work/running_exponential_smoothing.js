const series = [10, 12, 13, 12, 15, 20, 18];
const alpha = 0.3;
const smooth = series.reduce((acc, x) => {
  const prev = acc.at(-1) ?? x;
  return [...acc, alpha * x + (1 - alpha) * prev];
}, []);
//=
smooth.map(x => Number(x.toFixed(4)))
