function split(totalCents, people) {
  const base = totalCents / BigInt(people);
  const extra = Number(totalCents % BigInt(people));
  return Array.from({ length: people }, (_, i) => base + (i < extra ? 1n : 0n));
}
const shares = split(10000n, 3);
//=
[shares, shares.reduce((a, b) => a + b), split(5n, 7)]
