const staff = await tools.employees();
const bands = [60_000, 80_000, 100_000, Infinity];
const label = s => {
  const i = bands.findIndex(b => s < b);
  return i === 0 ? `<${bands[0] / 1000}k` : bands[i] === Infinity ? `${bands[i - 1] / 1000}k+` : `${bands[i - 1] / 1000}-${bands[i] / 1000}k`;
};
const counts = {};
for (const { salary } of staff.sort((a, b) => a.salary - b.salary)) counts[label(salary)] = (counts[label(salary)] ?? 0) + 1;
//=
counts
