// value: 19 3 from getter h3 _v/v/later {"value":19,"writable":true,"enumerable":true,"configurable":true}
let reads = 0; const o = { _v: 1, get v() { reads++; return this._v; }, set v(x) { this._v = x + 1; }, get later() { return tools.gate({ q: 'from getter' }); } };
Object.defineProperty(o, 'hidden', { get: () => 'h' + reads, enumerable: false });
o.v = await tools.gate({ q: 10 }); o.v += 5; const late = await o.later; o.v++;
await tools.gate({ q: 'p' });
[o.v, reads, late, o.hidden, Object.keys(o).join('/'), JSON.stringify(Object.getOwnPropertyDescriptor(o, '_v'))].join(' ');
