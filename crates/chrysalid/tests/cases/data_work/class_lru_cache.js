class LRU extends Map {
  constructor(limit) { super(); this.limit = limit; }
  get(k) { if (!this.has(k)) return undefined; const v = super.get(k); this.delete(k); super.set(k, v); return v; }
  set(k, v) {
    this.delete(k);
    super.set(k, v);
    if (this.size > this.limit) this.delete(this.keys().next().value);
    return this;
  }
}
const cache = new LRU(3);
cache.set('a', 1).set('b', 2).set('c', 3);
cache.get('a');
cache.set('d', 4);
//=
{ keys: [...cache.keys()], b: cache.get('b'), size: cache.size }
