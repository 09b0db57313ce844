const { orders } = await tools.list_orders({ page_size: 50 });
const statuses = [...new Set(orders.map(o => o.status))].sort();
const currencies = [...new Set(orders.map(o => o.currency))].sort();
const table = statuses.map(s => [s, ...currencies.map(c => orders.filter(o => o.status === s && o.currency === c).length)]);
console.log(['status', ...currencies].join('\t'));
table.forEach(r => console.log(r.join('\t')));
//=
Object.fromEntries(table.map(([s, ...counts]) => [s, counts.reduce((a, b) => a + b)]))
