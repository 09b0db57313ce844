class Breaker {
  #failures = 0;
  #open = false;
  constructor(limit) { this.limit = limit; }
  async call(fn) {
    if (this.#open) throw new Error('circuit open');
    try {
      const v = await fn();
      this.#failures = 0;
      return v;
    } catch (e) {
      if (++this.#failures >= this.limit) this.#open = true;
      throw e;
    }
  }
}
const breaker = new Breaker(2);
const seen = [];
for (let i = 0; i < 4; i++) seen.push(await breaker.call(() => tools.flaky({ key: 'k' })).then(v => v.attempt, e => e.message));
//=
seen
