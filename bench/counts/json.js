// 30 records a round, written and read back.
let length = 0;
for (let round = 0; round < ROUNDS; round++) {
  const rows = Array.from({ length: 30 }, (_, id) => ({
    id,
    name: `customer number ${id}`,
    active: id % 3 === 0,
    balance: id * 1.25,
    tags: ["new", "north", null],
  }));
  length += JSON.parse(JSON.stringify(rows)).reduce((sum, row) => sum + row.tags.length, 0);
}
length === ROUNDS * 90 ? "as it should be" : length;
