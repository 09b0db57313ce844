const a = new Set(['ana', 'bo', 'cy', 'di']);
const b = new Set(['cy', 'di', 'eve']);
const union = new Set([...a, ...b]);
const intersection = new Set([...a].filter(x => b.has(x)));
const difference = new Set([...a].filter(x => !b.has(x)));
const symmetric = [...union].filter(x => a.has(x) !== b.has(x));
const jaccard = intersection.size / union.size;
//=
({ union, intersection, difference, symmetric, jaccard })
