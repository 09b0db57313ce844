const queries = ['tea', 'coffee', 'water'];
const lists = await Promise.all(queries.map(query => tools.search({ query, limit: 5 })));
const scores = new Map();
lists.flat().forEach(({ id, title, score }) => {
  const entry = scores.get(id) ?? { title, score: 0, hits: 0 };
  scores.set(id, { ...entry, score: entry.score + score, hits: entry.hits + 1 });
});
//=
[...scores.entries()].sort(([ia, a], [ib, b]) => b.score - a.score || (ia < ib ? -1 : 1)).map(([id, s]) => ({ id, ...s }))
