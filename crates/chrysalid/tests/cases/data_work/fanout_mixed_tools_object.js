const loaders = {
  customer: () => tools.get_customer({ id: 7 }),
  stock: () => tools.inventory({ sku: 'COF-02' }),
  rates: () => tools.fx_rates({ base: 'USD' }),
  broken: () => tools.fetch_text({ name: 'nope.txt' }),
};
const entries = await Promise.all(
  Object.entries(loaders).map(async ([key, load]) => [key, await load().catch(e => ({ error: e.message }))]),
);
//=
Object.fromEntries(entries)
