const text = await tools.fetch_text({ name: 'sales.csv' });
const rows = text.split('\n').slice(1).filter(Boolean).map(l => l.split(','));
const pivot = new Map();
for (const [date, , product, units] of rows) {
  const month = date.slice(0, 7);
  if (!pivot.has(month)) pivot.set(month, { tea: 0, coffee: 0 });
  pivot.get(month)[product] += +units;
}
let running = 0;
for (const [month, p] of pivot) console.log(month, p.tea, p.coffee, (running += p.tea + p.coffee));
//=
pivot
