class Queue {
  #items = [];
  #waiters = [];
  #closed = false;
  push(v) { const w = this.#waiters.shift(); w ? w({ value: v, done: false }) : this.#items.push(v); }
  close() { this.#closed = true; for (const w of this.#waiters.splice(0)) w({ value: undefined, done: true }); }
  next() {
    if (this.#items.length) return Promise.resolve({ value: this.#items.shift(), done: false });
    if (this.#closed) return Promise.resolve({ value: undefined, done: true });
    return new Promise(r => this.#waiters.push(r));
  }
  [Symbol.asyncIterator]() { return this; }
}
const q = new Queue();
const consumer = (async () => { const got = []; for await (const x of q) got.push(x); return got; })();
q.push('a');
await null;
q.push('b');
q.push('c');
q.close();
//=
await consumer
