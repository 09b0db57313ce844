const lines = [{ net: 1999, qty: 3, vat: 21 }, { net: 450, qty: 10, vat: 9 }, { net: 12500, qty: 1, vat: 21 }];
const byRate = new Map();
for (const { net, qty, vat } of lines) byRate.set(vat, (byRate.get(vat) ?? 0) + net * qty);
const taxes = Array.from(byRate, ([rate, base]) => ({ rate, base, tax: Math.round((base * rate) / 100) }));
const net = taxes.reduce((s, t) => s + t.base, 0);
const gross = net + taxes.reduce((s, t) => s + t.tax, 0);
console.log(`net ${(net / 100).toFixed(2)}`);
console.log(`gross ${(gross / 100).toFixed(2)}`);
//=
({ taxes, net, gross })
