// value: j00,j11,j22,j33 0123
const jobs = []; for (let i = 0; i < 4; i++) { const label = 'j' + i; jobs.push((async () => { const got = await tools.gate({ q: label }); await null; return got + i; })()); if (i === 1) await tools.gate({ q: 'in loop' }); }
const order = []; jobs.forEach((j, i) => j.then(() => order.push(i))); const all = await Promise.all(jobs); all.join() + ' ' + order.slice().sort().join('');
