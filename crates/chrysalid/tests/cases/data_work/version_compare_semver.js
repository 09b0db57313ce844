const parse = v => {
  const [, major, minor, patch, pre] = v.match(/^v?(\d+)\.(\d+)\.(\d+)(?:-([\w.]+))?/);
  return { nums: [major, minor, patch].map(Number), pre: pre?.split('.') ?? [] };
};
const cmp = (a, b) => {
  const x = parse(a), y = parse(b);
  for (const i of [0, 1, 2]) if (x.nums[i] !== y.nums[i]) return x.nums[i] - y.nums[i];
  if (!x.pre.length || !y.pre.length) return y.pre.length - x.pre.length;
  return x.pre.join('.').localeCompare(y.pre.join('.'));
};
//=
['1.10.0', 'v1.2.0', '1.2.0-rc.1', '1.2.0-beta', '2.0.0', '1.9.9'].sort(cmp)
