// value: 1,p,2,3,4,5,tree,5,[object Tree],1,2,own
class Tree { constructor(v, l, r) { Object.assign(this, { v, l, r }); } *[Symbol.iterator]() { if (this.l) yield* this.l; yield this.v; if (this.r) yield* this.r; } get [Symbol.toStringTag]() { return 'Tree'; } [Symbol.toPrimitive](hint) { return hint === 'number' ? [...this].length : 'tree'; } }
const t = new Tree(4, new Tree(2, new Tree(1), new Tree(3)), new Tree(5)); const it = t[Symbol.iterator](); const seen = [it.next().value];
seen.push(await tools.gate({ q: 'p' }), it.next().value);
const own = Symbol('own'), shared = Symbol.for('shared'); const o = { [own]: 1, [shared]: 2 };
await tools.gate({ q: 'q' });
[...seen, ...it, `${t}`, +t, Object.prototype.toString.call(t), o[own], o[Symbol.for('shared')], own.description].join();
