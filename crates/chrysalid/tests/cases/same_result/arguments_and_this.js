// value: none:2:12,o:0:,b:2:12,changed,o:2:xy,c:0:,last
function f() { 'use strict'; return [this?.tag ?? 'none', arguments.length, [...arguments].join('')].join(':'); }
function sloppy(a) { arguments[0] = 'changed'; return a; }
const o = { tag: 'o', f, arrow: () => typeof this, async later(...rest) { await tools.gate({ q: rest.length }); return f.apply(this, rest); } }; const bound = f.bind({ tag: 'b' }, 1);
[f(1, 2), o.f(), bound(2), sloppy('kept'), await o.later('x', 'y'), await o.later.call({ tag: 'c' }), (await tools.gate({ q: 'last' }))].join();
