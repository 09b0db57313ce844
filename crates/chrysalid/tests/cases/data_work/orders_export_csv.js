const { orders } = await tools.list_orders({ page: 1, page_size: 3 });
const columns = ['id', 'created_at', 'status', 'total', 'items'];
const cell = v => (Array.isArray(v) ? v.map(i => `${i.sku}:${i.quantity}`).join('; ') : String(v));
const quote = s => (/[",;\s]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s);
const csv = [columns.join(','), ...orders.map(o => columns.map(c => quote(cell(o[c]))).join(','))].join('\n');
console.log(csv);
//=
csv.length
