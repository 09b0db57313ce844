// A Map and a Set of 100,000 entries: filled, asked, partly emptied, walked.
const counts = new Map();
const seen = new Set();
for (let i = 0; i < 200_000; i++) {
  const key = `key ${i % 100_000}`;
  counts.set(key, (counts.get(key) ?? 0) + i);
  seen.add(i % 100_000);
}
for (let i = 0; i < 100_000; i += 3) seen.delete(i);
let sum = 0;
for (const [key, count] of counts) if (seen.has(Number(key.slice(4)))) sum += count;
`${counts.size} ${seen.size} ${sum}`;
