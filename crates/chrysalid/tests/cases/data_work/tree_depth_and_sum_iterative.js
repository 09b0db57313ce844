const tree = { v: 1, kids: [{ v: 2, kids: [{ v: 4 }] }, { v: 3, kids: [{ v: 5, kids: [{ v: 6 }] }] }] };
let sum = 0, depth = 0;
const stack = [[tree, 1]];
while (stack.length) {
  const [node, level] = stack.pop();
  sum += node.v;
  depth = Math.max(depth, level);
  for (const kid of node.kids ?? []) stack.push([kid, level + 1]);
}
return [sum, depth];
