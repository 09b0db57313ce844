function isoWeek(iso) {
  const d = new Date(iso + 'T00:00:00Z');
  const weekday = d.getUTCDay() || 7;
  d.setUTCDate(d.getUTCDate() + 4 - weekday);
  const yearStart = Date.UTC(d.getUTCFullYear(), 0, 1);
  const week = Math.ceil(((d - yearStart) / 86400000 + 1) / 7);
  return `${d.getUTCFullYear()}-W${String(week).padStart(2, '0')}`;
}
//=
['2024-12-30', '2025-01-01', '2021-01-03', '2020-12-31', '2025-06-15'].map(isoWeek)
