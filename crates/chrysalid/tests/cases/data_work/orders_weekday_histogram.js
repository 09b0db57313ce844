const names = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const { orders } = await tools.list_orders({ page_size: 50 });
const counts = Object.fromEntries(names.map(n => [n, 0]));
for (const { created_at } of orders) counts[names[new Date(created_at).getUTCDay()]]++;
for (const n of names) console.log(`${n} ${'#'.repeat(counts[n])}`);
//=
counts
