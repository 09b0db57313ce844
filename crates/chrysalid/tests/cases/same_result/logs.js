// value: end
console.log('start'); console.group('outer'); console.info('in', { a: [1] }); await tools.gate({ q: 1 });
console.warn('after', new Map([[1, 2]])); console.groupEnd(); console.count('c'); await tools.gate({ q: 2 });
console.count('c'); console.error(new Error('shown').message); console.assert(false, 'claim'); console.log(undefined, null, -0, 5n, [1, , 2]); console.count('c');
'end';
