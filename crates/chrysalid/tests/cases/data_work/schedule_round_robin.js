const teams = ['A', 'B', 'C', 'D', 'E'];
const list = teams.length % 2 ? [...teams, null] : [...teams];
const rounds = [];
for (let r = 0; r < list.length - 1; r++) {
  const pairs = [];
  for (let i = 0; i < list.length / 2; i++) {
    const [home, away] = [list[i], list[list.length - 1 - i]];
    if (home && away) pairs.push(r % 2 ? `${away}-${home}` : `${home}-${away}`);
  }
  rounds.push(pairs);
  list.splice(1, 0, list.pop());
}
rounds.forEach((r, i) => console.info(`round ${i + 1}: ${r.join(' ')}`));
//=
new Set(rounds.flat().map(p => [...p].sort().join(''))).size
