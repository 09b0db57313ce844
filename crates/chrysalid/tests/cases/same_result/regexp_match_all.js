// value: a1,b2,c3 true,2,false end
const it = 'a1b22c333'.matchAll(/([a-z])(\d+)/g); const out = [];
for (const [, l, d] of it) { out.push(l + d.length); await tools.gate({ q: l }); }
const sticky = /\d/y; sticky.lastIndex = 1; const hits = [sticky.test('a1'), sticky.lastIndex, sticky.test('a1')];
[out.join(), hits.join(), await tools.gate({ q: 'end' })].join(' ');
