// value: 2,12,6,16,object,end
let x = 1; const direct = eval('x + 1'); const fn = new Function('a', 'b', 'return a * b'); const made = eval('(async n => { const v = await tools.gate({ q: n }); return v + x; })');
const one = await made(5); x = 10; const two = await made(6); var dyn = (0, eval)('typeof tools');
[direct, fn(3, 4), one, two, dyn, await tools.gate({ q: 'end' })].join();
