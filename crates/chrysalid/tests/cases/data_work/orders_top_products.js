const { orders } = await tools.list_orders({ page_size: 50 });
const units = {};
orders.flatMap(o => o.items).forEach(({ sku, quantity }) => { units[sku] = (units[sku] ?? 0) + quantity; });
const top = Object.entries(units).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 3);
//=
await Promise.all(top.map(async ([sku, n]) => {
  const { name } = await tools.inventory({ sku });
  return `${name} × ${n}`;
}));
