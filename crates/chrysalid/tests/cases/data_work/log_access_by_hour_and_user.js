const months = { Jan: 0, Feb: 1, Mar: 2 };
const text = await tools.fetch_text({ name: 'access.log' });
const users = new Map();
for (const line of text.split('\n')) {
  const m = line.match(/^\S+ - (?<user>\S+) \[(?<d>\d+)\/(?<mon>\w+)\/(?<y>\d+):(?<h>\d+):(?<min>\d+):(?<s>\d+)/);
  if (!m || m.groups.user === '-') continue;
  const { user, d, mon, y, h, min, s } = m.groups;
  const at = new Date(Date.UTC(+y, months[mon], +d, +h, +min, +s));
  const entry = users.get(user) ?? { n: 0, last: null };
  users.set(user, { n: entry.n + 1, last: entry.last > at ? entry.last : at });
}
//=
new Map([...users].sort())
