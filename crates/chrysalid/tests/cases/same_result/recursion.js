// value: 10 255 abc,acb,bac,bca,cab,cba
const tree = { v: 1, kids: [{ v: 2, kids: [] }, { v: 3, kids: [{ v: 4, kids: [] }] }] };
const sum = async t => (await tools.gate({ q: t.v })) + (await t.kids.reduce(async (acc, k) => (await acc) + await sum(k), Promise.resolve(0)));
const hanoi = (n, a, b, c) => n ? hanoi(n - 1, a, c, b) + 1 + hanoi(n - 1, c, b, a) : 0;
const perms = xs => xs.length < 2 ? [xs] : xs.flatMap((x, i) => perms([...xs.slice(0, i), ...xs.slice(i + 1)]).map(p => [x, ...p]));
[await sum(tree), hanoi(8), perms('abc'.split('')).map(p => p.join('')).join()].join(' ');
