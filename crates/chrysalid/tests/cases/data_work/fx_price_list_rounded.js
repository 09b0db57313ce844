const { rates } = await tools.fx_rates({ base: 'EUR' });
const items = await Promise.all(['CUP-01', 'POT-01', 'GRN-01'].map(sku => tools.inventory({ sku })));
const decimals = { JPY: 0 };
const price = (eur, code) => (eur * rates[code]).toFixed(decimals[code] ?? 2);
//=
items.map(({ name, price: eur }) => ({ name, ...Object.fromEntries(['USD', 'GBP', 'JPY'].map(c => [c, price(eur, c)])) }))
