class Emitter {
  #handlers = new Map();
  on(type, fn) {
    (this.#handlers.get(type) ?? this.#handlers.set(type, new Set()).get(type)).add(fn);
    return () => this.#handlers.get(type).delete(fn);
  }
  once(type, fn) { const off = this.on(type, (...a) => { off(); fn(...a); }); return off; }
  emit(type, ...args) { const hs = [...(this.#handlers.get(type) ?? [])]; hs.forEach(h => h(...args)); return hs.length; }
}
const bus = new Emitter(), got = [];
const off = bus.on('x', v => got.push(`on ${v}`));
bus.once('x', v => got.push(`once ${v}`));
const counts = [bus.emit('x', 1), bus.emit('x', 2)];
off();
counts.push(bus.emit('x', 3), bus.emit('y'));
//=
{ got, counts }
