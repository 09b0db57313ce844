const staff = await tools.employees();
const raises = staff
  .filter(({ hired }) => Date.parse(hired) < Date.UTC(2020, 0, 1))
  .map(({ name, salary, department }) => {
    const pct = department === 'Engineering' ? 4n : 3n;
    const raise = (BigInt(salary) * pct) / 100n;
    return { name, raise, next: BigInt(salary) + raise };
  });
//=
[raises, raises.reduce((s, r) => s + r.raise, 0n)]
