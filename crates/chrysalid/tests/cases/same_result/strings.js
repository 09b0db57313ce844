// value: é😀0-é😀1-é😀2-|12|15|é😀2-|18|**abc|4|128512|SS|-1|t|2
let s = ''; for (let i = 0; i < 3; i++) { s += await tools.gate({ q: 'é😀' + i }); s += '-'; }
const rope = 'ab'.repeat(5000) + s; await tools.gate({ q: rope.length });
[s, [...s].length, s.length, rope.slice(-5), s.normalize('NFD').length, 'abc'.padStart(5, '*'), 'a,b,,c'.split(',').length, s.codePointAt(1), 'ß'.toUpperCase(), 'x'.localeCompare('y'), '  t '.trim(), s.replaceAll('-', '').at(-1)].join('|');
