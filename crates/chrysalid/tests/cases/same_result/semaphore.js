// value: 10,20,30,40,50 2 0
class Semaphore { #free; #wait = []; constructor(n) { this.#free = n; } async take() { if (this.#free > 0) { this.#free--; return; } await new Promise(r => this.#wait.push(r)); } give() { const next = this.#wait.shift(); if (next) next(); else this.#free++; } async with(f) { await this.take(); try { return await f(); } finally { this.give(); } } }
const s = new Semaphore(2); let now = 0, peak = 0;
const rs = await Promise.all([1, 2, 3, 4, 5].map(n => s.with(async () => { peak = Math.max(peak, ++now); const v = await tools.gate({ q: n }); now--; return v * 10; })));
[rs.join(), peak, now].join(' ');
