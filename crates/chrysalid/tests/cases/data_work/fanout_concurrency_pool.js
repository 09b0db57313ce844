async function pool(items, limit, worker) {
  const results = new Array(items.length);
  let next = 0, running = 0, peak = 0;
  const run = async () => {
    while (next < items.length) {
      const i = next++;
      peak = Math.max(peak, ++running);
      results[i] = await worker(items[i], i);
      running--;
    }
  };
  await Promise.all(Array.from({ length: limit }, run));
  return { results, peak };
}
const skus = ['TEA-01', 'TEA-02', 'COF-01', 'COF-02', 'CUP-01', 'POT-01', 'FIL-01'];
//=
await pool(skus, 3, async sku => (await tools.inventory({ sku })).stock)
