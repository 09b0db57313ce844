use super::super::tests::becomes;

#[test]
fn types_that_nobody_compares_with() {
    becomes("JSON.parse<any>(\"1\")", "JSON.parse     (\"1\")");
    becomes("xs.reduce<number>((a,b)=>a+b, 0)", "xs.reduce        ((a,b)=>a+b, 0)");
    becomes("f<string>(1)", "f        (1)");
    becomes("await tools.x.list<Row>({ a: 1 })", "await tools.x.list     ({ a: 1 })");
    becomes("f<{ a: string }>(1); g<[a, b]>(2)", "f               (1); g        (2)");
    becomes("new Map<string, Point>([[1, 2]])", "new Map               ([[1, 2]])");
    becomes("f<\"a\" | null>(x)", "f            (x)");
    becomes("tag<string>`x`", "tag        `x`");
    becomes("class Row {}\nlist<Row>({ a: 1 })", "class Row {}\nlist     ({ a: 1 })");
    becomes("new Box<row>(1)", "new Box     (1)");
}

#[test]
fn what_may_be_a_comparison_is_one() {
    for source in [
        "f(a<b,c>(d))",
        "f(a < string, c > (d))",
        "f(a<MAX,b>(c))",
        "const MAX = 1; x = a<MAX>(b)",
        "function f(number) { return a<number>(b) }\nf(1)",
        "f<string> (1)",
        "f<string>(1); g(a<b,c>(d))",
        "a<1>(2)",
        "x = a<n.max>(b)",
        "for (let i = 0; i<n; i++) { if (x >(y)) z() }",
        "s = \"a<string>(b)\"",
    ] {
        becomes(source, source);
    }
}
