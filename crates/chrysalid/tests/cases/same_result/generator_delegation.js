// value: p1,p2,q1,q2 3,7
function* inner(tag) { const x = yield tag + 1; const y = yield tag + 2; return x + y; }
function* outer() { const a = yield* inner('p'); const b = yield* inner('q'); return [a, b]; }
const run = outer(); let step = run.next(); const trace = [];
while (!step.done) { trace.push(step.value); step = run.next(await tools.gate({ q: trace.length })); }
trace.join() + ' ' + step.value.join();
