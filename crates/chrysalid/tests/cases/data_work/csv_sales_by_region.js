const csv = await tools.fetch_text({ name: 'sales.csv' });
const [header, ...lines] = csv.trim().split('\n');
const columns = header.split(',');
const rows = lines.map(l => Object.fromEntries(l.split(',').map((v, i) => [columns[i], v])));
const totals = {};
for (const r of rows) {
  const t = (totals[r.region] ??= { units: 0, revenue: 0 });
  t.units += Number(r.units);
  t.revenue += Number(r.revenue);
}
for (const t of Object.values(totals)) t.revenue = Number(t.revenue.toFixed(2));
//=
({ rows: rows.length, totals })
