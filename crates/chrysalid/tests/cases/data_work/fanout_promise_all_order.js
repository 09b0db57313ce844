const delays = [300, 100, 200];
const started = delays.map((ms, i) => tools.slow({ ms, v: `job ${i}` }));
console.log(`${started.length} started, ${started.every(p => p instanceof Promise)}`);
//=
await Promise.all(started)
