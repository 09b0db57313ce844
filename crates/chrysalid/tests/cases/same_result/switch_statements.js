// value: one,fell,two,dynamic,othernull,other4
const words = [];
for (const k of [1, 'two', 3, null, 4]) { switch (k) { case 1: words.push('one'); case 'x': words.push('fell'); break; case 'two': { let local = await tools.gate({ q: k }); words.push(local); break; } case await tools.gate({ q: 3 }): words.push('dynamic'); break; default: words.push('other' + k); } }
words.join();
