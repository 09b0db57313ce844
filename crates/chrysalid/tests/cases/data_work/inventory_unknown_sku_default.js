const lookup = async sku => {
  try {
    const { name, stock: { valueOf } = {}, ...rest } = await tools.inventory({ sku });
    return { name, price: rest.price };
  } catch {
    return { name: 'unknown', price: null };
  }
};
return Promise.all(['POT-01', 'VASE-99'].map(lookup));
