const to = (n, base) => n.toString(base);
const rows = [255, 1024, 12345].map(n => ({ n, bin: to(n, 2), oct: to(n, 8), hex: to(n, 16), b36: to(n, 36) }));
const back = rows.every(r => parseInt(r.bin, 2) === r.n && parseInt(r.b36, 36) === r.n);
const flags = 0b1011;
//=
[rows, back, { read: !!(flags & 1), write: !!(flags & 4), high: flags >>> 3, inverted: ~flags, unsigned: ~flags >>> 0 }]
