const cache = new Map();
let calls = 0;
const customer = id => {
  if (!cache.has(id)) {
    calls++;
    cache.set(id, tools.get_customer({ id }));
  }
  return cache.get(id);
};
const { orders } = await tools.list_orders({ page_size: 20 });
const cities = await Promise.all(orders.map(async o => (await customer(o.customer_id)).city));
//=
({ calls, distinct: new Set(cities).size, cities: cities.slice(0, 5) })
