// value: 1,2,3
const channel = () => { const values = [], takers = []; return { put: v => takers.length ? takers.shift()(v) : values.push(v), take: () => values.length ? Promise.resolve(values.shift()) : new Promise(r => takers.push(r)) }; };
const c = channel(), out = []; const producer = async () => { for (let i = 1; i <= 3; i++) c.put(await tools.gate({ q: i })); c.put(null); };
const consumer = async () => { for (let v; (v = await c.take()) !== null;) { out.push(v); await tools.gate({ q: 'ack' + v }); } };
await Promise.all([producer(), consumer()]); out.join();
