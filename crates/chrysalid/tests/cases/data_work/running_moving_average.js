function movingAverage(xs, size) {
  const out = [];
  let sum = 0;
  for (let i = 0; i < xs.length; i++) {
    sum += xs[i];
    if (i >= size) sum -= xs[i - size];
    out.push(i >= size - 1 ? sum / size : null);
  }
  return out;
}
//=
movingAverage([3, 5, 8, 1, 0, 12, 7, 7], 3)
