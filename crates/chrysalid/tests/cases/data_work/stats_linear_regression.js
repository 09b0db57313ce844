const points = [[1, 2.1], [2, 3.9], [3, 6.2], [4, 7.8], [5, 10.1]];
const n = points.length;
const [sx, sy, sxy, sxx] = points.reduce(
  ([a, b, c, d], [x, y]) => [a + x, b + y, c + x * y, d + x * x],
  [0, 0, 0, 0],
);
const slope = (n * sxy - sx * sy) / (n * sxx - sx ** 2);
const intercept = (sy - slope * sx) / n;
console.log('y = %sx + %s', slope.toFixed(3), intercept.toFixed(3));
//=
{ slope, intercept, predict6: slope * 6 + intercept }
