// Attacks by output: the console, values and errors. `//# name` begins one; `went on` is the value of a program that a
// limit should have ended.

//# console_flood
for (;;) console.log('a line of the console');
//# console_long_line
console.log('x'.repeat(20 << 20)); 'printed'
//# console_wide
console.log(new Array(1 << 20).fill(0)); 'printed'
//# console_deep
let deep = []; for (let i = 0; i < 200000; i++) deep = [deep];
console.log(deep); 'printed'
//# console_shared_parts
let part = ['leaf']; for (let i = 0; i < 40; i++) part = [part, part];
console.log(part); 'printed'
//# console_getter
console.log({ get value() { while (true); } }); 'printed'
//# console_proxy
console.log(new Proxy({}, { ownKeys() { while (true); } })); 'printed'
//# console_empty_lines
for (let i = 0; i < 2e6; i++) console.log(); 'printed'
//# result_long_text
'x'.repeat(20 << 20)
//# result_wide
new Array(1 << 20).fill(7)
//# result_many_objects
Array.from({ length: 100000 }, (_, id) => ({ id, a: 1, b: 2 }))
//# result_small_parts
Array.from({ length: 300000 }, () => ({}))
//# result_deep
let deep = []; for (let i = 0; i < 200000; i++) deep = [deep];
deep
//# result_deep_objects
let deep = 1; for (let i = 0; i < 200000; i++) deep = { deep };
deep
//# result_cyclic
const one = { name: 'one' }; one.one = one; one.list = [one, one];
one
//# result_shared_parts
let part = ['leaf']; for (let i = 0; i < 40; i++) part = [part, part];
part
//# result_holes
new Array(2 ** 32 - 1)
//# result_buffer
new Uint8Array(30 << 20)
//# result_bigint
1n << 900000n
//# result_map
const map = new Map(); for (let i = 0; i < 200000; i++) map.set(i, i);
map
//# result_getter
({ get value() { while (true); } })
//# result_to_json
({ toJSON() { while (true); } })
//# result_proxy
new Proxy({}, { ownKeys() { while (true); } })
//# result_then
({ then() { while (true); } })
//# result_many_keys
const object = {}; for (let i = 0; i < 100000; i++) object['key ' + i] = i;
object
//# error_long_message
throw new Error('x'.repeat(20 << 20));
//# error_message_getter
throw { get name() { while (true); }, get message() { while (true); } };
//# error_stack_getter
const error = new Error('stack'); Object.defineProperty(error, 'stack', { get() { while (true); } }); throw error;
//# error_to_string
throw { toString() { while (true); } };
//# error_causes
let error; for (let i = 0; i < 100000; i++) error = new Error('cause', { cause: error });
throw error;
//# error_proxy
throw new Proxy(new Error('proxy'), { get() { while (true); } });
//# rejections_flood
for (;;) Promise.reject(new Error('nobody looks'));
