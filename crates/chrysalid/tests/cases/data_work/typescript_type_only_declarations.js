// expect: ["Ana",34,7,"undefined"]
// reason: Node 20 does not run TypeScript
declare const missing: { value: number };
declare function external(name: string): void;
type Mapper<T> = { [K in keyof T as `get${Capitalize<string & K>}`]: () => T[K] };
type Unwrap<T> = T extends Promise<infer U> ? U : T;
namespace Types { export type Id = string | number }

const getters = <T extends object>(o: T): Mapper<T> =>
  Object.fromEntries(Object.entries(o).map(([k, v]) => [`get${k[0]!.toUpperCase()}${k.slice(1)}`, () => v])) as Mapper<T>;
const id: Types.Id = 7;
const n: Unwrap<Promise<number>> = await Promise.resolve(id as number);
const user = getters({ name: 'Ana', age: 34 });
//=
[user.getName(), user.getAge(), n, typeof missing]
