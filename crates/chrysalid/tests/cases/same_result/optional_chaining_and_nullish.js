// value: undefined,kk,undefined,nullish,undefined,assigned,and,0
const o = { a: { b: null, f() { return this.k; }, k: 'kk' } }; let evaluated = 0; const side = () => { evaluated++; return 'side'; };
const r = [o?.a?.b?.c?.d, o.a.f?.(), o.x?.[side()], o.a.b ?? await tools.gate({ q: 'nullish' }), o.missing?.(side())]; o.a.b ??= await tools.gate({ q: 'assigned' }); o.a.b ||= side(); o.a.k &&= await tools.gate({ q: 'and' });
[...r.map(String), o.a.b, o.a.k, evaluated].join();
