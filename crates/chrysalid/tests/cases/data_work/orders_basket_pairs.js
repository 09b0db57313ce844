const { orders } = await tools.list_orders({ page_size: 50 });
const pairs = {};
for (const { items } of orders) {
  const skus = items.map(i => i.sku).sort();
  skus.forEach((a, i) => skus.slice(i + 1).forEach(b => { pairs[`${a}+${b}`] = (pairs[`${a}+${b}`] ?? 0) + 1; }));
}
//=
Object.entries(pairs).filter(([, n]) => n > 1).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))
