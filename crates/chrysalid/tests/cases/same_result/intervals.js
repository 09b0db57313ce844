// value: 203 three end
let n = 0; const log = []; const sleep = ms => new Promise(r => setTimeout(r, ms));
await new Promise(done => { const t = setInterval(async () => { n++; if (n === 3) { clearInterval(t); log.push(await tools.gate({ q: 'three' })); done(); } }, 100); });
const t = setInterval(() => { n += 100; }, 1000);
await sleep(2500); clearInterval(t); await tools.gate({ q: 'between' });
await sleep(5000);
[n, log.join(), await tools.gate({ q: 'end' })].join(' ');
