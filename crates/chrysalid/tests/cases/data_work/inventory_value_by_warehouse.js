const skus = 'TEA-01 TEA-02 COF-01 COF-02 CUP-01 POT-01 FIL-01 GRN-01'.split(' ');
const value = {};
for (const item of await Promise.all(skus.map(sku => tools.inventory({ sku })))) {
  value[item.warehouse] = (value[item.warehouse] || 0) + item.stock * Math.round(item.price * 100);
}
//=
Object.keys(value).sort().map(w => `${w}: ${(value[w] / 100).toFixed(2)}`)
