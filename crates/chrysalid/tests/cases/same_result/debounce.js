// value: 3,5
const debounce = (f, ms) => { let t; return (...a) => { clearTimeout(t); t = setTimeout(() => f(...a), ms); }; };
const calls = []; const d = debounce(x => calls.push(x), 100);
d(1); d(2); await new Promise(r => setTimeout(r, 50)); d(3); await tools.gate({ q: 0 });
await new Promise(r => setTimeout(r, 500)); d(4); d(5); await tools.gate({ q: 0 }); await new Promise(r => setTimeout(r, 500));
calls.join();
