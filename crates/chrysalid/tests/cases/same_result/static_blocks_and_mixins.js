// value: 1/s1/n1/r1 2/s2/n2/r2 3/s3/n3/r3
const Timed = B => class extends B { stamp = 's' + this.id; };
const Named = B => class extends B { get name() { return 'n' + this.id; } };
class Root { static next = 1; static { this.prefix = 'r'; } id = Root.next++; }
class Thing extends Timed(Named(Root)) { static async make() { const t = new this(); t.tag = Root.prefix + await tools.gate({ q: t.id }); return t; } }
const made = []; for (let i = 0; i < 3; i++) made.push(await Thing.make());
made.map(t => [t.id, t.stamp, t.name, t.tag].join('/')).join(' ');
