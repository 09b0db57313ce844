const { orders } = await tools.list_orders({ page_size: 50 });
const spans = new Map();
for (const o of orders) {
  const t = new Date(o.created_at);
  const span = spans.get(o.customer_id);
  if (!span) spans.set(o.customer_id, { first: t, latest: t, n: 1 });
  else {
    if (t < span.first) span.first = t;
    if (t > span.latest) span.latest = t;
    span.n++;
  }
}
const repeat = [...spans].filter(([, s]) => s.n > 2).sort(([a], [b]) => a - b);
//=
repeat.map(([id, { first, latest, n }]) => ({ id, n, first, days: Math.floor((latest - first) / 864e5) }))
