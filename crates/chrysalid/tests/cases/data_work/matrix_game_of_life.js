let grid = ['.....', '..#..', '..#..', '..#..', '.....'].map(r => [...r].map(c => c === '#'));
const neighbours = (g, y, x) => {
  let n = 0;
  for (const dy of [-1, 0, 1]) for (const dx of [-1, 0, 1]) if ((dy || dx) && g[y + dy]?.[x + dx]) n++;
  return n;
};
const step = g => g.map((row, y) => row.map((alive, x) => {
  const n = neighbours(g, y, x);
  return n === 3 || (alive && n === 2);
}));
for (let i = 0; i < 3; i++) {
  grid = step(grid);
  console.log(grid.map(r => r.map(c => (c ? '#' : '.')).join('')).join('/'));
}
//=
grid.flat().filter(Boolean).length
