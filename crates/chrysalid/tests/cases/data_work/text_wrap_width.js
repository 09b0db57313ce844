const text = 'The quick brown fox jumps over the lazy dog while extraordinarily long words overflow.';
const wrap = (s, width) => {
  const lines = [];
  let line = '';
  for (const word of s.split(/\s+/)) {
    if (line && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  if (line) lines.push(line);
  return lines;
};
//=
wrap(text, 18).map(l => `|${l.padEnd(18)}|`).join('\n')
