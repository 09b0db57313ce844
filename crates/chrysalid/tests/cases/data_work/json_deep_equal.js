function eq(a, b) {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return false;
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const ka = Object.keys(a), kb = Object.keys(b);
  return ka.length === kb.length && ka.every(k => Object.hasOwn(b, k) && eq(a[k], b[k]));
}
const cases = [
  [{ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }], [{ a: 1, b: 2 }, { b: 2, a: 1 }], [[], {}], [NaN, NaN], [0, -0],
  [new Date(5), new Date(5)], [{ a: undefined }, { b: undefined }], [null, undefined],
];
//=
cases.map(([a, b]) => eq(a, b))
