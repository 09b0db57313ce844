const staff = await tools.employees({});
const median = xs => {
  const s = [...xs].sort((a, b) => a - b), m = Math.floor(s.length / 2);
  return s.length % 2 ? s[m] : (s[m - 1] + s[m]) / 2;
};
const groups = Map.groupBy(staff, e => e.department);
//=
Object.fromEntries(Array.from(groups, ([name, people]) => [name, { n: people.length, median: median(people.map(p => p.salary)) }]))
