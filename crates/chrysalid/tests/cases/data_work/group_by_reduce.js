const sales = [
  { region: 'north', amount: 120 },
  { region: 'south', amount: 80 },
  { region: 'north', amount: 45.5 },
  { region: 'east', amount: 300 },
  { region: 'south', amount: 19.99 },
];

const totals = sales.reduce((acc, { region, amount }) => {
  acc[region] = (acc[region] ?? 0) + amount;
  return acc;
}, {});
//=
totals
