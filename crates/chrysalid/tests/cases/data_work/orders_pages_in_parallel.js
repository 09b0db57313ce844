const first = await tools.list_orders({ page: 1, page_size: 4 });
const rest = await Promise.all(
  Array.from({ length: first.pages - 1 }, (_, i) => tools.list_orders({ page: i + 2, page_size: 4 })),
);
const orders = [first, ...rest].flatMap(r => r.orders);
//=
({ total: first.total, got: orders.length, last: orders.at(-1) })
