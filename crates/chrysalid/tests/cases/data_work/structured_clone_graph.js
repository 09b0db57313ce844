const shared = { n: 1 };
const original = { when: new Date(86400000), tags: new Set(['a']), map: new Map([['k', shared]]), shared, re: /x/gi, bytes: Uint8Array.of(1, 2) };
original.self = original;
const copy = structuredClone(original);
shared.n = 2;
original.tags.add('b');
const cyclic = copy.self === copy;
const same = copy.map.get('k') === copy.shared;
delete copy.self;
let refused;
try { structuredClone({ f() {} }); } catch (e) { refused = e.name; }
//=
{ copy, cyclic, same, refused }
