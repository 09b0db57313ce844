// expect: {"owner":"Ana","balance":348,"log":["-152"],"problem":"Ana lacks 56"}
// reason: Node 20 does not run TypeScript
abstract class Account {
  protected readonly log: string[] = [];
  constructor(public readonly owner: string, private balance = 0) {}
  abstract fee(amount: number): number;
  withdraw(amount: number): this {
    const total = amount + this.fee(amount);
    if (total > this.balance) throw new RangeError(`${this.owner} lacks ${total - this.balance}`);
    this.balance -= total;
    this.log.push(`-${total}`);
    return this;
  }
  get summary(): { owner: string; balance: number; log: string[] } {
    return { owner: this.owner, balance: this.balance, log: this.log };
  }
}
class Basic extends Account {
  override fee(amount: number): number { return Math.ceil(amount / 100); }
}
let problem: unknown;
const account = new Basic('Ana', 500).withdraw(150);
try { account.withdraw(400); } catch (e: unknown) { problem = (e as Error).message; }
//=
({ ...account.summary, problem })
