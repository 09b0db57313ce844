// 20,000 lines of a log, each matched with named groups, and one replacement over all of them.
const lines = Array.from({ length: 20_000 }, (_, i) => `2024-05-${10 + (i % 20)} [worker-${i % 7}] GET /items/${i} took ${i % 97}ms`);
const pattern = /^(?<day>\d{4}-\d{2}-\d{2}) \[(?<worker>[a-z]+-\d+)\] (?<verb>GET|PUT) (?<path>\S+) took (?<took>\d+)ms$/;
let took = 0;
for (const line of lines) took += Number(pattern.exec(line).groups.took);
const masked = lines.join("\n").replace(/items\/\d+/g, "items/#");
`${took} ${masked.length}`;
