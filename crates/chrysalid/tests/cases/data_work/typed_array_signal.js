const n = 8;
const wave = Float64Array.from({ length: n }, (_, i) => (i % 4 < 2 ? 1 : -1));
const sums = new Float64Array(n);
wave.forEach((v, i) => { sums[i] = v + (sums[i - 1] ?? 0); });
const energy = wave.reduce((s, v) => s + v * v, 0);
const half = sums.subarray(2, 6);
half.fill(9, 0, 1);
//=
{ sums, energy, reversed: half.toReversed(), at: sums.at(-1), has: sums.includes(9) }
