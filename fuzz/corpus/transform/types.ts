interface A { b: string }
const x: A = { b: "c" } as A;
function f<T extends A>(this: A, a?: T): asserts a is T {}
x!.b satisfies string