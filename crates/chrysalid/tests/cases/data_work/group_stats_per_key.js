function stats(values) {
  const n = values.length;
  const mean = values.reduce((a, b) => a + b, 0) / n;
  const variance = values.reduce((a, b) => a + (b - mean) ** 2, 0) / n;
  return { n, mean, sd: Math.sqrt(variance), min: Math.min(...values), max: Math.max(...values) };
}

const readings = { a: [1, 2, 3, 4], b: [10.5, 9.5], c: [7] };
//=
Object.fromEntries(Object.entries(readings).map(([k, v]) => [k, stats(v)]))
