const data = [
  { month: 'Jan', product: 'tea', units: 5 }, { month: 'Jan', product: 'pot', units: 1 },
  { month: 'Feb', product: 'tea', units: 7 }, { month: 'Mar', product: 'pot', units: 2 },
  { month: 'Feb', product: 'tea', units: 1 },
];
const columns = [...new Set(data.map(d => d.product))];
const months = [...new Set(data.map(d => d.month))];
const table = months.map(month => {
  const row = { month };
  for (const column of columns) {
    row[column] = data.filter(d => d.month === month && d.product === column).reduce((s, d) => s + d.units, 0);
  }
  return row;
});
const header = ['month', ...columns].join('\t');
console.log([header, ...table.map(r => Object.values(r).join('\t'))].join('\n'));
//=
table
