// value: 5,4,3,2 true
class Countdown {
  #n; constructor(n) { this.#n = n; this.closed = false; }
  [Symbol.asyncIterator]() { return { next: async () => this.#n > 0 ? { value: await tools.gate({ q: this.#n-- }), done: false } : { value: undefined, done: true }, return: async v => { this.closed = true; return { value: v, done: true }; } }; }
}
const c = new Countdown(5); const all = [];
for await (const n of c) { all.push(n); if (n === 2) break; }
[all.join(), c.closed].join(' ');
