const rate = country => {
  switch (country) {
    case 'DE': case 'AT': return country === 'DE' ? 19 : 20;
    case 'HU': return 27;
    default: {
      let low = 15;
      if (country?.length !== 2) throw new TypeError(`not a country: ${country}`);
      return low;
    }
  }
};
const out = [];
for (const c of ['DE', 'AT', 'HU', 'LU', undefined]) {
  try { out.push(rate(c)); } catch ({ name, message }) { out.push(`${name}: ${message}`); }
}
//=
out.map((v, i) => [i, v])
