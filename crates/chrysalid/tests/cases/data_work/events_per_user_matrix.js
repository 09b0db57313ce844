const { events } = await tools.list_events({ limit: 50 });
const users = [...new Set(events.map(e => e.user))].sort();
const types = [...new Set(events.map(e => e.type))].sort();
const matrix = users.map(u => types.map(t => events.filter(e => e.user === u && e.type === t).length));
console.log(['    ', ...types].join(' '));
matrix.forEach((row, i) => console.log(users[i], row.join(' ')));
//=
({ types, matrix, busiest: users[matrix.map(r => r.reduce((a, b) => a + b)).reduce((best, n, i, all) => (n > all[best] ? i : best), 0)] })
