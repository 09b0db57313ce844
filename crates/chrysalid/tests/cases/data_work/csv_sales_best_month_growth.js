const rows = (await tools.fetch_text({ name: 'sales.csv' })).trim().split('\n').slice(1);
const monthly = {};
rows.forEach(row => {
  const [date, , , , revenue] = row.split(',');
  monthly[date.slice(5, 7)] = (monthly[date.slice(5, 7)] ?? 0) + parseFloat(revenue);
});
const months = Object.keys(monthly).sort();
const growth = months.slice(1).map((m, i) => ({ month: m, pct: ((monthly[m] / monthly[months[i]] - 1) * 100).toFixed(1) + '%' }));
//=
growth
