class Semaphore {
  #free; #queue = [];
  constructor(n) { this.#free = n; }
  async acquire() { if (this.#free > 0) { this.#free--; return; } await new Promise(r => this.#queue.push(r)); }
  release() { const next = this.#queue.shift(); if (next) next(); else this.#free++; }
  async use(fn) { await this.acquire(); try { return await fn(); } finally { this.release(); } }
}
const s = new Semaphore(2);
let active = 0, peak = 0;
const work = n => s.use(async () => {
  peak = Math.max(peak, ++active);
  const v = await tools.slow({ ms: n * 15, v: n });
  active--;
  return v * v;
});
//=
[await Promise.all([4, 2, 3, 1].map(work)), peak]
