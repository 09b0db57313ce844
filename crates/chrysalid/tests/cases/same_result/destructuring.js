// value: default,1,{"x":2,"y":3},9,1,hole,45,2,1,3678,10ab,{"first":"x","second":"y"}
const { a = await tools.gate({ q: 'default' }), b: { c, ...rest } = {}, ['d' + 1]: dyn = 9 } = { b: { c: 1, x: 2, y: 3 } };
const [p, , q = await tools.gate({ q: 'hole' }), ...others] = [1, 2, undefined, 4, 5];
let x = 1, y = 2; [x, y] = [y, x];
const f = ({ k, v = k * 2 }, [m, n] = [7, 8]) => [k, v, m, n].join('');
await tools.gate({ q: 'pause' });
const o = {}; [o.first, o['sec' + 'ond']] = 'xy';
[a, c, JSON.stringify(rest), dyn, p, q, others.join(''), x, y, f({ k: 3 }), f({ k: 1, v: 0 }, 'ab'), JSON.stringify(o)].join();
