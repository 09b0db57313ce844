const ndjson = '{"id":1}\n{"id":2,}\n\n{"id":3}\nnull\n[1,2';
const good = [], bad = [];
ndjson.split('\n').forEach((line, i) => {
  if (!line.trim()) return;
  try {
    good.push(JSON.parse(line));
  } catch (e) {
    bad.push({ line: i + 1, type: e.name, syntax: e instanceof SyntaxError });
  }
});
//=
{ good, bad }
