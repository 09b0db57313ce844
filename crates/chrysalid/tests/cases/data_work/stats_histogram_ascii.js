const values = [1.2, 3.4, 2.2, 7.8, 5.5, 5.1, 5.9, 9.9, 0.3, 4.4, 6.1];
const bins = 5, lo = 0, hi = 10;
const histogram = new Array(bins).fill(0);
for (const v of values) histogram[Math.min(bins - 1, Math.floor(((v - lo) / (hi - lo)) * bins))]++;
histogram.forEach((n, i) => {
  const from = lo + (i * (hi - lo)) / bins;
  console.log(`${String(from).padStart(3)}–${String(from + 2).padEnd(3)} ${'█'.repeat(n)}${n ? ' ' : ''}${n}`);
});
//=
histogram
