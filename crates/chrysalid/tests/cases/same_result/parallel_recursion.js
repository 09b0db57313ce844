// value: lll,llr,lrl,lrr,rll,rlr,rrl,rrr
const walk = async (n, path = '') => { if (n === 0) return [path]; const [l, r] = await Promise.all([walk(n - 1, path + 'l'), walk(n - 1, path + 'r')]); if (n === 2) await tools.gate({ q: path }); return [...l, ...r]; };
(await walk(3)).join();
