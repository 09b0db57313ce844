const table = [[1000, 'M'], [900, 'CM'], [500, 'D'], [400, 'CD'], [100, 'C'], [90, 'XC'], [50, 'L'], [40, 'XL'], [10, 'X'], [9, 'IX'], [5, 'V'], [4, 'IV'], [1, 'I']];
const toRoman = n => table.reduce((s, [v, r]) => { while (n >= v) { s += r; n -= v; } return s; }, '');
const fromRoman = s => [...s].reduce((sum, c, i, all) => {
  const value = { I: 1, V: 5, X: 10, L: 50, C: 100, D: 500, M: 1000 };
  return sum + (value[c] < (value[all[i + 1]] ?? 0) ? -value[c] : value[c]);
}, 0);
const years = [4, 9, 44, 1994, 2025, 3999];
//=
years.map(y => [y, toRoman(y), fromRoman(toRoman(y)) === y])
