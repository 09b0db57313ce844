// value: x,7,y,3 xy4,yx1 poor x,no q
const bank = (() => { const accounts = new Map(); const audit = []; const need = n => { if (!accounts.has(n)) throw new Error('no ' + n); return accounts.get(n); };
  return { open(n, v = 0) { accounts.set(n, v); return this; }, async move(a, b, v) { const from = need(a); if (await tools.gate({ q: v }) > from) throw new RangeError('poor ' + a); accounts.set(a, from - v); accounts.set(b, need(b) + v); audit.push(a + b + v); await tools.note({ v: audit.at(-1) }); }, get state() { return [...accounts].flat().join(); }, audit }; })();
bank.open('x', 10).open('y'); await bank.move('x', 'y', 4); await bank.move('y', 'x', 1);
const errors = []; for (const [a, b, v] of [['x', 'y', 100], ['q', 'x', 1]]) await bank.move(a, b, v).catch(e => errors.push(e.message));
[bank.state, bank.audit.join(), errors.join()].join(' ');
