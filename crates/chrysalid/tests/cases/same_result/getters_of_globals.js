// value: 1,2,3,undefined,3
globalThis.shared ??= { n: 0 }; Object.defineProperty(globalThis, 'auto', { get() { return ++shared.n; }, configurable: true });
const a = [auto, auto]; await tools.gate({ q: 1 }); a.push(auto); await tools.gate({ q: 2 }); delete globalThis.auto; a.push(typeof auto, shared.n); a.join();
