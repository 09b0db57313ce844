const paths = ['src/index.js', 'src/lib/a.js', 'src/lib/b.js', 'README.md', 'test/a.test.js'];
const tree = paths.reduce((root, path) => {
  path.split('/').reduce((node, part, i, all) => (node[part] ??= i === all.length - 1 ? null : {}), root);
  return root;
}, {});
const draw = (node, indent = '') => Object.entries(node ?? {}).flatMap(([name, child], i, all) => {
  const last = i === all.length - 1;
  return [indent + (last ? '└─ ' : '├─ ') + name, ...draw(child, indent + (last ? '   ' : '│  '))];
});
//=
draw(tree).join('\n')
