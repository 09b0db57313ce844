// value: x1,sync1,sync2,why,end
class Emitter { #h = new Map(); on(e, f) { (this.#h.get(e) ?? this.#h.set(e, []).get(e)).push(f); return () => this.#h.set(e, this.#h.get(e).filter(g => g !== f)); } once(e) { return new Promise(r => { const off = this.on(e, v => { off(); r(v); }); }); } async emit(e, v) { for (const f of [...(this.#h.get(e) ?? [])]) await f(v); } }
const em = new Emitter(), log = []; const off = em.on('x', async v => log.push(await tools.gate({ q: 'x' + v }))); em.on('x', v => log.push('sync' + v));
const once = em.once('y'); await em.emit('x', 1); off(); await em.emit('x', 2); await em.emit('y', 'why'); await em.emit('y', 'ignored');
log.push(await once, await tools.gate({ q: 'end' })); log.join();
