// value: fast,any,AggregateErrorpq,kept,end
const r1 = await Promise.race([tools.slow({ ms: 30, v: 'slow' }), tools.slow({ ms: 10, v: 'fast' })]);
const g = tools.gate({ q: 'kept' });
const r2 = await Promise.any([tools.fail({ msg: 'x' }), g, tools.slow({ ms: 50, v: 'any' })]);
let agg; try { await Promise.any([tools.fail({ msg: 'p' }), tools.fail({ msg: 'q' })]); } catch (e) { agg = e.name + e.errors.map(x => x.message).join(''); }
[r1, r2, agg, await g, await tools.gate({ q: 'end' })].join();
