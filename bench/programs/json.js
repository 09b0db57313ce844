// 1 MB of JSON, written and read back.
const rows = Array.from({ length: 10_000 }, (_, id) => ({
  id,
  name: `customer number ${id}`,
  active: id % 3 === 0,
  balance: id * 1.25,
  tags: ["new", "north", null],
}));
const text = JSON.stringify(rows);
const back = JSON.parse(text);
`${text.length} ${back.length} ${back[9_999].name} ${back.reduce((sum, row) => sum + row.balance, 0)}`;
