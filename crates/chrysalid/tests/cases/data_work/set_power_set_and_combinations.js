const items = ['a', 'b', 'c'];
const powerSet = items.reduce((sets, x) => [...sets, ...sets.map(s => [...s, x])], [[]]);
const combos = (xs, k) => (k === 0 ? [[]] : xs.flatMap((x, i) => combos(xs.slice(i + 1), k - 1).map(c => [x, ...c])));
const permutations = xs => (xs.length < 2 ? [xs] : xs.flatMap((x, i) => permutations(xs.toSpliced(i, 1)).map(p => [x, ...p])));
//=
[powerSet.map(s => s.join('')), combos([1, 2, 3, 4], 2), permutations(items).map(p => p.join(''))]
