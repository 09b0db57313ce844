class Account {
  #balance = 0;
  #log = [];
  static #count = 0;
  static get count() { return Account.#count; }
  constructor(owner) { this.owner = owner; Account.#count++; }
  deposit(n) { if (n <= 0) throw new RangeError('amount must be positive'); this.#balance += n; this.#log.push(['in', n]); return this; }
  withdraw(n) {
    if (n > this.#balance) throw Object.assign(new Error('insufficient funds'), { short: n - this.#balance });
    this.#balance -= n;
    this.#log.push(['out', n]);
    return this;
  }
  get balance() { return this.#balance; }
  history() { return structuredCopy(this.#log); }
}
const structuredCopy = x => JSON.parse(JSON.stringify(x));
const acc = new Account('Ana').deposit(100).withdraw(30);
let error;
try { acc.withdraw(500); } catch (e) { error = { message: e.message, short: e.short }; }
//=
({ balance: acc.balance, error, history: acc.history(), count: Account.count, json: JSON.stringify(acc) })
