const mulberry = a => () => {
  a |= 0; a = (a + 0x6d2b79f5) | 0;
  let t = Math.imul(a ^ (a >>> 15), 1 | a);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
const random = mulberry(2025);
const weights = { common: 70, rare: 25, epic: 5 };
const total = Object.values(weights).reduce((a, b) => a + b);
const pick = () => {
  let r = random() * total;
  for (const [name, w] of Object.entries(weights)) if ((r -= w) < 0) return name;
};
const counts = { common: 0, rare: 0, epic: 0 };
for (let i = 0; i < 2000; i++) counts[pick()]++;
//=
counts
