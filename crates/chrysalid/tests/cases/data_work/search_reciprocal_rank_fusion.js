const lists = [await tools.search({ query: 'tea' }), await tools.search({ query: 'cups' }), await tools.search({ query: 'hard' })];
const fused = {};
for (const list of lists) list.forEach((hit, rank) => (fused[hit.id] = (fused[hit.id] ?? 0) + 1 / (60 + rank + 1)));
//=
Object.entries(fused).sort((a, b) => b[1] - a[1]).map(([id, score]) => [id, score.toFixed(5)])
