//! What each form becomes, source and result side by side: one long list, read by looking for the form, and so in
//! one file whatever its length.

#![expect(clippy::too_many_lines, reason = "a list of cases")]

use super::super::tests::{becomes, becomes_with, is_refused};
use super::super::{Place, prepare, prepare_module};

#[test]
fn enums() {
    becomes(
        "enum E { A = 1 << 2, B = A | 1, C = \"x\", D = `${C}y`, F = \"abc\".length, G = F + 1 }",
        "const E = (E => { E[E[\"A\"] = 4] = \"A\";  E[E[\"B\"] = 5] = \"B\";  E[\"C\"] = \"x\";  E[\"D\"] = \"xy\";  E[E[\"F\"] = \"abc\".length] = \"F\";  E[E[\"G\"] = E[\"F\"] + 1] = \"G\"; return E; })({});",
    );
    is_refused(
        "enum E { A = \"x\", B }",
        "the enum member `B` needs a value",
        Some("a member counts on from a number only"),
        (1, 19),
    );
    is_refused(
        "enum E { A }; enum E { B }",
        "the enum `E` is declared twice",
        Some("put all members into one enum"),
        (1, 15),
    );
    becomes(
        "const enum K { A = 1, B }\nK.B",
        "const K = (K => { K[K[\"A\"] = 1] = \"A\";  K[K[\"B\"] = 2] = \"B\"; return K; })({});\nK.B",
    );
    // Types within a value are blanked as anywhere.
    becomes(
        "enum E { A = x! << 1, B = (A as any).c, C = f<number>(2) as 3 }",
        "const E = (E => { E[E[\"A\"] = x  << 1] = \"A\";  E[E[\"B\"] = (E[\"A\"]       ).c] = \"B\";  E[E[\"C\"] = f        (2)     ] = \"C\"; return E; })({});",
    );
    becomes("declare enum Q { A }", "                    ");
    becomes("export enum R { A }\nR.A", "       const R = (R => { R[R[\"A\"] = 0] = \"A\"; return R; })({});\nR.A");
    becomes(
        "interface A { b: string; opt?: number }\ntype T = \"p\" | \"q\"; enum E { X, Y }\nconst v: A = {b: \"z\"} satisfies A; function g<U>(u: U): U { return u; }\nconst tern = v.opt ? v.opt : v.b; let nn = JSON.parse(\"1\")!;\n[v.b, E.Y, g<number>(3), tern, nn, (v as any).b].join()",
        "                                       \n                    const E = (E => { E[E[\"X\"] = 0] = \"X\";  E[E[\"Y\"] = 1] = \"Y\"; return E; })({});\nconst v    = {b: \"z\"}            ; function g   (u   )    { return u; }\nconst tern = v.opt ? v.opt : v.b; let nn = JSON.parse(\"1\") ;\n[v.b, E.Y, g        (3), tern, nn, (v       ).b].join()",
    );
    becomes(
        "enum A {}\nenum B { \"x y\", z = 5, w = -1, v = ~z, u = 2 ** 3, t = B.z, s = B[\"w\"], r = A.q, \"p\" = 1.5e3, o = 0xff, n = \"a\" + 1, m = `t${z}` }",
        "const A = (A => {return A; })({});\nconst B = (B => { B[B[\"x y\"] = 0] = \"x y\";  B[B[\"z\"] = 5] = \"z\";  B[B[\"w\"] = -1] = \"w\";  B[B[\"v\"] = -6] = \"v\";  B[B[\"u\"] = 8] = \"u\";  B[B[\"t\"] = 5] = \"t\";  B[B[\"s\"] = -1] = \"s\";  B[B[\"r\"] = A.q] = \"r\";  B[B[\"p\"] = 1500] = \"p\";  B[B[\"o\"] = 255] = \"o\";  B[\"n\"] = \"a1\";  B[\"m\"] = \"t5\"; return B; })({});",
    );
    becomes(
        "enum C { // one\n  A = 1, /* two */ B,\n  C = f(A),\n}",
        "const C = (C => { // one\n  C[C[\"A\"] = 1] = \"A\";  /* two */ C[C[\"B\"] = 2] = \"B\"; \n  C[C[\"C\"] = f(C[\"A\"])] = \"C\"; \nreturn C; })({});",
    );
    becomes_with(
        "f()\nenum D { A }\n(x)",
        "f()\nconst D = (D => { D[D[\"A\"] = 0] = \"A\"; return D; })({});\n(x)",
        &[],
        &[],
        Some("x"),
    );
    is_refused(
        "enum A { B = 1, C = \"é\".length, D }",
        "the enum member `D` needs a value",
        Some("a member counts on from a number only"),
        (1, 33),
    );
    becomes(
        "enum A { B = `x`, C = B + \"y\", D = (B), E = `${f()}` }",
        "const A = (A => { A[\"B\"] = \"x\";  A[\"C\"] = \"xy\";  A[\"D\"] = \"x\";  A[\"E\"] = `${f()}`; return A; })({});",
    );
    becomes(
        "enum A { \"a\\\"b\" = 1 / 0, c = 0 / 0, d = -0 }",
        "const A = (A => { A[A[\"a\\\"b\"] = Infinity] = \"a\\\"b\";  A[A[\"c\"] = NaN] = \"c\";  A[A[\"d\"] = -0] = \"d\"; return A; })({});",
    );
    becomes_with(
        "enum A { B }\nfunction f() { enum C { D = A.B + 1, E } return C.E }",
        "const A = (A => { A[A[\"B\"] = 0] = \"B\"; return A; })({});\nfunction f() { const C = (C => { C[C[\"D\"] = 1] = \"D\";  C[C[\"E\"] = 2] = \"E\"; return C; })({}); return C.E };f",
        &["`f` is defined but not called"],
        &[],
        None,
    );
    becomes(
        "let a\nenum A { B = \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\", C = B, D = B + \"y\" }",
        "let a\nconst A = (A => { A[\"B\"] = \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\";  A[\"C\"] = A[\"B\"];  A[\"D\"] = A[\"B\"] + \"y\"; return A; })({});",
    );
    becomes(
        "enum A { B = 1 << 33, C = -1 >>> 28, D = -5 % 3, E = 7 & 3 ^ 1 | 8, F = \"a\" < \"b\" }",
        "const A = (A => { A[A[\"B\"] = 2] = \"B\";  A[A[\"C\"] = 15] = \"C\";  A[A[\"D\"] = -2] = \"D\";  A[A[\"E\"] = 10] = \"E\";  A[A[\"F\"] = \"a\" < \"b\"] = \"F\"; return A; })({});",
    );
    becomes(
        "enum A { B, B2 = B, C = A.B2 + 10, D = A[\"C\"] }",
        "const A = (A => { A[A[\"B\"] = 0] = \"B\";  A[A[\"B2\"] = 0] = \"B2\";  A[A[\"C\"] = 10] = \"C\";  A[A[\"D\"] = 10] = \"D\"; return A; })({});",
    );
}

#[test]
fn unsupported_typescript_is_refused() {
    is_refused(
        "namespace N { export const a = 1 }",
        "a `namespace` with values is not supported",
        Some("use an object: `const Name = { … }`"),
        (1, 1),
    );
    is_refused(
        "@dec class A {}",
        "decorators are not supported",
        Some("call the function on the class or method instead"),
        (1, 1),
    );
    is_refused(
        "import fs = require(\"fs\")",
        "`import x = …` is not supported",
        Some("write `import x from \"…\"` or `const x = …`"),
        (1, 1),
    );
    is_refused(
        "export import a = B.C",
        "`import x = …` is not supported",
        Some("write `import x from \"…\"` or `const x = …`"),
        (1, 1),
    );
    is_refused("export = x", "`export =` is not supported", Some("write `export default …`"), (1, 1));
    is_refused(
        "import a = B.C",
        "`import x = …` is not supported",
        Some("write `import x from \"…\"` or `const x = …`"),
        (1, 1),
    );
    is_refused(
        "class A { @dec m() {} }",
        "decorators are not supported",
        Some("call the function on the class or method instead"),
        (1, 11),
    );
    is_refused(
        "export namespace N { export const a = 1 }",
        "a `namespace` with values is not supported",
        Some("use an object: `const Name = { … }`"),
        (1, 1),
    );
    is_refused(
        "let x: number; namespace A.B.C { f() }",
        "a `namespace` with values is not supported",
        Some("use an object: `const Name = { … }`"),
        (1, 16),
    );
}

#[test]
fn statements_that_are_types_only() {
    becomes_with("a\ntype T = 1\n(b)", "a\n;         \n(b)", &[], &[], Some("b"));
    becomes("namespace N { export interface I {} }", "                                     ");
    becomes(
        "let a!: number\ntype A = { a: string\n b: number }\nconst x = 1",
        "let a         \n                    \n            \nconst x = 1",
    );
    becomes(
        "function over(a: string): string\nfunction over(a: number): number\nfunction over(a: any) { return a }",
        "                                \n                                \nfunction over(a     ) { return a }",
    );
    becomes_with(
        "declare module \"x\" { export const a: number }\ndeclare global { interface Window { a: 1 } }\ndeclare function f(): void\ndeclare let v: number, w: string\ndeclare class K { a: number }\ndeclare namespace N { const x: 1 }\nnamespace T { type A = 1; namespace U { interface B {} } }\nmodule M {}\nexport as namespace Foo\nv",
        "                                             \n                                            \n                          \n                                \n                             \n                                  \n                                                          \n           \n                       \nv",
        &[],
        &[],
        Some("v"),
    );
    becomes("import type fs = require(\"fs\"); 1", "                                1");
    becomes("type A = 1; type B = 2\n+ 1", "            ;         \n+ 1");
    becomes("const a = 1\ninterface I {}\n`x`", "const a = 1\n;             \n`x`");
}

#[test]
fn classes() {
    becomes(
        "class A<T> extends B<T> implements C, D { private x?: number; readonly y: string = 1; static z: T; constructor(private a: number, public readonly b = 2, c?: string) { super(a); } foo?<U>(this: A, x: U): void { } bar(x: number): string; bar(x: any) { return x as string } [k: string]: any; declare q: number; get: number\n foo() {} }",
        "class A    extends B                    {         x         ;          y         = 1; static z   ; constructor(        a        ,                 b = 2, c         ) { super(a); this.a = a; this.b = b; } foo    (         x   )       { }                         bar(x     ) { return x           }                                      get;        \n foo() {} }",
    );
    becomes(
        "abstract class X { abstract a: number; protected abstract b(): void; constructor(public x: number) { this.y = 1 } }",
        "         class X {                                                   constructor(       x        ) { this.x = x; this.y = 1 } }",
    );
    becomes(
        "class Foo { public static async bar(): Promise<void> {} private readonly [k] = 1\n public *g() {} protected get x(): number { return 1 } override m() {} }",
        "class Foo {        static async bar()                {} ;                [k] = 1\n ;      *g() {}           get x()         { return 1 }          m() {} }",
    );
    becomes(
        "class A { static #p?: number = 1; declare readonly x: number; static { let a: number = 1 } constructor(); constructor(readonly a?: number) {} get a(): number { return 1 } set a(v: number) {} \"quoted\"?: string; 5!: number; async *[Symbol.iterator]<T>(): X {} static async\n *gen() {} }",
        "class A { static #p          = 1;                             static { let a         = 1 }                constructor(         a         ) { this.a = a;} get a()         { return 1 } set a(v        ) {} \"quoted\"         ; 5         ; async *[Symbol.iterator]   ()    {} static async\n *gen() {} }",
    );
    becomes(
        "class A extends (B as any)<T> implements I { constructor(private x = 1) { const y = 1; super(y)\n y } }",
        "class A extends (B       )                 { constructor(        x = 1) { const y = 1; super(y); this.x = x;\n y } }",
    );
    is_refused(
        "class A extends B { constructor(private x: number) { if (x) super() } }",
        "parameter properties need `super(…)` as a statement of the constructor",
        Some("assign to `this` in the constructor's body instead"),
        (1, 21),
    );
    becomes(
        "const a = class<T> implements I<T> {}, b = class X<T> extends Y {}",
        "const a = class                    {}, b = class X    extends Y {}",
    );
    becomes(
        "abstract class A { private static readonly x = 1; protected abstract readonly y: number\n protected get z() { return 1 } private async *w() {} public constructor() {} }",
        "         class A {         static          x = 1;                                      \n           get z() { return 1 }         async *w() {}        constructor() {} }",
    );
    becomes(
        "class A {\n  x = 1\n  private [y] = 2\n  public *z() {}\n  declare q: 1\n  [w] = 3\n  foo(): void\n  *foo() {}\n  [k: string]: any\n  [\"v\"] = 4\n}",
        "class A {\n  x = 1\n  ;       [y] = 2\n  ;      *z() {}\n  ;           \n  [w] = 3\n  ;          \n  *foo() {}\n  ;               \n  [\"v\"] = 4\n}",
    );
    becomes(
        "class A { constructor(private readonly x: number, public y?: string, z = 1) {} }",
        "class A { constructor(                 x        ,        y         , z = 1) { this.x = x; this.y = y;} }",
    );
    becomes(
        "class A { private async = 1; readonly readonly: boolean = true; public(): void {} declare() {} static override x = 1 }",
        "class A {         async = 1;          readonly          = true; public()       {} declare() {} static          x = 1 }",
    );
    becomes(
        "class A { constructor(\n    private a: string,\n    protected b = 2,\n  ) {\n    log(a)\n  }\n}",
        "class A { constructor(\n            a        ,\n              b = 2,\n  ) { this.a = a; this.b = b;\n    log(a)\n  }\n}",
    );
    becomes(
        "class A<T extends object = {}> { set?: T\n x() {} static: number\n y() {} }",
        "class A                        { set;    \n x() {} static;        \n y() {} }",
    );
}

#[test]
fn typescript_that_the_javascript_reading_takes() {
    becomes("class A { private x = 1 }", "class A {         x = 1 }");
    becomes(
        "class A { readonly x = 1; public y = 2; override z() {}; m?() {}; w? = 1; declare v }",
        "class A {          x = 1;        y = 2;          z() {}; m () {}; w  = 1;           }",
    );
    becomes(
        "class A { private static async *x() {} private get y() { return 1 } private #z = 1 }",
        "class A {         static async *x() {}         get y() { return 1 }         #z = 1 }",
    );
    becomes(
        "class A { constructor(private x, readonly y = 2) {} }",
        "class A { constructor(        x,          y = 2) { this.x = x; this.y = y;} }",
    );
    becomes("class A { accessor x: number }", "class A { accessor x         }");
    // Names that are modifiers elsewhere.
    for source in [
        "class A { readonly\n x = 1 }",
        "class A { public\n x() {} }",
        "class A { get readonly() { return 1 } static readonly = 1; private() {} public; protected = 2 }",
        "class A { constructor(readonly) {} }",
    ] {
        becomes(source, source);
    }
}

#[test]
fn initializers_of_enums_are_programs_too() {
    becomes(
        "enum E { A = (\"abc\" as any).length, B = f<number>(3), C = g({ A, B: A }), D = h(() => import(\"x\")) }",
        "const E = (E => { E[E[\"A\"] = (\"abc\"       ).length] = \"A\";  \
        E[E[\"B\"] = f        (3)] = \"B\";  E[E[\"C\"] = g({ A: E[\"A\"], B: E[\"A\"] })] = \"C\";  \
        E[E[\"D\"] = h(() => $import(\"x\"))] = \"D\"; return E; })({});",
    );
    becomes(
        "enum E { A = 1 ** NaN, B = 1 ** (1/0), C = (-1) ** -Infinity, D = 2 ** -1, F = NaN ** 0 }",
        "const E = (E => { E[E[\"A\"] = NaN] = \"A\";  E[E[\"B\"] = NaN] = \"B\";  E[E[\"C\"] = NaN] = \"C\";  \
        E[E[\"D\"] = 0.5] = \"D\";  E[E[\"F\"] = 1] = \"F\"; return E; })({});",
    );
    becomes_with(
        "import { a } from \"m\"; enum E { A = a.b }",
        "const {a} = await $import(\"m\"); const E = (E => { E[E[\"A\"] = a.b] = \"A\"; return E; })({});",
        &[],
        &["m"],
        None,
    );
}

#[test]
fn what_was_asserted_stays_an_expression() {
    becomes("(() => <any>{a:1} as any)()", "(() => (    {a:1})       )()");
    becomes("export default <any>{a:1}", ";              (    {a:1});");
    becomes("<any>{ a: 1 }", "(    { a: 1 })");
    becomes("x = <any><b>{ a: 1 }.c", "x =      (  { a: 1 }.c)");
    becomes_with("<any>function foo(){}", "(    function foo(){})", &["`foo` is defined but not called"], &[], None);
}

#[test]
fn arrow_functions() {
    becomes_with(
        "const f = async <T,>(x: T): Promise<T> => x!; const g = <T>(x: T) => x; let y = <any>z; function h(this: Foo, a?: number, ...r: string[]) {}",
        "const f = async     (x   )             => x ; const g =    (x   ) => x; let y =      z; function h(           a         , ...r          ) {};h",
        &["`h` is defined but not called"],
        &[],
        None,
    );
    becomes_with(
        "const f = (a: number):\n  string => a",
        "const f = (a          \n       ) => a;f",
        &["`f` is defined but not called"],
        &[],
        None,
    );
    becomes_with(
        "const g = async <\n  T\n>(x: T) => x",
        "const g = async (\n   \n  x   ) => x;g",
        &["`g` is defined but not called"],
        &[],
        None,
    );
    becomes_with(
        "const o = x => <T>{a: 1}",
        "const o = x => (  {a: 1});o",
        &["`o` is defined but not called"],
        &[],
        None,
    );
    becomes("return <T>{ a: 1 }", "return (  { a: 1 })");
    becomes(
        "x = <const T,>(a: T, { b }: { b?: number } = {}, [c]: [number] = [1], ...d: T[]) => a",
        "x =           (a   , { b }                 = {}, [c]           = [1], ...d     ) => a",
    );
    becomes("return <\n  T\n>x", "return (\n   \n x)");
    becomes(
        "a = async <T>(x: T): Promise<T> => { return await x }",
        "a = async    (x   )             => { return await x }",
    );
    becomes_with(
        "const f = (\n  a: number,\n  b?: string, // why\n): { c: number } => ({ c: a })",
        "const f = (\n  a        ,\n  b         , // why\n)                => ({ c: a });f",
        &["`f` is defined but not called"],
        &[],
        None,
    );
    becomes("var x = a ? (b) : c => d", "var x = a ? (b) : c => d");
    becomes("var x = a ? (b: number): string => c : d", "var x = a ? (b        )         => c : d");
    becomes(
        "let x: typeof import(\"a\"), y: new () => void, z: `a${string}`, w: A extends infer B ? B : never, v: { [K in keyof T]?: T[K] }, u: unique symbol, t: [a: number, ...b: string[]], s: (x: number) => x is string, r: readonly A[]",
        "let x                    , y                , z              , w                               , v                           , u               , t                             , s                            , r              ",
    );
}

#[test]
fn annotations_and_assertions() {
    becomes_with("let z = x as any\n(b)", "let z = x;      \n(b)", &[], &[], Some("b"));
    becomes(
        "for (const x of xs as number[]) { }\ntry { } catch (e: unknown) { }\nlet v = f<number>(3), w = new Map<string, number>(), t = a satisfies B",
        "for (const x of xs            ) { }\ntry { } catch (e         ) { }\nlet v = f        (3), w = new Map                (), t = a            ",
    );
    becomes(
        "const obj = { m<T>(a: T): void {}, async *g(): AsyncGenerator<number> {} }",
        "const obj = { m   (a   )       {}, async *g()                         {} }",
    );
    becomes_with(
        "let é: string = \"ü\", b: Map<\"日本\", 𝒳> = 1; b",
        "let é         = \"ü\", b               = 1; b",
        &[],
        &[],
        Some("b"),
    );
    becomes_with(
        "import { \"x y\" as z, default as d } from 'm'; z(d)",
        "const {\"x y\": z, default: d} = await $import('m'); z(d)",
        &[],
        &["m"],
        None,
    );
    becomes(
        "try { x() } catch ({ message }: any) {}\nfor (let i: number = 0, j: string; i < 1; i++);\nfor (const k in o as any) {}",
        "try { x() } catch ({ message }     ) {}\nfor (let i         = 0, j        ; i < 1; i++);\nfor (const k in o       ) {}",
    );
    becomes_with(
        "const f = function <T>(this: Window): asserts this is X { return this! }",
        "const f = function    (            )                    { return this  };f",
        &["`f` is defined but not called"],
        &[],
        None,
    );
    becomes(
        "x = a! + b!.c!.d![0]!(1); (y as any) = 1; (<any>z).q++; [w!] = v; ({ u: t as any } = r)",
        "x = a  + b .c .d [0] (1); (y       ) = 1; (     z).q++; [w ] = v; ({ u: t        } = r)",
    );
    becomes(
        "tag<string>`x${y as any}`; new Map<string, Array<Map<string, number>>>(); f<T>?.(x); a?.b!<T>()",
        "tag        `x${y       }`; new Map                                    (); f   ?.(x); a?.b    ()",
    );
    becomes("let x = y as {\n  a: number\n}\n[1].map(f)", "let x = y;    \n           \n \n[1].map(f)");
    becomes("let x = (y as any)\n(z)", "let x = (y       )\n(z)");
    becomes("let z = x satisfies any\n`a`", "let z = x;             \n`a`");
    becomes_with("let a = 1; a satisfies number", "let a = 1; a                 ", &[], &[], Some("a"));
    becomes("\"use strict\"; let a: number = 010", "\"use strict\"; let a         = 010");
    becomes("const a = b as const, c = <const>[\"x\"]", "const a = b         , c =        [\"x\"]");
    becomes("let x = y as\n  T\n  + 1", "let x = y   \n   \n  + 1");
    becomes("if (x as any) (y)", "if (x       ) (y)");
    becomes("f(x as any,\n(b))", "f(x       ,\n(b))");
    becomes_with(
        "function f(a?, b?: number, c = 1 as any) {}",
        "function f(a , b         , c = 1       ) {};f",
        &["`f` is defined but not called"],
        &[],
        None,
    );
    becomes_with(
        "function f(this) {} function g(this: A) {} function h(this: A, ...b) {}",
        "function f(    ) {} function g(       ) {} function h(         ...b) {};h",
        &["`h` is defined but not called"],
        &[],
        None,
    );
    becomes(
        "label: for (const a of <any[]>b) { continue label }",
        "label: for (const a of        b) { continue label }",
    );
    becomes("using(x); let v = a satisfies B as C;", "using(x); let v = a                 ;");
    becomes("const { a, b: [c] }: { a: 1, b: [1] } = x", "const { a, b: [c] }                   = x");
    becomes("let a = /* x */ 1 as /* y */ any // z", "let a = /* x */ 1                // z");
    becomes_with("/* c */ type A = 1 // d\n/* e */ (f)", "/* c */ ;          // d\n/* e */ (f)", &[], &[], Some("f"));
    becomes_with(
        "async function* f<T>(x: T): AsyncGenerator<T> { yield* x as any }",
        "async function* f   (x   )                    { yield* x        };f",
        &["`f` is defined but not called"],
        &[],
        None,
    );
}

#[test]
fn lines_and_columns_stay() {
    becomes("interface A {\r\n  b: string;\r\n}\r\nnull.f();", "             \r\n            \r\n \r\nnull.f();");
    becomes("let a: number = 1\rb\r\rnull.f()", "let a         = 1\nb\n\nnull.f()");
    becomes("\u{feff}let a: number = 1", "let a         = 1");
    becomes("#!/usr/bin/env node\nlet a: number = 1", "#!/usr/bin/env node\nlet a         = 1");
    becomes_with(
        "a\u{2028}b; \"\u{2028}\"; `\u{2028}`; // c\u{2028}d",
        "a\nb; \"\u{2028}\"; `\u{2028}`; // c\nd",
        &[],
        &[],
        Some("d"),
    );
}

/// The place in the source of the `nth` place where the code has `text`.
fn original(source: &str, text: &str) -> (u32, u32) {
    let prepared = prepare(source).unwrap();
    let place = Place::of_offset(&prepared.code, prepared.code.find(text).unwrap());
    let Place { line, column } = prepared.positions.original(place);
    (line, column)
}

#[test]
fn places_are_those_of_the_source_r25() {
    assert_eq!(original("const one = 1;\nconst two = 2;\nnull.f();", "f("), (3, 6));
    assert_eq!(original("```ts\nlet a: Map<\"日本\", 1> = 1; null.f()\n```", "f("), (2, 31));
    assert_eq!(original("import { a as b } from \"m\"; null.f(b)", "f("), (1, 34));
    assert_eq!(original("import {\n  a,\n} from \"m\"; null.f(a)", "f("), (3, 18));
    assert_eq!(original("enum E { A, B = x.y } null.f()", "x.y"), (1, 17));
    assert_eq!(original("enum E { A, B = x.y } null.f()", "f("), (1, 28));
    assert_eq!(original("await import(\"a\"); null.f()", "f("), (1, 25));
    assert_eq!(original("x\n{ \"a\": null.f(), b }", "f("), (2, 13));
    assert_eq!(original("let t: 1\n{ \"a\": null.f(), b }", "f("), (2, 13));
    assert_eq!(original("{ a: null.f() }", "f("), (1, 11));
    assert_eq!(original("a\u{2028}b\u{2029}null.f()\nnull.g()", "f("), (1, 10));
    assert_eq!(original("a\u{2028}b\u{2029}null.f()\nnull.g()", "g("), (2, 6));
    assert_eq!(original("class A { constructor(private x = 1) { null.f() } }", "f("), (1, 45));
    assert_eq!(original("export default () => null.f()", "f("), (1, 27));
}

#[test]
fn every_token_that_stays_keeps_its_place() {
    let source = "interface P<T> { a?: T }\nabstract class Q<T> extends R<T> implements S {\n  private readonly x: Map<\"é𝒳\", T> = new Map<string, T>();\n  \
        m?<U>(this: Q<T>, u?: U, ...v: U[]): u is U { return (u as unknown)! satisfies U }\n}\ndeclare const w: number;\n\
        const z = async <T,>(x: T): Promise<T> => <T>x; z<number>(1);";
    let code = prepare(source).unwrap().code;
    let places = |text: &str| -> Vec<(usize, usize, char)> {
        text.lines()
            .enumerate()
            .flat_map(|(line, text)| text.chars().enumerate().map(move |(column, c)| (line, column, c)))
            .filter(|(_, _, c)| *c != ' ')
            .collect()
    };
    let before = places(source);
    assert!(places(&code).iter().all(|place| before.contains(place)));
    assert_eq!(code.lines().count(), source.lines().count());
}

#[test]
fn strange_spaces_become_plain_ones() {
    becomes("foo(\u{200b}1,\u{85}\"\u{200b}\")", "foo( 1, \"\u{200b}\")");
}

#[test]
fn modules_keep_imports_and_exports() {
    let source = "import a, { type B, C, D } from \"m\";\nimport type { E } from \"n\";\nimport { F } from \"o\";\nimport \"p\";\n\
        export { type G, a as h } from \"q\";\nexport * from \"m\";\nexport const i: C = D(await import(\"r\", {}));\nexport default a;\nexport { type J, i };";
    let prepared = prepare_module(source).unwrap();
    let expected = "import a, {            D } from \"m\";\n                           \n                      \nimport \"p\";\n\
        export {         a as h } from \"q\";\nexport * from \"m\";\nexport const i    = D(await $import(\"r\"    ));\nexport default a;\nexport {         i };";
    assert_eq!(prepared.code, expected);
    assert_eq!(prepared.imports, ["m", "p", "q"]);
    assert_eq!(prepare_module("{ a: 1 }").unwrap().code, "{ a: 1 }");
    assert_eq!(prepare_module("export const a = ;").unwrap_err().message, "unexpected `;`");
}

#[test]
fn enums_are_known_in_their_scope_only() {
    becomes(
        "enum A { B = 1 }\n{ enum A { B = 2 }\nenum C { D = A.B } f(); }\nenum E { F = A.B, G = C.D }",
        "const A = (A => { A[A[\"B\"] = 1] = \"B\"; return A; })({});\n\
        { const A = (A => { A[A[\"B\"] = 2] = \"B\"; return A; })({});\nconst C = (C => { C[C[\"D\"] = 2] = \"D\"; return C; })({}); f(); }\n\
        const E = (E => { E[E[\"F\"] = 1] = \"F\";  E[E[\"G\"] = C.D] = \"G\"; return E; })({});",
    );
}
