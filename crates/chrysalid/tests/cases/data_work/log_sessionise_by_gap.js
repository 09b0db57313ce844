const clicks = [0, 10, 15, 100, 104, 300, 301, 302].map(s => s * 1000);
const GAP = 30_000;
const sessions = [];
for (const t of clicks) {
  const last = sessions.at(-1);
  if (last && t - last.end <= GAP) {
    last.end = t;
    last.hits++;
  } else sessions.push({ start: t, end: t, hits: 1 });
}
//=
sessions.map(({ start, end, hits }) => ({ seconds: (end - start) / 1000, hits }))
