// value: 0127,9,true,3,5,end,end,13,014,321,123,8
const a = [5, 1, 4]; a.length = 5; a[7] = 'end'; await tools.gate({ q: a });
const holes = Object.keys(a).join(''); const sorted = a.toSorted?.() ?? [...a].sort(); a.splice(1, 2, 'x', 'y', 'z'); await tools.gate({ q: 1 });
const groups = Object.groupBy?.([1, 2, 3, 4], n => n % 2 ? 'odd' : 'even') ?? { odd: [1, 3], even: [2, 4] };
[holes, a.length, 3 in a, a.indexOf('z'), a.flat().length, a.findLast(x => typeof x === 'string'), a.at(-1), groups.odd.join(''), Array.from({ length: 3 }, (_, i) => i * i).join(''), [3, 1, 2].sort((p, q) => q - p).join(''), [[1, [2, [3]]]].flat(Infinity).join(''), sorted.length].join();
