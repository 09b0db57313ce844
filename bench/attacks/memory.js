// Attacks on memory. `//# name` begins one; `went on` is the value of a program that a limit should have ended.

//# array_flood
const all = []; for (;;) all.push(all.length);
//# array_doubling
let all = [1]; for (;;) all = [...all, ...all];
//# linked_objects
let head = null; for (;;) head = { head };
//# typed_arrays
const all = []; for (;;) all.push(new Float64Array(65536).fill(1));
//# array_buffers
const all = []; for (;;) all.push(new ArrayBuffer(1 << 20));
//# shared_buffers
const all = []; for (;;) all.push(new SharedArrayBuffer(1 << 20));
//# growing_buffer
const buffer = new ArrayBuffer(1, { maxByteLength: 1 << 30 }); for (let size = 1; ; size += 65536) buffer.resize(size);
//# one_huge_buffer
new ArrayBuffer(2 ** 31 - 1).byteLength
//# string_doubling
let text = 'x'; for (;;) { text += text; text.charCodeAt(1); }
//# string_repeat
'x'.repeat(2 ** 29).length
//# strings_kept
const all = []; for (let i = 0; ; i++) all.push('x'.repeat(1000) + i);
//# strings_padded
const all = []; for (;;) all.push('ab'.padEnd(1e6, 'cd'));
//# string_replaced
let text = 'x'; for (;;) text = text.replace(/x/g, 'xx');
//# string_split
const all = []; for (;;) all.push('xy'.repeat(1 << 20).split(''));
//# string_normalized
const all = []; for (;;) all.push('\ufdfa'.repeat(100000).normalize('NFKD'));
//# map_keys
const map = new Map(); for (let i = 0; ; i++) map.set('a longer key ' + i, i);
//# set_items
const set = new Set(); for (let i = 0; ; i++) set.add(i);
//# weak_map
const map = new WeakMap(), all = []; for (;;) { const key = {}; all.push(key); map.set(key, {}); }
//# property_names
const object = {}; for (let i = 0; ; i++) object['property ' + i] = i;
//# shapes
const all = []; for (let i = 0; ; i++) all.push({ ['a' + i]: 1, ['b' + i]: 2 });
//# sparse_array
const all = []; for (let i = 0; ; i++) all[i * 1000] = i;
//# symbols
const all = []; for (;;) all.push(Symbol('symbol'));
//# registered_symbols
for (let i = 0; ; i++) Symbol.for('symbol ' + i);
//# closures
const all = []; for (let i = 0; ; i++) all.push(() => i);
//# classes
const all = []; for (let i = 0; ; i++) all.push(class { #field = i; method() { return i; } });
//# bound_functions
const all = []; for (;;) all.push(Math.max.bind(null, 1, 2, 3, 4));
//# generators
function* count() { yield 1; yield 2; }
const all = []; for (;;) { const one = count(); one.next(); all.push(one); }
//# proxies
const all = []; for (;;) all.push(new Proxy({}, {}));
//# errors
const all = []; for (;;) all.push(new Error('an error'));
//# promises
const all = []; for (;;) all.push(new Promise(() => {}));
//# promise_jobs
for (;;) Promise.resolve(1).then(value => value);
//# promise_all
await Promise.all({ *[Symbol.iterator]() { for (;;) yield new Promise(() => {}); } })
//# async_functions
const wait = async () => { await new Promise(() => {}); }; const all = []; for (;;) all.push(wait());
//# regexps
const all = []; for (let i = 0; ; i++) all.push(new RegExp('(a|b)*' + i));
//# one_huge_regexp
const all = []; for (;;) all.push(new RegExp('a?'.repeat(200000)));
//# functions_by_eval
const all = []; for (let i = 0; ; i++) all.push(eval(`(function () { return ${i} + 1; })`));
//# functions_by_constructor
const all = []; for (;;) all.push(new Function('a', 'return ' + 'a + '.repeat(1000) + '1'));
//# bigints
const all = []; for (;;) all.push(1n << 100000n);
//# json_text
const rows = Array.from({ length: 1000 }, (_, id) => ({ id, name: 'row' }));
const all = []; for (;;) all.push(JSON.stringify(rows));
//# json_parsed
const all = []; for (;;) all.push(JSON.parse('[' + '{"a":1},'.repeat(1000) + '0]'));
//# json_of_shared_parts
let part = ['leaf']; for (let i = 0; i < 40; i++) part = [part, part];
JSON.stringify(part).length
//# array_fill
new Array(1e9).fill(0).length
//# array_from_length
Array.from({ length: 1e9 }).length
//# array_from_iterator
Array.from({ *[Symbol.iterator]() { for (;;) yield 1; } }).length
//# spread_arguments
Math.max(...new Array(3e7))
//# finalizers
const registry = new FinalizationRegistry(() => {}), all = [];
for (;;) { const one = {}; all.push(one); registry.register(one, {}); }
//# caught
const all = [];
for (let i = 0; i < 1e6; i++) { try { for (;;) all.push('x'.repeat(10000)); } catch {} }
'went on'
//# caught_in_promises
const all = [];
const more = async () => { for (;;) all.push('x'.repeat(10000)); };
const again = depth => depth > 1e6 ? 'went on' : more().catch(() => again(depth + 1));
await again(0)
//# held_by_finally
const all = [];
while (true) { try { for (;;) all.push(new Array(1000).fill(1)); } finally { continue; } }
//# released_and_taken_again
let all = [];
for (let i = 0; i < 1e6; i++) { try { for (;;) all.push(new ArrayBuffer(1 << 20)); } catch { all = []; } }
'went on'
