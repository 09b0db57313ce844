const [eur, usd] = await Promise.all(['EUR', 'USD'].map(base => tools.fx_rates({ base })));
const gaps = Object.keys(usd.rates).filter(c => !['EUR', 'USD'].includes(c)).map(code => {
  const direct = eur.rates[code];
  const via = eur.rates.USD * usd.rates[code];
  return { code, direct, via, basisPoints: Math.round((via / direct - 1) * 1e4) };
});
const unknown = await tools.fx_rates({ base: 'XAU' }).catch(({ name, message }) => ({ name, message }));
//=
({ gaps, unknown })
