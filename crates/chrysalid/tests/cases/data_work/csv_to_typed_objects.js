const text = `date,qty,price,active
2025-01-05,3,4.50,true
2025-02-10,,7,false
2025-03-15,12,0.99,TRUE`;
const [head, ...body] = text.split('\n').map(l => l.split(','));
const convert = {
  date: s => new Date(s + 'T00:00:00Z'),
  qty: s => (s === '' ? null : parseInt(s, 10)),
  price: Number,
  active: s => s.toLowerCase() === 'true',
};
//=
body.map(cells => Object.fromEntries(cells.map((c, i) => [head[i], convert[head[i]](c)])))
