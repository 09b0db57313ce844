const { orders, pages, total } = await tools.list_orders({ page: 99 });
const none = await tools.list_orders({ status: 'lost' });
//=
({ orders, pages, total, none, average: none.orders.reduce((s, o) => s + o.total, 0) / none.total })
