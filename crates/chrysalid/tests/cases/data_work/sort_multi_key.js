const team = [
  { name: 'Zoe', dept: 'ops', age: 31 }, { name: 'abe', dept: 'dev', age: 25 },
  { name: 'Max', dept: 'dev', age: 40 }, { name: 'Kim', dept: 'ops', age: 31 }, { name: 'Lea', dept: 'dev', age: 25 },
];
const by = (...keys) => (a, b) => {
  for (const key of keys) {
    const desc = key.startsWith('-');
    const field = desc ? key.slice(1) : key;
    if (a[field] !== b[field]) return (a[field] < b[field] ? -1 : 1) * (desc ? -1 : 1);
  }
  return 0;
};
//=
team.toSorted(by('dept', '-age', 'name')).map(({ dept, age, name }) => `${dept}/${age}/${name}`)
