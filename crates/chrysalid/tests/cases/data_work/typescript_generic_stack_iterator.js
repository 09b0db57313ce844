// expect: [3,2,["four","two",1],true]
// reason: Node 20 does not run TypeScript
class Stack<T> implements Iterable<T> {
  #items: T[] = [];
  static of<U>(...items: U[]): Stack<U> {
    const s = new Stack<U>();
    items.forEach((i: U) => s.push(i));
    return s;
  }
  push(item: T): this { this.#items.push(item); return this; }
  pop(): T | undefined { return this.#items.pop(); }
  get size(): number { return this.#items.length; }
  *[Symbol.iterator](): IterableIterator<T> { for (let i = this.#items.length; i-- > 0; ) yield this.#items[i] as T; }
}
const s = Stack.of<number | string>(1, 'two', 3);
const popped: number | string | undefined = s.pop();
//=
[popped, s.size, [...s.push('four')], s instanceof Stack]
