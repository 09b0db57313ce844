const staff = await tools.employees();
const reports = Object.groupBy(staff, p => p.manager_id ?? 'top');
const lines = [];
const show = (person, depth) => {
  lines.push(`${'  '.repeat(depth)}${person.name}`);
  (reports[person.id] ?? []).forEach(r => show(r, depth + 1));
};
show(reports.top[0], 0);
console.log(lines.join('\n'));
//=
lines.length
