// expect: ["low","mid"]
// reason: Node 20 does not run TypeScript
const enum Level { Low = 1, Mid = Low * 5, High = Mid + Low }
const limits = { low: Level.Low, mid: Level.Mid, high: Level.High } as const;
type Name = keyof typeof limits;
const names = Object.keys(limits) as Name[];
const over = (n: number, name: Name): boolean => n > limits[name];
//=
names.filter((name: Name) => over(5, name) || limits[name] === Level.Mid)
