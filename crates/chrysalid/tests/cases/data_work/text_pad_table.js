const rows = [['name', 'qty'], ['tea', 3], ['espresso', 120], ['cup', 7]];
const widths = rows[0].map((_, c) => Math.max(...rows.map(r => String(r[c]).length)));
const table = rows.map(r => r.map((v, c) => (typeof v === 'number' ? String(v).padStart(widths[c]) : v.padEnd(widths[c]))).join(' | '));
table.splice(1, 0, widths.map(w => '-'.repeat(w)).join('-+-'));
console.log(table.join('\n'));
//=
table.length
