// value: 10,20,21 3
const out = [];
outer: for (let i = 0; i < 4; i++) { for (let j = 0; j < 4; j++) { if (j === i) continue outer; if (i === 3) break outer; out.push(i + '' + j); if (out.length % 2 === 0) await tools.gate({ q: out.length }); } }
block: { await tools.gate({ q: 'block' }); if (out.length) break block; out.push('never'); }
let n = 0; do { n++; if (n === 2) continue; await tools.gate({ q: n }); } while (n < 3);
out.join() + ' ' + n;
