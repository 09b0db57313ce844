const prec = { '+': 1, '-': 1, '*': 2, '/': 2 };
const toRpn = text => {
  const out = [], ops = [];
  for (const t of text.split(' ')) {
    if (t in prec) {
      while (ops.length && prec[ops.at(-1)] >= prec[t]) out.push(ops.pop());
      ops.push(t);
    } else out.push(Number(t));
  }
  return [...out, ...ops.reverse()];
};
const rpn = toRpn('3 + 4 * 2 - 10 / 5');
const fns = { '+': (a, b) => a + b, '-': (a, b) => a - b, '*': (a, b) => a * b, '/': (a, b) => a / b };
const stack = [];
for (const t of rpn) {
  if (typeof t === 'number') { stack.push(t); continue; }
  const b = stack.pop(), a = stack.pop();
  stack.push(fns[t](a, b));
}
return { rpn: rpn.join(' '), value: stack[0] };
