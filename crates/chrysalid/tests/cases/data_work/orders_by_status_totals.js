const { orders } = await tools.list_orders({ page: 1, page_size: 100 });
const summary = {};
for (const { status, total } of orders) {
  const s = (summary[status] ??= { count: 0, total: 0 });
  s.count += 1;
  s.total = Math.round((s.total + total) * 100) / 100;
}
return summary;
