const fnv1a = s => {
  let h = 0x811c9dc5;
  for (const c of s) h = Math.imul(h ^ c.charCodeAt(0), 0x01000193);
  return h >>> 0;
};
const fnv64 = s => [...s].reduce((h, c) => BigInt.asUintN(64, (h ^ BigInt(c.charCodeAt(0))) * 0x100000001b3n), 0xcbf29ce484222325n);
//=
['', 'tea', 'coffee'].map(s => [fnv1a(s), fnv64(s), fnv64(s).toString(16)])
