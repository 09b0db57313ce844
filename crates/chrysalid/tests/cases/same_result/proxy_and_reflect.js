// value: 11 true false b,z set b,get a,get b,del a called TypeError
const trace = []; const target = { a: 1 };
const proxy = new Proxy(target, { get(t, k, r) { trace.push('get ' + String(k)); return Reflect.get(t, k, r); }, set(t, k, v) { trace.push('set ' + k); return Reflect.set(t, k, v * 2); }, has: (t, k) => k.startsWith('a'), deleteProperty(t, k) { trace.push('del ' + k); return delete t[k]; }, ownKeys: t => [...Reflect.ownKeys(t), 'z'], getOwnPropertyDescriptor: () => ({ value: 0, enumerable: true, configurable: true }) });
proxy.b = await tools.gate({ q: 5 }); const sum = proxy.a + proxy.b;
await tools.gate({ q: 'pause' }); delete proxy.a;
const { proxy: p2, revoke } = Proxy.revocable(() => 'called', {}); const called = p2(); revoke(); let dead; try { p2(); } catch (e) { dead = e.name; }
[sum, 'abc' in proxy, 'b' in proxy, Object.keys(proxy).join(), trace.join(), called, dead].join(' ');
