const addMonths = (date, n) => {
  const d = new Date(date);
  const target = d.getUTCMonth() + n;
  const day = d.getUTCDate();
  d.setUTCDate(1);
  d.setUTCMonth(target);
  const last = new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 0)).getUTCDate();
  d.setUTCDate(Math.min(day, last));
  return d;
};
const start = new Date('2024-01-31T09:30:00Z');
const due = [1, 2, 3, 13].map(n => addMonths(start, n));
due.forEach(d => console.log(d.toISOString().slice(0, 10)));
//=
due
