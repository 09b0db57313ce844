const now = new Date('2025-07-01T00:00:00Z');
const customers = await Promise.all([1, 2, 3, 4, 5].map(id => tools.get_customer({ id })));
const years = since => {
  const d = new Date(since);
  let n = now.getUTCFullYear() - d.getUTCFullYear();
  if (now.getUTCMonth() < d.getUTCMonth() || (now.getUTCMonth() === d.getUTCMonth() && now.getUTCDate() < d.getUTCDate())) n--;
  return n;
};
//=
customers.map(c => ({ name: c.name, since: new Date(c.since), years: years(c.since) }))
