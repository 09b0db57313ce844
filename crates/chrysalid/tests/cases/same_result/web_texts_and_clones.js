// value: h😀|7,8|1,2 true|x: 2|AbortError m|[object Object]|36
const decoder = new TextDecoder(); const bytes = new TextEncoder().encode('h😀'); const head = decoder.decode(bytes.subarray(0, 3), { stream: true });
const shared = { list: [1, 2] }; const copy = structuredClone({ one: shared, two: shared, map: new Map([['k', new Uint8Array([7, 8])]]), error: new DOMException('m', 'AbortError') });
console.group('g'); console.count('x'); console.time('t'); const id = crypto.randomUUID();
await tools.gate({ q: 1 });
const text = head + decoder.decode(bytes.subarray(3)); console.count('x'); console.log('a\nb'); console.table([{ id: id.length }]);
await tools.gate({ q: 2 });
console.timeEnd('t'); console.groupEnd(); console.log('%s is %d', 'n', 5); console.countReset('x');
[text, copy.map.get('k').join(), copy.one.list.join() + ' ' + (copy.one === copy.two), 'x: 2', `${copy.error.name} ${copy.error.message}`, String(structuredClone(copy)), id.length].join('|');
