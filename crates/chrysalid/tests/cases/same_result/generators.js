// value: 0 1 a 2 b 0 1 c {"value":"end","done":true} true
function* naturals() { let n = 0; try { while (true) { const got = yield n++; if (got === 'reset') n = 0; } } finally { console.log('closed at', n); } }
const it = naturals(); const seen = [it.next().value, it.next().value];
seen.push(await tools.gate({ q: 'a' }), it.next().value);
seen.push(await tools.gate({ q: 'b' }), it.next('reset').value, it.next().value);
seen.push(await tools.gate({ q: 'c' }), JSON.stringify(it.return('end')), it.next().done);
seen.join(' ');
