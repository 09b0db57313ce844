// value: bcz,bcz,3,c
class Node { constructor(v) { this.v = v; this.next = null; this.prev = null; } } class Deque { head = null; tail = null; size = 0; push(v) { const n = new Node(v); n.prev = this.tail; if (this.tail) this.tail.next = n; else this.head = n; this.tail = n; this.size++; return this; } shift() { const n = this.head; if (!n) return; this.head = n.next; if (this.head) this.head.prev = null; else this.tail = null; this.size--; return n.v; } *[Symbol.iterator]() { for (let n = this.head; n; n = n.next) yield n.v; } }
const d = new Deque(); for (const v of 'abc') { d.push(await tools.gate({ q: v })); } const it = d[Symbol.iterator](); it.next(); d.shift(); await tools.gate({ q: 'mid' }); d.push('z');
[[...it].join(''), [...d].join(''), d.size, d.tail.prev.v].join();
