// expect: {"report":{"$map":[["north",680],["south",464],["west",678]]},"best":{"date":{"$date":1738454400000},"region":"north","product":"coffee","units":99},"count":31}
// reason: Node 20 does not run TypeScript
type Sale = { date: Date; region: string; product: 'tea' | 'coffee'; units: number };
const parse = (line: string): Sale => {
  const [date, region, product, units] = line.split(',') as [string, string, Sale['product'], string];
  return { date: new Date(date), region, product, units: +units };
};
const csv: string = await tools.fetch_text({ name: 'sales.csv' });
const sales: Sale[] = csv.trim().split('\n').slice(1).map(parse);
const report = new Map<string, number>();
for (const { region, units } of sales) report.set(region, (report.get(region) ?? 0) + units);
const best: Sale = sales.reduce((a: Sale, b: Sale): Sale => (b.units > a.units ? b : a));
return { report, best, count: sales.length as number };
