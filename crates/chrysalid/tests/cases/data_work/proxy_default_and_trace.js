const reads = [];
const counts = new Proxy({}, {
  get(target, key, receiver) {
    if (typeof key === 'string') reads.push(key);
    return Reflect.get(target, key, receiver) ?? 0;
  },
});
for (const c of 'abracadabra') counts[c]++;
const plain = Object.fromEntries(Object.entries(counts));
//=
({ plain, reads: reads.length })
