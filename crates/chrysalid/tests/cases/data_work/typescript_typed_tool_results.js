// expect: ["ord_1008=109.4","ord_1012=90.85","ord_1015=54.9","ord_1017=191.97"]
// reason: Node 20 does not run TypeScript
// prints: log 4 shipped
interface Order { id: string; total: number; status: 'paid' | 'shipped' | string }
interface Page { orders: Order[]; has_more: boolean }

async function fetchAll(status?: Order['status']): Promise<Order[]> {
  const all: Order[] = [];
  for (let page = 1; ; page++) {
    const result = (await tools.list_orders({ page, ...(status ? { status } : {}) })) as Page;
    all.push(...result.orders);
    if (!result.has_more) return all;
  }
}
const shipped: Order[] = await fetchAll('shipped');
console.log(`${shipped.length} shipped`);
//=
shipped.map(({ id, total }: Order): string => `${id}=${total}`)
