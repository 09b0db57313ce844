// expect: ["o",20,"1.5 kg"]
// reason: Node 20 does not run TypeScript
function pick(source: string, index: number): string;
function pick(source: number[], index: number): number;
function pick(source: any, index: number): any {
  return source[index < 0 ? source.length + index : index];
}
function describe(this: { unit: string }, value: number): string {
  return `${value} ${this.unit}`;
}
const bound: (value: number) => string = describe.bind({ unit: 'kg' });
//=
[pick('hello', -1), pick([10, 20, 30], 1), bound(pick([1.5], 0))]
