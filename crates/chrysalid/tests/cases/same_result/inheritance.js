// value: <Leaf:7>mid+leaf <Mid:3> leaf true
class Base { static kinds = []; static register(k) { this.kinds.push(k); return super.toString === Object.toString; } constructor(n) { this.n = n; this.made = new.target.name; } async describe() { return `${this.made}:${await tools.gate({ q: this.n })}`; } }
class Mid extends Base { async describe() { return '<' + await super.describe() + '>'; } get extra() { return 'mid'; } }
class Leaf extends Mid { static { Leaf.register('leaf'); } constructor() { super(7); } async describe() { const s = await super.describe(); await tools.gate({ q: 'between' }); return s + this.extra; } get extra() { return super.extra + '+leaf'; } }
const leaf = new Leaf();
[await leaf.describe(), await new Mid(3).describe(), Base.kinds.join(), leaf instanceof Base].join(' ');
