const all = [];
let page = 1;
while (true) {
  const res = await tools.list_orders({ page });
  all.push(...res.orders);
  if (!res.has_more) break;
  page++;
}
console.log(`fetched ${all.length} orders in ${page} pages`);
//=
all.map(o => o.id)
