const raw = await tools.fetch_text({ name: 'app.log' });
const head = /^(?<at>\S+Z) (?<level>[A-Z]+)\s+\[(?<module>\w+)\] (?<text>.*)$/;
const entries = [];
for (const line of raw.split('\n')) {
  const groups = head.exec(line)?.groups;
  if (groups) entries.push({ ...groups, at: new Date(groups.at), trace: [] });
  else entries.at(-1).trace.push(line.trim());
}
const pairs = t => Object.fromEntries([...t.matchAll(/(\w+)=(\S+)/g)].map(([, k, v]) => [k, isFinite(v) ? Number(v) : v]));
const errors = entries.filter(e => e.level === 'ERROR').map(({ at, module, text, trace }) => ({ at, module, text, depth: trace.length }));
//=
({ errors, extras: entries.map(e => pairs(e.text)).filter(o => Object.keys(o).length), span: entries.at(-1).at - entries[0].at })
