const tokenize = s => s.match(/\d+(?:\.\d+)?|[-+*/^()]/g);
function evaluate(source) {
  const tokens = tokenize(source);
  let pos = 0;
  const peek = () => tokens[pos], take = () => tokens[pos++];
  const expr = () => { let v = term(); while (peek() === '+' || peek() === '-') v = take() === '+' ? v + term() : v - term(); return v; };
  const term = () => { let v = power(); while (peek() === '*' || peek() === '/') v = take() === '*' ? v * power() : v / power(); return v; };
  const power = () => { const b = unary(); return peek() === '^' ? (take(), b ** power()) : b; };
  const unary = () => (peek() === '-' ? (take(), -unary()) : primary());
  const primary = () => {
    if (peek() === '(') { take(); const v = expr(); if (take() !== ')') throw new SyntaxError('missing )'); return v; }
    const t = take();
    if (t === undefined || isNaN(t)) throw new SyntaxError(`unexpected ${t ?? 'end'}`);
    return Number(t);
  };
  const v = expr();
  if (pos < tokens.length) throw new SyntaxError(`trailing ${peek()}`);
  return v;
}
//=
['1+2*3', '(1+2)*3', '2^3^2', '-2^2', '10/4-1', '(1+2', '2 3', '*'].map(s => { try { return evaluate(s); } catch (e) { return e.message; } })
