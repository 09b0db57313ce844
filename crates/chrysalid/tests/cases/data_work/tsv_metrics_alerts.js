const tsv = await tools.fetch_text({ name: 'metrics.tsv' });
const [names, ...rows] = tsv.trim().split('\n').map(l => l.split('\t'));
const hosts = rows.map(r => ({ host: r[0], cpu: r[1] === '' ? NaN : Number(r[1]), mem: +r[2], up: r[3] === 'true' }));
const alerts = hosts.flatMap(h => [
  ...(h.cpu > 0.9 ? [`${h.host}: cpu ${(h.cpu * 100).toFixed()}%`] : []),
  ...(h.up ? [] : [`${h.host}: down`]),
]);
//=
{ names, hosts, alerts }
