// value: got 2 100,200,100 never 1
const waits = []; async function retry(f, n) { for (let i = 0; ; i++) { try { return await f(i); } catch (e) { if (i + 1 >= n) throw e; const ms = 100 * 2 ** i; waits.push(ms); await new Promise(r => setTimeout(r, ms)); } } }
const v = await retry(async i => { const g = await tools.gate({ q: i }); if (g < 2) await tools.fail({ msg: 'try ' + g }); return 'got ' + g; }, 5);
let gaveUp; try { await retry(i => tools.fail({ msg: 'never ' + i }), 2); } catch (e) { gaveUp = e.message; }
[v, waits.join(), gaveUp].join(' ');
