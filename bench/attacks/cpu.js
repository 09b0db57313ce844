// Attacks on CPU time. `//# name` begins one; `went on` is the value of a program that a limit should have ended.

//# while_true
while (true);
//# recursion_exponential
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } fib(90)
//# promise_chain
const next = () => Promise.resolve().then(next); await next()
//# async_loop
await (async () => { for (;;) await 0; })()
//# caught
for (let i = 0; i < 1e9; i++) { try { while (true); } catch {} }
'went on'
//# caught_in_promises
const spin = async () => { while (true); };
await spin().catch(() => 'went on')
//# catch_handlers_that_spin
const spin = () => { while (true); };
await new Promise(spin).catch(spin).catch(spin).finally(spin).then(() => 'went on', () => 'went on')
//# held_by_finally
while (true) { try { while (true); } finally { continue; } }
//# held_by_generator
function* steps() { try { yield 1; } finally { while (true); } }
for (const step of steps()) break;
'went on'
//# endless_iterator
for (const one of { [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) });
//# timer_loop
const again = () => { for (let i = 0; i < 1e5; i++); setTimeout(again, 0); }; again(); await new Promise(() => {});
//# interval_flood
for (let i = 0; i < 1000; i++) setInterval(() => { for (let k = 0; k < 1e5; k++); }, 0);
await new Promise(() => {})
//# finalizer_that_spins
const registry = new FinalizationRegistry(() => { while (true); });
for (let i = 0; i < 1e5; i++) registry.register({}, i);
await new Promise(resolve => { let turns = 0; const turn = () => ++turns > 1e9 ? resolve() : Promise.resolve().then(turn); turn(); })
//# getter
({ get value() { while (true); } }).value
//# to_string
`${{ toString() { while (true); } }}`
//# to_json
JSON.stringify({ toJSON() { while (true); } })
//# reviver
JSON.parse('[1, 2]', () => { while (true); })
//# sort_comparator
[3, 1, 2].sort(() => { while (true); })
//# sort_numbers
const numbers = Float64Array.from({ length: 1 << 20 }, (_, i) => (i * 7919) % 1048573); for (;;) numbers.slice().sort();
//# sort_texts
const texts = Array.from({ length: 1 << 15 }, (_, i) => 'a long text with the same beginning ' + (i * 7919) % 32749);
for (;;) texts.slice().sort();
//# proxy_traps
'x' in new Proxy({}, { has() { while (true); } })
//# regexp_backtracking
/(a+)+b/.test('a'.repeat(50))
//# regexp_alternatives
/^(?:a|a|b)*c$/.test('a'.repeat(60))
//# regexp_lookahead
/(?=(a+))(?:a*)*b/.test('a'.repeat(100000))
//# regexp_global_replace
const text = 'a'.repeat(1 << 20); for (;;) text.replace(/a*?b|a/g, 'a');
//# join_of_holes
new Array(2 ** 32 - 1).join('')
//# join_of_holes_repeated
const holes = new Array(2 ** 24); for (;;) holes.join('');
//# index_of_array_like
Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)
//# last_index_of_array_like
Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)
//# includes_of_holes
new Array(2 ** 32 - 1).includes(1)
//# reverse_array_like
Array.prototype.reverse.call({ length: 2 ** 53 - 1 })
//# unshift_array_like
Array.prototype.unshift.call({ length: 2 ** 53 - 10 }, 1)
//# copy_within_array_like
Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 1, 0)
//# sort_array_like
Array.prototype.sort.call({ length: 2 ** 32 - 1 })
//# flat_of_holes
new Array(2 ** 32 - 1).flat().length
//# concat_of_holes
[].concat(new Array(2 ** 32 - 2)).length
//# typed_fill
const bytes = new Uint8Array(30 << 20); for (;;) bytes.fill(1);
//# typed_copy_within
const bytes = new Uint8Array(30 << 20); for (;;) bytes.copyWithin(1, 0);
//# typed_index_of
const bytes = new Uint8Array(30 << 20); for (;;) bytes.indexOf(1);
//# spread_arguments
for (;;) Math.max(...new Array(50000).fill(1));
//# apply_arguments
for (;;) Math.max.apply(null, new Array(50000).fill(1));
//# string_search
('a'.repeat(1 << 22)).indexOf('a'.repeat(1 << 21) + 'b')
//# string_replace_all
const text = 'ab'.repeat(1 << 18); for (;;) text.replaceAll('a', 'c');
//# string_split
const text = 'a,'.repeat(1 << 18); for (;;) text.split(',');
//# string_compare
const one = 'x'.repeat(1 << 23) + 'a', two = 'x'.repeat(1 << 23) + 'b'; for (;;) one < two;
//# string_upper_case
const text = '\u0390'.repeat(1 << 18); for (;;) text.toUpperCase();
//# locale_compare
const text = 'e\u0301'.repeat(1 << 17); for (;;) text.localeCompare(text + 'x');
//# normalize
const text = 'a\u0301\u0316'.repeat(1 << 16); for (;;) text.normalize('NFD');
//# normalize_one_long_sequence
('a' + '\u0301\u0316'.repeat(1 << 18)).normalize('NFD').length
//# encode_uri
const text = '\u00e9'.repeat(1 << 18); for (;;) encodeURIComponent(text);
//# bigint_power
(3n ** 3000000n) % 7n
//# bigint_square
let big = 3n; for (;;) big = (big * big) % (1n << 900000n) + 1n;
//# bigint_to_text
((1n << 900000n) - 1n).toString().length
//# bigint_from_text
BigInt('9'.repeat(1 << 18)) % 7n
//# bigint_divide
const wide = (1n << 900000n) - 1n, half = (1n << 450000n) - 3n; for (;;) wide / half;
//# number_from_text
const digits = '1'.repeat(1 << 20); for (;;) Number(digits);
//# json_of_a_large_tree
let tree = [1]; for (let i = 0; i < 17; i++) tree = [tree, tree];
for (;;) JSON.stringify(tree);
//# json_parse
const text = '[' + '{"a":[1,2]},'.repeat(20000) + '0]'; for (;;) JSON.parse(text);
//# eval_of_long_text
const text = 'a=1;'.repeat(20000); var a; for (;;) eval(text);
//# garbage_in_a_large_heap
const all = []; for (let i = 0; i < 200000; i++) all.push({ i });
for (;;) { const one = {}; one.one = one; }
//# prototype_chain
let object = {}; for (let i = 0; i < 200000; i++) object = Object.create(object);
for (;;) object.missing;
//# collisions_of_keys
const map = new Map(); for (let i = 0; ; i++) { map.set(i * 2 ** 32, i); if (map.size > 100000) map.clear(); }
//# object_keys
const object = {}; for (let i = 0; i < 50000; i++) object['k' + i] = i;
for (;;) Object.keys(object);
//# object_spread
const object = {}; for (let i = 0; i < 50000; i++) object['k' + i] = i;
for (;;) ({ ...object });
//# delete_first_property
const object = {}; for (let i = 0; i < 100000; i++) object['k' + i] = i;
for (const key in object) delete object[key];
const list = Array.from({ length: 200000 }, (_, i) => i); for (;;) { list.shift(); list.unshift(1); }
//# date_parse
const text = 'Mon, ' + '1'.repeat(1 << 20); for (;;) Date.parse(text);
