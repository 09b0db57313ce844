const m = [[2n, -1n, 0n, 3n], [1n, 3n, 2n, -4n], [0n, 5n, -6n, 1n], [7n, 1n, 1n, 1n]];
let sign = 1n, prev = 1n;
for (let k = 0; k < 3; k++) {
  if (m[k][k] === 0n) {
    const swap = m.findIndex((r, i) => i > k && r[k] !== 0n);
    [m[k], m[swap]] = [m[swap], m[k]];
    sign = -sign;
  }
  for (let i = k + 1; i < 4; i++)
    for (let j = k + 1; j < 4; j++) m[i][j] = (m[i][j] * m[k][k] - m[i][k] * m[k][j]) / prev;
  prev = m[k][k];
}
//=
sign * m[3][3]
