// expect: [["a",2],["b",1]]
// reason: Node 20 does not run TypeScript
interface Item<T extends string = string> { id: number; kind: T; tags?: readonly string[] }
type Index<K extends keyof any, V> = Partial<Record<K, V[]>>;

function indexBy<V, K extends string>(items: readonly V[], key: (item: V) => K): Index<K, V> {
  const out: Index<K, V> = {};
  for (const item of items) (out[key(item)] ??= [] as V[])!.push(item);
  return out;
}

const items: Item[] = [{ id: 1, kind: 'a' }, { id: 2, kind: 'b', tags: ['x'] }, { id: 3, kind: 'a' }];
const index = indexBy<Item, string>(items, i => i.kind);
//=
Object.entries(index).map(([kind, list]): [string, number] => [kind, list!.length])
