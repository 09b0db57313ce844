const holidays = new Set(['2025-05-01', '2025-05-29']);
let count = 0;
for (let t = Date.UTC(2025, 4, 1); t <= Date.UTC(2025, 4, 31); t += 864e5) {
  const d = new Date(t);
  const weekend = [0, 6].includes(d.getUTCDay());
  if (weekend || holidays.has(d.toISOString().split('T')[0])) continue;
  count++;
}
//=
count
