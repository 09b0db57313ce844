const parse = text => {
  let i = 0;
  const ws = () => { while (/\s/.test(text[i] ?? '')) i++; };
  const value = () => {
    ws();
    if (text[i] === '[') { i++; const a = []; for (ws(); text[i] !== ']'; ws()) { a.push(value()); ws(); if (text[i] === ',') i++; } i++; return a; }
    if (text[i] === '{') {
      i++;
      const o = {};
      for (ws(); text[i] !== '}'; ws()) { const k = value(); ws(); i++; o[k] = value(); ws(); if (text[i] === ',') i++; }
      i++;
      return o;
    }
    const m = /^(?:"([^"\\]*)"|(-?\d+(?:\.\d+)?)|true|false|null)/.exec(text.slice(i));
    if (!m) throw new SyntaxError(`at ${i}: ${JSON.stringify(text.slice(i, i + 5))}`);
    i += m[0].length;
    return m[1] ?? (m[2] !== undefined ? Number(m[2]) : { true: true, false: false, null: null }[m[0]]);
  };
  return value();
};
const source = '{ "a": [1, -2.5, true, {"b": null}], "c": "text", "d": [] }';
let message;
try { parse('[1, oops]'); } catch (e) { message = e.message; }
//=
({ same: JSON.stringify(parse(source)) === JSON.stringify(JSON.parse(source)), value: parse(source), message })
