const left = [{ k: 'a', l: 1 }, { k: 'b', l: 2 }, { k: 'c', l: 3 }];
const right = [{ k: 'a', r: 10 }, { k: 'c', r: 30 }, { k: 'c', r: 31 }];

const index = Object.groupBy(right, row => row.k);
const result = left.flatMap(row => {
  const matches = index[row.k] ?? [{ r: null }];
  return matches.map(match => ({ ...row, r: match.r }));
});
console.log(`${result.length} rows, ${result.filter(x => x.r === null).length} without a match`);
//=
result
