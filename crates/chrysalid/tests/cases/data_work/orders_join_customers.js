const { orders } = await tools.list_orders({ page: 2 });
const ids = [...new Set(orders.map(o => o.customer_id))];
const customers = new Map((await Promise.all(ids.map(id => tools.get_customer({ id })))).map(c => [c.id, c]));
//=
orders.map(o => ({ order: o.id, customer: customers.get(o.customer_id).name, total: `${o.total.toFixed(2)} ${o.currency}` }))
