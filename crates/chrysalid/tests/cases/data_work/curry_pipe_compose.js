const curry = fn => function next(...a) { return a.length >= fn.length ? fn(...a) : (...b) => next(...a, ...b); };
const pipe = (...fns) => x => fns.reduce((v, f) => f(v), x);
const map = curry((f, xs) => xs.map(x => f(x)));
const filter = curry((p, xs) => xs.filter(x => p(x)));
const reduce = curry((f, init, xs) => xs.reduce(f, init));
const sumOfEvenSquares = pipe(filter(n => n % 2 === 0), map(n => n ** 2), reduce((a, b) => a + b)(0));
//=
[sumOfEvenSquares([1, 2, 3, 4]), curry((a, b, c) => a + b + c)(1)(2, 3)]
