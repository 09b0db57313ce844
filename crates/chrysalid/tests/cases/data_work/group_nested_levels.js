const rows = [
  ['2025', 'Q1', 'tea', 10], ['2025', 'Q1', 'coffee', 7], ['2025', 'Q2', 'tea', 4], ['2024', 'Q4', 'tea', 9],
  ['2025', 'Q1', 'tea', 5],
];
const tree = {};
for (const [year, quarter, product, units] of rows) {
  const q = ((tree[year] ??= {})[quarter] ??= {});
  q[product] = (q[product] || 0) + units;
}
//=
tree;
