// value: slow,background,seen,end
const log = []; const race = Promise.race([tools.gate({ q: 'first' }), tools.slow({ ms: 20, v: 'slow' })]); log.push(await race);
tools.slow({ ms: 100, v: 'background' }).then(v => log.push(v)); const g = tools.gate({ q: 'seen' }); log.push(await g);
await tools.note({ v: log.length }); log.push(await tools.gate({ q: 'end' })); log.join();
