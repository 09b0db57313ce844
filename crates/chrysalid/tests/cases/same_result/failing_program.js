// failure: RangeError: level 3
async function level3(n) { await tools.gate({ q: n }); throw new RangeError('level ' + n, { cause: { n } }); }
async function level2(n) { try { await level3(n); } finally { console.log('unwinding', n); await tools.gate({ q: 'cleanup' }); } }
await level2(await tools.gate({ q: 3 }));
