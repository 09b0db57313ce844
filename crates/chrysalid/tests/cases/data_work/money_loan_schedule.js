const principal = 10000, annual = 0.06, months = 6;
const r = annual / 12;
const payment = (principal * r) / (1 - (1 + r) ** -months);
const rows = [];
for (let balance = principal, n = 1; n <= months; n++) {
  const interest = balance * r;
  balance -= payment - interest;
  rows.push({ n, interest: interest.toFixed(2), balance: Math.abs(balance).toFixed(2) });
}
//=
{ payment: payment.toFixed(2), rows }
