const { orders } = await tools.list_orders({ status: 'pending' });
const need = {};
for (const { sku, quantity } of orders.flatMap(o => o.items)) need[sku] = (need[sku] ?? 0) + quantity;
const shortages = [];
for (const [sku, quantity] of Object.entries(need)) {
  const { stock } = await tools.inventory({ sku });
  if (stock < quantity) shortages.push({ sku, missing: quantity - stock });
}
//=
shortages.length ? shortages : 'all can ship'
