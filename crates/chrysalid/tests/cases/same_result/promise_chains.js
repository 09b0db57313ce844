// value: 6 3 a1,b2,thrown,finally
const log = [];
const p = tools.gate({ q: 1 }).then(v => { log.push('a' + v); return tools.gate({ q: 2 }); }).then(v => { log.push('b' + v); throw new Error('thrown'); }).catch(e => { log.push(e.message); return tools.gate({ q: 3 }); }).finally(() => { log.push('finally'); });
const late = p.then(v => v * 2);
[await late, await p, log.join()].join(' ');
