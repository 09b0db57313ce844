const xs = [0.1 + 0.2, 1e21, 1e-7, 123456789.123456789, -0, 5e-324, 1.7976931348623157e308, 2 ** 53 + 2];
console.log(xs.map(String).join(' '));
//=
xs.map(x => ({
  x,
  fixed: Math.abs(x) < 1e21 ? x.toFixed(3) : null,
  precision: x.toPrecision(4),
  exponent: x.toExponential(2),
  hex: Number.isInteger(x) && Math.abs(x) < 1e22 ? x.toString(16) : null,
}))
