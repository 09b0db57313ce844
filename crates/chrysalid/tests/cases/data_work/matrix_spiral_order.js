const m = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]];
const out = [];
while (m.length) {
  out.push(...m.shift());
  for (const row of m) if (row.length) out.push(row.pop());
  out.push(...(m.pop() ?? []).reverse());
  for (const row of [...m].reverse()) if (row.length) out.push(row.shift());
}
//=
out
