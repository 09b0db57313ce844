const text = await tools.fetch_text({ name: 'table.md' });
const rows = text.trim().split('\n').map(l => l.slice(1, -1).split(/(?<!\\)\|/).map(c => c.trim().replaceAll('\\|', '|')));
const [head, , ...body] = rows;
const total = body.reduce((s, [, qty, price]) => s + qty * price, 0);
//=
{ head, items: body.map(([item]) => item), total }
