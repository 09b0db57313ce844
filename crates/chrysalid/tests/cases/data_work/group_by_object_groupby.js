const people = [
  { name: 'Ana', age: 34 }, { name: 'Bo', age: 17 }, { name: 'Cy', age: 65 }, { name: 'Di', age: 20 },
];
const bracket = ({ age }) => (age < 18 ? 'minor' : age < 65 ? 'adult' : 'senior');
const groups = Object.groupBy(people, bracket);
for (const [key, members] of Object.entries(groups)) console.log(`${key}: ${members.map(m => m.name).join(', ')}`);
//=
groups
