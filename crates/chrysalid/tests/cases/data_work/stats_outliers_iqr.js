const xs = [10, 12, 11, 13, 12, 95, 11, 10, -40, 12];
const s = xs.toSorted((a, b) => a - b);
const q = p => s[Math.floor(p * (s.length - 1))];
const iqr = q(0.75) - q(0.25);
const [low, high] = [q(0.25) - 1.5 * iqr, q(0.75) + 1.5 * iqr];
//=
xs.map((x, i) => ({ x, i })).filter(({ x }) => x < low || x > high)
