const pairs = [[1, 2], [3, 4], [2, 5], [6, 6], [4, 7], [8, 3]];
const parent = new Map();
const find = x => {
  if (!parent.has(x)) parent.set(x, x);
  while (parent.get(x) !== x) {
    parent.set(x, parent.get(parent.get(x)));
    x = parent.get(x);
  }
  return x;
};
for (const [a, b] of pairs) parent.set(find(a), find(b));
const groups = {};
for (const node of [...parent.keys()].sort((a, b) => a - b)) (groups[find(node)] ||= []).push(node);
//=
Object.values(groups)
