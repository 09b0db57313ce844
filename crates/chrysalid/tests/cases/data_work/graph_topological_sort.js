const deps = { app: ['ui', 'api'], ui: ['core'], api: ['db', 'core'], db: ['core'], core: [] };
const state = {}, order = [];
function visit(n, chain = []) {
  if (state[n] === 'done') return;
  if (state[n] === 'open') throw new Error(`cycle: ${[...chain, n].join(' -> ')}`);
  state[n] = 'open';
  for (const d of deps[n]) visit(d, [...chain, n]);
  state[n] = 'done';
  order.push(n);
}
Object.keys(deps).forEach(n => visit(n));
deps.core.push('app');
for (const k in state) delete state[k];
let cycle;
try { visit('app'); } catch ({ message }) { cycle = message; }
//=
[order, cycle]
