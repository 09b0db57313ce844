const staff = await tools.employees();
const byId = new Map(staff.map(p => [p.id, p]));
function* chain(id) {
  for (let p = byId.get(id); p; p = byId.get(p.manager_id)) yield p.name;
}
const spans = staff.map(p => [p.name, staff.filter(q => q.manager_id === p.id).length]).filter(([, n]) => n > 0);
//=
({ tariq: [...chain(8)], deepest: Math.max(...staff.map(p => [...chain(p.id)].length)), spans })
