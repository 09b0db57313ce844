const words = ['listen', 'silent', 'enlist', 'google', 'elgoog', 'abc', 'Tinsel'];
const key = w => [...w.toLowerCase()].sort().join('');
const families = new Map();
for (const w of words) families.has(key(w)) ? families.get(key(w)).push(w) : families.set(key(w), [w]);
//=
[...families.values()].filter(f => f.length > 1)
