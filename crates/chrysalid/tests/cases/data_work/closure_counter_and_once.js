const makeCounter = (start = 0, step = 1) => {
  let n = start;
  return { inc: () => (n += step), dec: () => (n -= step), peek: () => n };
};
const once = fn => { let done = false, result; return (...a) => (done ? result : ((done = true), (result = fn(...a)))); };
const c = makeCounter(10, 5);
c.inc(); c.inc(); c.dec();
let calls = 0;
const init = once(x => { calls++; return x * 2; });
//=
[c.peek(), init(4), init(9), calls, [1, 2, 3].map((x => y => x + y)(100))]
