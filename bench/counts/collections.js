// A Map and a Set, filled, asked, partly emptied, walked.
let total = 0;
for (let round = 0; round < ROUNDS; round++) {
  const counts = new Map();
  const seen = new Set();
  for (let i = 0; i < 500; i++) {
    const key = `key ${i % 250}`;
    counts.set(key, (counts.get(key) ?? 0) + i);
    seen.add(i % 250);
  }
  for (let i = 0; i < 250; i += 3) seen.delete(i);
  for (const [key, count] of counts) if (seen.has(Number(key.slice(4)))) total += count;
}
total === ROUNDS * 82_834 ? "as it should be" : total / ROUNDS;
