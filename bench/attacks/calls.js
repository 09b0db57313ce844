// Attacks by calls of the one tool, `tool`, which takes anything and answers at once. `//# name` begins one; `went on` is
// the value of a program that a limit should have ended.

//# flood
for (;;) tool({ n: 1 });
//# flood_caught
for (;;) tool({ n: 1 }).catch(() => {});
//# flood_awaited
await (async () => { for (;;) await tool({ n: 1 }); })()
//# flood_awaited_and_caught
await (async () => { for (;;) { try { await tool({ n: 1 }); } catch {} } })()
//# flood_at_once
await Promise.all(Array.from({ length: 100000 }, () => tool({ n: 1 }).catch(() => 0))).then(all => all.length)
//# calls_in_answers
const again = () => tool({ n: 1 }).then(again, again); await again()
//# long_argument
await tool({ text: 'x'.repeat(20 << 20) })
//# long_argument_caught
await tool({ text: 'x'.repeat(20 << 20) }).then(() => 'sent', error => error.name)
//# many_long_arguments
const text = 'x'.repeat(900000); for (;;) tool({ text }).catch(() => {});
//# wide_argument
await tool({ list: new Array(1 << 20).fill(0) })
//# small_parts_argument
await tool({ list: Array.from({ length: 300000 }, () => ({})) })
//# deep_argument
let deep = []; for (let i = 0; i < 200000; i++) deep = [deep];
await tool({ deep })
//# cyclic_argument
const one = {}; one.one = one; await tool(one)
//# shared_argument
let part = ['leaf']; for (let i = 0; i < 40; i++) part = [part, part];
await tool({ part })
//# argument_of_holes
await tool({ list: new Array(2 ** 32 - 1) })
//# argument_getter
await tool({ get value() { while (true); } })
//# argument_proxy
await tool(new Proxy({}, { ownKeys() { while (true); } }))
//# argument_to_json
await tool({ toJSON() { while (true); } })
//# call_in_getter
const object = { get value() { return tool({ n: 1 }); } }; for (;;) object.value;
