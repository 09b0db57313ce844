const xs = [5, 3, 8, 1];
const holes = [1, , 3];
const copy = xs.with(1, 30);
//=
[
  copy, xs.toSpliced(1, 2, 'x'), xs.findLast(x => x < 6), xs.findLastIndex(x => x > 100), [[1, [2, [3, [4]]]]].flat(2),
  xs.copyWithin(0, 2), Array.from('héj'), holes, holes.map(x => x * 2), Array(3), xs.at(-2), [3, 1].concat(4, [5, [6]]), [..."ab"].entries().next(),
]
