const edges = 'A-B A-C B-D C-D D-E E-F C-G G-F'.split(' ').map(e => e.split('-'));
const adj = {};
for (const [u, v] of edges) {
  (adj[u] ??= []).push(v);
  (adj[v] ??= []).push(u);
}
const bfs = (from, to) => {
  const queue = [[from]], seen = new Set([from]);
  while (queue.length) {
    const path = queue.shift();
    const node = path.at(-1);
    if (node === to) return path;
    for (const next of adj[node]) if (!seen.has(next)) { seen.add(next); queue.push([...path, next]); }
  }
  return null;
};
//=
[bfs('A', 'F'), bfs('B', 'G'), bfs('A', 'Z')]
