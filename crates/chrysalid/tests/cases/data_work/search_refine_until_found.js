const attempts = ['matcha', 'oolong', 'espresso'];
for (const query of attempts) {
  const hits = await tools.search({ query });
  console.log(`"${query}": ${hits.length} hit${hits.length === 1 ? '' : 's'}`);
  if (hits.length) return { query, hits };
}
return null;
