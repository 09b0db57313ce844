const usage = { chrome: 640, safari: 190, edge: 52, firefox: 30, opera: 22, other1: 8, other2: 3 };
const entries = Object.entries(usage).sort(([, a], [, b]) => b - a);
const total = entries.reduce((s, [, n]) => s + n, 0);
const top = entries.slice(0, 3);
const rest = entries.slice(3).reduce((s, [, n]) => s + n, 0);
const share = n => `${((100 * n) / total).toFixed(1)}%`;
//=
Object.fromEntries([...top, ['other', rest]].map(([name, n]) => [name, share(n)]))
