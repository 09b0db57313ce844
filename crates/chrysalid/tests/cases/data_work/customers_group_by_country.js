const customers = await Promise.all(Array.from({ length: 12 }, (_, i) => tools.get_customer({ id: i + 1 })));
const byCountry = Object.groupBy(customers, c => c.country);
//=
Object.entries(byCountry)
  .map(([country, list]) => ({ country, n: list.length, names: list.map(c => c.name.split(' ')[0]) }))
  .sort((a, b) => b.n - a.n || a.country.localeCompare(b.country))
