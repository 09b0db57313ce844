const xs = [4, 1, 2, 4, 3, 2, 4, 9];
const sorted = [...xs].sort((a, b) => a - b);
const mid = sorted.length >> 1;
const median = sorted.length % 2 ? sorted[mid] : (sorted[mid - 1] + sorted[mid]) / 2;
const counts = new Map();
xs.forEach(x => counts.set(x, (counts.get(x) ?? 0) + 1));
const [mode, times] = [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best));
//=
({ median, mode, times, counts })
