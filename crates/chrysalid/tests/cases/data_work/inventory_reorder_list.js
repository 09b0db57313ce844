const skus = ['TEA-01', 'TEA-02', 'COF-01', 'COF-02', 'CUP-01', 'POT-01', 'FIL-01', 'GRN-01'];
const stock = await Promise.all(skus.map(sku => tools.inventory({ sku })));
const reorder = stock
  .filter(({ stock: left }) => left < 15)
  .map(({ sku, name, stock: left, price }) => ({ sku, name, order: 50 - left, cost: Math.round((50 - left) * price * 0.6 * 100) / 100 }))
  .sort((a, b) => a.cost - b.cost);
const total = reorder.reduce((sum, { cost }) => sum + cost, 0);
return { reorder, total };
