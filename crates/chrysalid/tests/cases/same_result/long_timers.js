// value: asked,one,two,three,again
const order = []; const day = 86400e3;
const sleep = (ms, tag) => new Promise(r => setTimeout(() => { order.push(tag); r(tag); }, ms));
const all = Promise.all([sleep(2 * day, 'two'), sleep(day, 'one'), sleep(3 * day, 'three')]);
order.push(await tools.gate({ q: 'asked' }));
await all; order.push(await tools.gate({ q: 'again' }));
order.join();
