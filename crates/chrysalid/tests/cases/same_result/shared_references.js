// value: 5 true true true true 5
const shared = { n: 1 }; const graph = { left: shared, right: shared, list: [shared] }; graph.self = graph;
await tools.gate({ q: 1 }); graph.left.n = await tools.gate({ q: 5 });
const back = await tools.mirror(graph); await tools.gate({ q: 2 });
[graph.right.n, graph.list[0] === shared, back.left === back.right, back.self === back, back !== graph, back.list[0].n].join(' ');
