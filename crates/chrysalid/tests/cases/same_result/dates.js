// value: 2024-03-31T12:30:00.000Z true true true NaN 1577836800000 1970-01-01T00:00:00.000Z
const d = new Date(Date.UTC(2024, 1, 29, 12, 30)); d.setUTCMonth(d.getUTCMonth() + 1);
await tools.gate({ q: d.toISOString() });
d.setUTCDate(31); const moved = await tools.gate({ q: d }); const now = Date.now(); await tools.gate({ q: 'pause' });
[d.toISOString(), moved.getTime() === d.getTime(), moved !== d, Date.now() === now, new Date('x').getTime(), Date.parse('2020-01-01T00:00:00Z'), new Date(0).toJSON()].join(' ');
