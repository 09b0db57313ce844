// expect: {"total":3,"upper":"TEA","later":"TEA2","rest":["hot"]}
// reason: Node 20 does not run TypeScript
type Row = [name: string, qty: number | null, ...rest: string[]];
const raw: unknown = JSON.parse('[["tea", 3, "hot"], ["pot", null]]');
const rows = raw as Row[];
const total: number = rows.reduce((sum: number, [, qty]) => sum + (qty ?? 0), 0);
const first = rows[0]!;
const upper = (first[0] as string).toUpperCase()!;
const config = { mode: 'fast', levels: [1, 2] } as const;
let later!: string;
later = <string>upper + config.levels[1];
//=
{ total, upper, later, rest: first.slice(2) as string[] }
