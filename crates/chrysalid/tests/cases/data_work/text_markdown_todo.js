const md = await tools.fetch_text({ name: 'todo.md' });
const tasks = [];
const stack = [];
for (const line of md.split('\n')) {
  const m = /^(\s*)- \[( |x)\] (.+?)(?: \(@(\w+)(?:, ([\d-]+))?\))?$/.exec(line);
  if (!m) continue;
  const [, indent, mark, title, who, date] = m;
  const task = { title, done: mark === 'x', who, date: date && new Date(date), sub: [] };
  const depth = indent.length / 2;
  (depth ? stack[depth - 1].sub : tasks).push(task);
  stack[depth] = task;
}
const open = tasks.filter(t => !t.done).map(t => t.title);
console.log(`${open.length} of ${tasks.length} open: ${open.join(', ')}`);
//=
tasks
