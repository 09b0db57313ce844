const { orders } = await tools.list_orders({ page_size: 50 });
const monthly = orders
  .filter(o => ['paid', 'shipped'].includes(o.status))
  .reduce((m, o) => {
    const key = o.created_at.slice(0, 7);
    return m.set(key, (m.get(key) ?? 0) + o.total);
  }, new Map());
//=
[...monthly].sort(([a], [b]) => a.localeCompare(b)).map(([month, total]) => ({ month, total: total.toFixed(2) }))
