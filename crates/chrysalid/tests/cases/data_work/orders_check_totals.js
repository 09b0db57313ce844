const { orders } = await tools.list_orders({ page_size: 50 });
const cents = x => BigInt(Math.round(x * 100));
const wrong = orders.filter(o => o.items.reduce((s, i) => s + cents(i.unit_price) * BigInt(i.quantity), 0n) !== cents(o.total));
//=
({ checked: orders.length, wrong: wrong.map(o => o.id), sum: orders.reduce((s, o) => s + cents(o.total), 0n) })
