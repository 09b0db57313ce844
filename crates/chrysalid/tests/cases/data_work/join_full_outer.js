const plan = new Map([['mon', 3], ['tue', 5], ['thu', 1]]);
const done = new Map([['mon', 2], ['wed', 4], ['thu', 1]]);
const keys = [...new Set([...plan.keys(), ...done.keys()])].sort();
//=
keys.map(day => ({ day, plan: plan.get(day), done: done.get(day), open: (plan.get(day) ?? 0) - (done.get(day) ?? 0) }))
