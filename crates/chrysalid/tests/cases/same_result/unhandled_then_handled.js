// value: ToolErrorearly,TypeErrorlate3
const p = tools.fail({ msg: 'early' }); p.catch(() => {}); await tools.gate({ q: 1 });
const q = (async () => { await tools.gate({ q: 2 }); throw new TypeError('late'); })(); const r = await Promise.allSettled([p, q]);
r.map(x => x.reason.name + x.reason.message).join() + await tools.gate({ q: 3 });
