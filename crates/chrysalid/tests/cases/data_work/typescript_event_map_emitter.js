// expect: {"seen":["created 1","1 is tea","created 2"],"counts":[1,1,1]}
// reason: Node 20 does not run TypeScript
type Events = { created: [id: number]; renamed: [id: number, name: string] };
type Handler<A extends unknown[]> = (...args: A) => void;

class Emitter<E extends Record<string, unknown[]>> {
  private handlers: { [K in keyof E]?: Handler<E[K]>[] } = {};
  on<K extends keyof E>(type: K, handler: Handler<E[K]>): void {
    (this.handlers[type] ??= []).push(handler);
  }
  emit<K extends keyof E>(type: K, ...args: E[K]): number {
    this.handlers[type]?.forEach(h => h(...args));
    return this.handlers[type]?.length ?? 0;
  }
}
const seen: string[] = [];
const bus = new Emitter<Events>();
bus.on('created', id => seen.push(`created ${id}`));
bus.on('renamed', (id: number, name: string) => void seen.push(`${id} is ${name}`));
const counts: number[] = [bus.emit('created', 1), bus.emit('renamed', 1, 'tea'), bus.emit('created', 2)];
//=
({ seen, counts })
