// Orders of the last month, by customer, for those who spent the most.
interface Order { customer: string; total?: number; items?: { sku: string }[] }
type Sum = { total: number; count: number; items: Set<string> };
enum Level { Low, High = 1000, Top }

class Sums<T extends Order> {
  private readonly sums: Map<string, Sum> = new Map<string, Sum>();
  constructor(private orders: readonly T[], public level: Level = Level.High) {}

  get rows(): [string, Sum][] {
    for (const { customer, total = 0, items = [] } of this.orders as Order[]) {
      const sum: Sum = this.sums.get(customer) ?? { total: 0, count: 0, items: new Set() };
      sum.total += total;
      sum.count++;
      items.forEach(({ sku }: { sku: string }) => sum.items.add(sku));
      this.sums.set(customer, sum);
    }
    return [...this.sums].filter(([, sum]) => sum.total > this.level);
  }
}

const orders = (await tools.orders.list({ since: "2024-05-01", limit: 500 })) as unknown as Order[];
const top = new Sums<Order>(orders).rows.sort((a, b) => b[1]!.total - a[1]!.total).slice(0, 10);

async function withName([customer, sum]: [string, Sum]): Promise<Record<string, unknown>> {
  const person = await tools.customers.get({ id: customer }) satisfies { first: string; last: string };
  return { customer, total: sum.total, name: `${person.first} ${person.last}`, city: person.address?.city };
}

const named: Record<string, unknown>[] = await Promise.all(top.map(withName));
named;
