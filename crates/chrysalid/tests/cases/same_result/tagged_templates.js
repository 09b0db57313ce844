// value: a|\n|b1,2 a|\n|b2,3 2 x1y2z \u0041
const cache = new Map(); const tag = (s, ...v) => { cache.set(s, (cache.get(s) ?? 0) + 1); return s.raw.join('|') + v.join(); };
const f = x => tag`a${x}\n${x + 1}b`;
const one = f(await tools.gate({ q: 1 })); const two = f(await tools.gate({ q: 2 }));
const gated = async (s, ...v) => { let out = s[0]; for (let i = 0; i < v.length; i++) out += await tools.gate({ q: v[i] }) + s[i + 1]; return out; };
[one, two, [...cache.values()].join(), await gated`x${1}y${2}z`, String.raw`\u00${4}1`].join(' ');
