async function* orders(filter = {}) {
  for (let page = 1, more = true; more; page++) {
    const result = await tools.list_orders({ page, page_size: 7, ...filter });
    yield* result.orders;
    more = result.has_more;
  }
}
let cents = 0;
for await (const order of orders({ status: 'paid' })) {
  if (order.currency !== 'EUR') continue;
  cents += Math.round(order.total * 100);
}
//=
cents / 100
