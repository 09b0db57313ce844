// value: acgde
const seen = []; const sleep = ms => new Promise(r => setTimeout(r, ms));
setTimeout(() => seen.push('c'), 300); setTimeout(x => seen.push(x), 100, 'a'); const dead = setTimeout(() => seen.push('dead'), 200);
await sleep(150); clearTimeout(dead);
await tools.gate({ q: 1 }); seen.push('g');
await sleep(1000); await tools.gate({ q: 2 });
await Promise.all([sleep(20).then(() => seen.push('e')), sleep(10).then(() => seen.push('d'))]);
seen.join('');
