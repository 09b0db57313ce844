// 50 lines of a log a round, each matched with named groups, and one replacement over all of them.
const pattern = /^(?<day>\d{4}-\d{2}-\d{2}) \[(?<worker>[a-z]+-\d+)\] (?<verb>GET|PUT) (?<path>\S+) took (?<took>\d+)ms$/;
let took = 0;
let masked = "";
for (let round = 0; round < ROUNDS; round++) {
  const lines = Array.from({ length: 50 }, (_, i) => `2024-05-${10 + (i % 20)} [worker-${i % 7}] GET /items/${i} took ${i % 97}ms`);
  for (const line of lines) took += Number(pattern.exec(line).groups.took);
  masked = lines.join("\n").replace(/items\/\d+/g, "items/#");
}
took === ROUNDS * 1_225 && masked.split("/items/#").length === 51 ? "as it should be" : took;
