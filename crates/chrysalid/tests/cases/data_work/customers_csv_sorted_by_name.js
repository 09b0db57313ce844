const people = [];
for (let id = 1; id <= 12; id++) people.push(await tools.get_customer({ id }));
const lines = people
  .sort((a, b) => (a.name < b.name ? -1 : 1))
  .map(({ name, email, tier }) => [name, email ?? 'n/a', tier].map(s => `"${s}"`).join(','));
//=
['name,email,tier', ...lines].join('\n')
