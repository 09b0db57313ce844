// Attacks on the stack. `//# name` begins one; `went on` is the value of a program that a limit should have ended.

//# recursion
function down() { down(); } down();
//# recursion_caught
function down() { try { down(); } catch { down(); } } down();
'went on'
//# recursion_with_wide_frames
function down(...rest) { return down(...rest, 1, 2, 3, 4, 5, 6, 7, 8); } down();
//# constructor
class Down { constructor() { new Down(); } } new Down();
//# getter
const object = { get value() { return this.value; } }; object.value
//# to_string
const object = { toString() { return '' + object; } }; '' + object
//# to_json
const object = { toJSON() { return JSON.stringify(object); } }; JSON.stringify(object)
//# replace_callback
function down() { return 'a'.replace(/a/, down); } down()
//# sort_comparator
function down() { return [2, 1].sort(down); } down()
//# reviver
function down() { return JSON.parse('[1]', down); } down()
//# eval
function down() { return eval('down()'); } down()
//# generator
function* down() { yield* down(); } for (const one of down());
//# async_function
async function down() { await down(); } await down()
//# spread_of_iterators
const object = { *[Symbol.iterator]() { yield [...object]; } }; [...object]
//# proxy_of_a_proxy
let proxy = {}; for (let i = 0; i < 100000; i++) proxy = new Proxy(proxy, {});
proxy.missing
//# proxy_as_its_own_prototype
const target = {}; const proxy = new Proxy(target, {}); Object.setPrototypeOf(target, proxy);
target.missing
//# proxy_trap
const proxy = new Proxy({}, { get: (target, key, receiver) => receiver[key] }); proxy.missing
//# bound_functions
let call = () => 1; for (let i = 0; i < 100000; i++) call = call.bind(null);
call()
//# is_array_of_proxies
let proxy = []; for (let i = 0; i < 100000; i++) proxy = new Proxy(proxy, {});
Array.isArray(proxy)
//# instance_of_bound
let type = class {}; for (let i = 0; i < 100000; i++) type = type.bind(null);
({}) instanceof type
//# json_parse
JSON.parse('['.repeat(1 << 20))
//# json_stringify
let deep = []; for (let i = 0; i < 200000; i++) deep = [deep];
JSON.stringify(deep).length
//# array_to_string
let deep = []; for (let i = 0; i < 200000; i++) deep = [deep];
String(deep).length
//# flat
let deep = []; for (let i = 0; i < 200000; i++) deep = [deep];
deep.flat(Infinity).length
//# dropped_chain
let deep = null; for (let i = 0; i < 500000; i++) deep = { deep };
deep = null; 'dropped'
//# rope
let text = ''; for (let i = 0; i < 200000; i++) text = 'a' + text + 'b';
text.charCodeAt(7)
//# promise_chain
let promise = new Promise(() => {}); let first; promise = new Promise(resolve => { first = resolve; });
for (let i = 0; i < 50000; i++) { const inner = promise; promise = new Promise(resolve => resolve(inner)); }
first(1); await promise.then(() => 'settled')
//# regexp_nesting
new RegExp('('.repeat(100000) + ')'.repeat(100000))
//# regexp_lookahead_nesting
new RegExp('(?='.repeat(50000) + ')'.repeat(50000))
//# regexp_classes_nesting
new RegExp('['.repeat(100000) + ']'.repeat(100000), 'v')
//# regexp_match
/(?:(a)|b)*c/.test('ab'.repeat(1 << 20))
//# eval_of_brackets
eval('['.repeat(100000) + ']'.repeat(100000))
//# eval_of_parentheses
eval('('.repeat(100000) + '1' + ')'.repeat(100000))
//# eval_of_operators
eval('!'.repeat(100000) + '1')
//# eval_of_powers
eval('2**'.repeat(100000) + '1')
//# eval_of_blocks
eval('{'.repeat(100000) + '}'.repeat(100000))
//# eval_of_functions
eval('()=>'.repeat(100000) + '1')
//# eval_of_templates
eval('`${'.repeat(50000) + '1' + '}`'.repeat(50000))
//# eval_of_conditions
eval('1?'.repeat(50000) + '1' + ':1'.repeat(50000))
//# eval_of_patterns
eval('let ' + '['.repeat(50000) + 'a' + ']'.repeat(50000) + ' = 1')
//# function_of_brackets
new Function('return ' + '['.repeat(100000) + ']'.repeat(100000))
