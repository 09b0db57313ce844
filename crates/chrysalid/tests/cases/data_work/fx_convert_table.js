const { base, rates } = await tools.fx_rates({ base: 'EUR' });
const codes = Object.keys(rates);
const cross = codes.map(from => codes.map(to => (rates[to] / rates[from]).toFixed(4)));
console.log([base, ...codes].join(' '));
//=
Object.fromEntries(codes.map((c, i) => [c, cross[i]]))
