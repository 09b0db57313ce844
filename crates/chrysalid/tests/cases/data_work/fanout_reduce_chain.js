const steps = ['TEA-01', 'CUP-01', 'GRN-01'];
const trail = await steps.reduce(
  (chain, sku) => chain.then(async acc => {
    const { price } = await tools.inventory({ sku });
    return [...acc, +(price + (acc.at(-1) ?? 0)).toFixed(2)];
  }),
  Promise.resolve([]),
);
//=
trail
