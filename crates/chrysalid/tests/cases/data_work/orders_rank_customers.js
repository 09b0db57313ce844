const { orders } = await tools.list_orders({ page_size: 50 });
const spend = Object.entries(Object.groupBy(orders, o => o.customer_id))
  .map(([id, list]) => ({ id: Number(id), spend: list.reduce((s, o) => s + o.total, 0) }))
  .sort((a, b) => b.spend - a.spend);
let rank = 0, previous;
//=
spend.map(({ id, spend: s }, i) => {
  if (s !== previous) rank = i + 1;
  previous = s;
  return [rank, id, s.toFixed(2)];
})
