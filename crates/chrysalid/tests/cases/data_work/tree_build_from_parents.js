const flat = [
  { id: 4, parent: 2, name: 'leaf' }, { id: 1, parent: null, name: 'root' }, { id: 2, parent: 1, name: 'left' },
  { id: 3, parent: 1, name: 'right' }, { id: 5, parent: 99, name: 'orphan' },
];
const nodes = new Map(flat.map(({ id, name }) => [id, { name, children: [] }]));
const roots = [], orphans = [];
for (const { id, parent } of flat) {
  if (parent === null) roots.push(nodes.get(id));
  else if (nodes.has(parent)) nodes.get(parent).children.push(nodes.get(id));
  else orphans.push(id);
}
const print = (node, depth = 0) => {
  console.log('  '.repeat(depth) + node.name);
  node.children.forEach(child => print(child, depth + 1));
};
roots.forEach(r => print(r));
//=
({ roots, orphans })
