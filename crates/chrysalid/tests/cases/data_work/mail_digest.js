const { orders } = await tools.list_orders({ status: 'shipped' });
const body = `Shipped orders:
${orders.map((o, i) => `${i + 1}. ${o.id} – ${o.total.toFixed(2)} ${o.currency}`).join('\n')}

Total lines: ${orders.flatMap(o => o.items).length}`;
const { id } = await tools.send_mail({ to: 'ops@example.com', subject: `${orders.length} shipped`, body });
console.log(body);
return `${id} sent`;
