const text = await tools.fetch_text({ name: 'people.csv' });
const rows = [[]];
for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n|$)/g)) {
  rows.at(-1).push(quoted !== undefined ? quoted.replaceAll('""', '"') : plain);
  if (end === '\n') rows.push([]);
  if (end === '') break;
}
const [head, ...body] = rows;
//=
body.map(r => Object.fromEntries(r.map((v, i) => [head[i], v])))
