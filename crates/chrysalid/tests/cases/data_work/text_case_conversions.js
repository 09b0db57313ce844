const split = s => s.replace(/([a-z\d])([A-Z])/g, '$1 $2').split(/[\s_\-]+/).filter(Boolean).map(w => w.toLowerCase());
const cap = w => w[0].toUpperCase() + w.slice(1);
const all = s => {
  const w = split(s);
  return { camel: w.map((x, i) => (i ? cap(x) : x)).join(''), pascal: w.map(cap).join(''), snake: w.join('_'), kebab: w.join('-') };
};
//=
['user_first_name', 'HTTP response-code', 'parseXmlDoc2'].map(all)
