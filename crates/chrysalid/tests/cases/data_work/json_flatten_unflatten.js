const flatten = (obj, prefix = '') =>
  Object.entries(obj).reduce((out, [k, v]) => {
    const key = prefix ? `${prefix}.${k}` : k;
    return v && typeof v === 'object' && Object.keys(v).length ? { ...out, ...flatten(v, key) } : { ...out, [key]: v };
  }, {});
const unflatten = flat => {
  const root = {};
  for (const [path, value] of Object.entries(flat)) {
    const keys = path.split('.');
    const last = keys.pop();
    let node = root;
    for (const k of keys) node = node[k] ??= {};
    node[last] = value;
  }
  return root;
};
const source = { user: { name: 'Ana', address: { city: 'Sofia', zip: null } }, tags: ['x', 'y'], empty: {} };
const flat = flatten(source);
//=
[flat, unflatten(flat)]
