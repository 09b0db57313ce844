const grid = ['....#', '..#..', '.o..#', '#....'];
let found = null, looked = 0;
rows: for (let y = 0; y < grid.length; y++) {
  for (let x = 0; x < grid[y].length; x++) {
    looked++;
    if (grid[y][x] === '#') continue rows;
    if (grid[y][x] === 'o') {
      found = { x, y };
      break rows;
    }
  }
}
//=
[found, looked]
