const doc = { user: { name: 'A', token: 'abc', friends: [{ token: 'def', id: 2 }] }, token: 'top' };
const redact = node => {
  if (Array.isArray(node)) return node.map(redact);
  if (node && typeof node === 'object')
    return Object.fromEntries(Object.entries(node).map(([k, v]) => [k, k === 'token' ? v.replace(/./g, '•') : redact(v)]));
  return node;
};
//=
redact(doc)
