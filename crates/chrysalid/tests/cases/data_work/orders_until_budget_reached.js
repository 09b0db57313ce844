let spent = 0, page = 0, last = null;
do {
  page += 1;
  var batch = await tools.list_orders({ page, page_size: 2 });
  for (const o of batch.orders) {
    if (spent + o.total > 300) { last = o.id; break; }
    spent += o.total;
  }
} while (batch.has_more && !last);
//=
{ page, last, spent: Number(spent.toFixed(2)) }
