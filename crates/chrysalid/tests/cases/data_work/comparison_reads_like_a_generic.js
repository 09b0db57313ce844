const a = 1, b = 2, c = 3, d = 0;
const f = (...flags) => flags.map(Number).join('');
const inRange = (lo, x, hi) => lo < x & x < hi;
//=
[f(a < b, c > (d)), f(a<b, c>(a + b)), inRange(a, b, c)]
