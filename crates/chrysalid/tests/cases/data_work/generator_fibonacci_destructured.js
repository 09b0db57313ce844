const fib = {
  *[Symbol.iterator]() {
    let [a, b] = [0, 1];
    for (;;) {
      yield a;
      [a, b] = [b, a + b];
    }
  },
};
const [f0, f1, , f3, ...[]] = Array.from({ length: 4 }, ((it) => () => it.next().value)(fib[Symbol.iterator]()));
const even = [];
for (const n of fib) {
  if (n > 1000) break;
  if (n % 2 === 0) even.push(n);
}
//=
[f0, f1, f3, even]
