// value: f1,rno,f2,f3 0,odd1,2,odd3
const rs = await Promise.allSettled([tools.gate({ q: 1 }), tools.fail({ msg: 'no' }), tools.slow({ ms: 5, v: 2 }), tools.gate({ q: 3 })]);
const text = rs.map(r => r.status[0] + (r.value ?? r.reason.message)).join();
await tools.gate({ q: 'pause' });
const more = await Promise.allSettled(rs.map(async (r, i) => { if (i % 2) throw new Error('odd' + i); return tools.gate({ q: i }); }));
text + ' ' + more.map(r => r.value ?? r.reason.message).join();
