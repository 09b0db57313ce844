const graph = { a: { b: 7, c: 9, f: 14 }, b: { c: 10, d: 15 }, c: { d: 11, f: 2 }, d: { e: 6 }, e: {}, f: { e: 9 }, z: {} };
function dijkstra(start) {
  const dist = Object.fromEntries(Object.keys(graph).map(k => [k, Infinity]));
  const prev = {};
  dist[start] = 0;
  const open = new Set(Object.keys(graph));
  while (open.size) {
    const u = [...open].reduce((m, k) => (dist[k] < dist[m] ? k : m));
    open.delete(u);
    for (const [v, w] of Object.entries(graph[u])) {
      const alt = dist[u] + w;
      if (alt < dist[v]) [dist[v], prev[v]] = [alt, u];
    }
  }
  return { dist, prev };
}
//=
dijkstra('a')
