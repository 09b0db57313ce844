// value: a,1,b,c,d,thenable,0,broken,f
const parts = await Promise.all([tools.gate({ q: 'a' }), 1, tools.echo({ v: 'b' }), tools.gate({ q: 'c' }), Promise.resolve('d'), { then(f) { f('thenable'); } }]);
const none = await Promise.all([]);
let failed; try { await Promise.all([tools.gate({ q: 'e' }), tools.fail({ msg: 'broken' })]); } catch (e) { failed = e.message; }
const late = await tools.gate({ q: 'f' });
[...parts, none.length, failed, late].join();
