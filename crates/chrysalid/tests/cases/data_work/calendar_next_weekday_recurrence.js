const parse = s => new Date(`${s}T00:00:00Z`);
function* every(rule, from, count) {
  const d = parse(from);
  while (count > 0) {
    if (rule(d)) { yield d.toISOString().slice(0, 10); count--; }
    d.setUTCDate(d.getUTCDate() + 1);
  }
}
const nth = (weekday, n) => d => d.getUTCDay() === weekday && Math.ceil(d.getUTCDate() / 7) === n;
const lastDay = d => new Date(d.getTime() + 864e5).getUTCDate() === 1;
//=
({ secondTuesday: [...every(nth(2, 2), '2025-01-01', 3)], monthEnd: [...every(lastDay, '2024-01-15', 3)] })
