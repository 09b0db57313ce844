// value: 1000000000000000000000000000001000000000000002000000000000003 15511210043330985984000000 -147573952589676412928 -424 5 bigint true true
const fact = n => n <= 1n ? 1n : n * fact(n - 1n);
let acc = 1n; for (let i = 0; i < 4; i++) acc = acc * 10n ** 15n + BigInt(await tools.gate({ q: i }));
const neg = -(2n ** 70n); await tools.gate({ q: 1 });
[acc, fact(25n), neg >> 3n, neg % 1000n, BigInt.asUintN(64, neg + 5n), typeof acc, acc > 5, 0n === -0n].join(' ');
