const raw = `10:00 ERROR boom
  at a (x.js:1)
  at b (y.js:2)
10:01 INFO fine
10:02 ERROR again
  at c (z.js:3)`;
const entries = raw.split('\n').reduce((out, line) => {
  if (/^\s/.test(line)) out.at(-1).trace.push(line.trim());
  else {
    const [, time, level, message] = /^(\S+) (\S+) (.*)$/.exec(line);
    out.push({ time, level, message, trace: [] });
  }
  return out;
}, []);
//=
entries
