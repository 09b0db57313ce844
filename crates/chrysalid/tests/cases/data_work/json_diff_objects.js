const before = { name: 'Ana', tags: ['a', 'b'], plan: 'free', seats: 3 };
const after = { name: 'Ana', tags: ['a', 'c'], seats: 5, owner: null };
const changes = {};
for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
  const [from, to] = [before[key], after[key]];
  if (JSON.stringify(from) === JSON.stringify(to)) continue;
  changes[key] = !(key in before) ? { added: to } : !(key in after) ? { removed: from } : { from, to };
}
//=
changes
