// value: 16 7 5+15+16 2 true false negative
class Account {
  #balance = 0; static #count = 0; #log = [];
  constructor() { Account.#count++; }
  get balance() { return this.#balance; }
  set balance(v) { this.#log.push(v); this.#balance = v; }
  #check(n) { if (n < 0) throw new RangeError('negative'); return n; }
  async deposit(n) { this.balance += this.#check(await tools.gate({ q: n })); return this; }
  static get count() { return Account.#count; }
  static has(o) { return #balance in o; }
  get log() { return this.#log.join('+'); }
}
const a = new Account(), b = new Account();
await a.deposit(5); await b.deposit(7); await (await a.deposit(10)).deposit(1);
let error; try { await b.deposit(-1); } catch (e) { error = e.message; }
[a.balance, b.balance, a.log, Account.count, Account.has(a), Account.has({}), error].join(' ');
