// value: 012345gxzy
const order = []; const say = x => () => { order.push(x); };
Promise.resolve().then(say(1)).then(say(4)); (async () => { order.push(0); await null; order.push(2); await null; order.push(5); })(); Promise.resolve().then(say(3));
await tools.gate({ q: 'one' });
order.push('g'); const t = (async () => { order.push('x'); await undefined; order.push('y'); })(); order.push('z'); await t;
await tools.gate({ q: 'two' });
order.join('');
