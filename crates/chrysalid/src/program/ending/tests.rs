#![expect(clippy::too_many_lines, reason = "a list of cases")]

use super::super::tests::{becomes, becomes_with, is_refused};

#[test]
fn objects_at_the_end_r21() {
    becomes("const a = 1;\n{ \"a\": a, \"b\": 2 }", "const a = 1;\n;({ \"a\": a, \"b\": 2 })");
    becomes("{ a: 1 }", "({ a: 1 })");
    becomes("{}", "({})");
    becomes("{ let x = 1; x }", "{ let x = 1; x }");
    becomes("{ f() }", "{ f() }");
    becomes("const a = 1\n{ a, b: 2 };", "const a = 1\n;({ a, b: 2 });");
    is_refused("if (x) { \"a\": 1, \"b\": 2 }", "expected the end of the statement but found `:`", None, (1, 13));
    is_refused(
        "const f = (x) => { \"a\": 1, \"b\": 2 }",
        "expected the end of the statement but found `:`",
        None,
        (1, 23),
    );
    becomes("return { a: 1 }", "return { a: 1 }");
    becomes("x = 1\n{ \"a\": x, b() { return 1 } }", "x = 1\n;({ \"a\": x, b() { return 1 } })");
    becomes("{ a: 1 };\n// done", "({ a: 1 });\n// done");
    becomes("{ f() {} }", "({ f() {} })");
    becomes("const x = 1; { x, y: [1, 2] }", "const x = 1; ;({ x, y: [1, 2] })");
    is_refused(
        "if (a) b\nelse\n{ \"a\": 1, \"b\": 2 }",
        "expected the end of the statement but found `:`",
        None,
        (3, 6),
    );
    is_refused("if (x)\n{ \"a\": 1, \"b\": 2 }", "expected the end of the statement but found `:`", None, (2, 6));
    is_refused("function f()\n{ \"a\": 1, \"b\": 2 }", "expected the end of the statement but found `:`", None, (2, 6));
    becomes("label: { a: 1 }", "label: { a: 1 }");
    becomes("{ a: await f(), b: 2 }", "({ a: await f(), b: 2 })");
    becomes("{ \"a\": 1, \"b\": 2 }; // done", "({ \"a\": 1, \"b\": 2 }); // done");
    becomes("foo(); { ...a, \"b\": [1, { c: 2 }] }", "foo(); ;({ ...a, \"b\": [1, { c: 2 }] })");
    becomes(
        "const t: number = 1;\n{ \"t\": t, \"u\": t as any }",
        "const t         = 1;\n;({ \"t\": t, \"u\": t        })",
    );
    is_refused("for (;;) { \"a\": 1, \"b\": 2 }", "expected the end of the statement but found `:`", None, (1, 15));
    is_refused("try { \"a\": 1, \"b\": 2 }", "expected the end of the statement but found `:`", None, (1, 10));
    is_refused("x = () =>\n{ \"a\": 1, \"b\": 2 }", "expected the end of the statement but found `:`", None, (2, 6));
    becomes("let a = 1\n{ a }", "let a = 1\n;({ a })");
    is_refused("{ \"a\": 1, b: } ", "expected the end of the statement but found `:`", None, (1, 6));
}

#[test]
fn objects_behind_comments_are_no_arguments() {
    let head = "const f = () => 1\nf() // ok;\n";
    becomes(&format!("{head}{{ a: 1 }}"), &format!("{head};({{ a: 1 }})"));
    becomes(&format!("{head}{{ r, n: 1 }}"), &format!("{head};({{ r, n: 1 }})"));
    becomes("f()\ntype A = 1;\n{ a: 1 }", "f()\n           \n;({ a: 1 })");
    becomes("\"use strict\"\n{ a: 1 }", "\"use strict\"\n;({ a: 1 })");
    becomes("f(); // ok\n{ a: 1 }", "f(); // ok\n({ a: 1 })");
}

#[test]
fn objects_with_a_cast() {
    becomes("{ a: 1 } as const", "({ a: 1 })         ");
    becomes("f()\n{ a: 1, b } satisfies { a: number };", "f()\n;({ a: 1, b })                        ;");
    becomes("const x = { a: 1 } as const\n{ x, n: 1 }", "const x = { a: 1 }         \n;({ x, n: 1 })");
    is_refused("if (c) { a: 1 } as const", "expected the end of the statement but found `const`", None, (1, 20));
}

#[test]
fn functions_at_the_end_r19() {
    becomes_with(
        "async function main(){ return 6; }",
        "async function main(){ return 6; };main",
        &["`main` is defined but not called"],
        &[],
        None,
    );
    becomes_with(
        "const main = async () => { return 1 };",
        "const main = async () => { return 1 };;main",
        &["`main` is defined but not called"],
        &[],
        None,
    );
    becomes_with(
        "async () => { return 5 }",
        "async () => { return 5 }",
        &["the function is defined but not called"],
        &[],
        None,
    );
    becomes_with(
        "function f(){ return 1 } // c",
        "function f(){ return 1 };f // c",
        &["`f` is defined but not called"],
        &[],
        None,
    );
    becomes("f()\nfunction f() {}", "f()\nfunction f() {}");
    becomes_with("function g() {}", "function g() {};g", &["`g` is defined but not called"], &[], None);
    becomes_with(
        "(async () => { return 5 })",
        "(async () => { return 5 })",
        &["the function is defined but not called"],
        &[],
        None,
    );
    becomes("(async () => { return 5 })()", "(async () => { return 5 })()");
    becomes_with(
        "function named() {}\n",
        "function named() {};named\n",
        &["`named` is defined but not called"],
        &[],
        None,
    );
    becomes_with(
        "const f = function g() {};",
        "const f = function g() {};;f",
        &["`f` is defined but not called"],
        &[],
        None,
    );
    becomes("const a = 1, f = () => 1", "const a = 1, f = () => 1");
    becomes("if (a) {}\nfunction f() {}", "if (a) {}\nfunction f() {}");
    becomes("const r = await main();\nasync function main() {}", "const r = await main();\nasync function main() {}");
    becomes_with(
        "async function main() { return main }",
        "async function main() { return main };main",
        &["`main` is defined but not called"],
        &[],
        None,
    );
    becomes("class A {}", "class A {}");
    becomes_with("let x = 1; x", "let x = 1; x", &[], &[], Some("x"));
    becomes_with("(x)", "(x)", &[], &[], Some("x"));
    becomes_with("x;", "x;", &[], &[], Some("x"));
    becomes("x.y", "x.y");
    becomes("// only a comment", "// only a comment");
    becomes("const z = 3", "const z = 3");
    becomes("xs.map(async x => tools.echo(x))", "xs.map(async x => tools.echo(x))");
}
