// value: http://h.test/?a=1&b=x+y|b=x+y|b,x y|http://h.test/p?c=3|1|true
const url = new URL('http://h.test/?a=1'); const params = url.searchParams; const entries = params.entries();
await tools.gate({ q: 1 });
params.append('b', 'x y'); const first = url.href; entries.next(); params.delete('a'); params.append('z', 1); params.delete('z');
await tools.gate({ q: 2 });
const second = params.toString(); const third = [...params][0].join(); url.href = '/p?c=3'.length && 'http://h.test/p?c=3';
await tools.gate({ q: 3 });
[first, second, third, url.href, params.size, entries.next().done && params === url.searchParams].join('|');
