// expect: ["true,true",2,3,[3]]
// reason: Node 20 does not run TypeScript
const a = 1, b = 2, c = 3;
const f = (...args: boolean[]): string => args.join();
const less: string = f(a < b, c > b);
type Pair<A, B = A> = { left: A; right: B };
const pairs: Array<Pair<number>> = [{ left: 1, right: 2 }];
const shifted = (a << b) >> 1, ternary = a < b ? (c) : (b);
//=
[less, shifted, ternary, pairs.map(({ left, right }: Pair<number>) => left + right)]
