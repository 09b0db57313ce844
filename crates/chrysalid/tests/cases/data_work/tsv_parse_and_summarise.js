const tsv = 'name\tscore\tteam\nAna\t91\tred\nBo\t78\tblue\nCy\t85\tred\n';
const [header, ...lines] = tsv.trimEnd().split('\n');
const keys = header.split('\t');
const rows = lines.map(line => {
  const cells = line.split('\t');
  return keys.reduce((o, k, i) => ({ ...o, [k]: isNaN(cells[i]) ? cells[i] : +cells[i] }), {});
});
const avg = {};
for (const team of new Set(rows.map(r => r.team))) {
  const s = rows.filter(r => r.team === team).map(r => r.score);
  avg[team] = s.reduce((a, b) => a + b) / s.length;
}
//=
({ rows, avg })
