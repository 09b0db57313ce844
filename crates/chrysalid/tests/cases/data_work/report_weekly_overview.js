const [orders, staff, hits] = await Promise.all([
  tools.list_orders({ page_size: 50 }).then(r => r.orders),
  tools.employees(),
  tools.search({ query: 'beans' }),
]);
const open = orders.filter(({ status }) => status === 'pending');
const lines = [
  '# Overview',
  `- open orders: ${open.length} (${open.map(o => o.id).join(', ')})`,
  `- staff: ${staff.length}, ${(staff.reduce((s, p) => s + p.salary, 0) / staff.length / 1000).toFixed(1)}k on average`,
  `- articles: ${hits.map(h => `“${h.title}”`).join(', ')}`,
];
//=
lines.join('\n')
