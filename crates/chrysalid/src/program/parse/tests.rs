use super::super::tests::{becomes, becomes_with};
use super::*;

#[test]
fn the_first_reading_that_fits_is_taken() {
    becomes("f(a < b, c > (d))", "f(a < b, c > (d))");
    becomes("with (o) { x }", "with (o) { x }");
    becomes_with("var o = 010; o", "var o = 010; o", &[], &[], Some("o"));
    becomes("await f(0755)", "await f(0755)");
    becomes_with("var await = 1; await", "var await = 1; await", &[], &[], Some("await"));
    becomes("f<T>(x)", "f   (x)");
    becomes("x = a<b>(c)", "x = a<b>(c)");
    becomes_with("a as b", "a     ", &[], &[], Some("a"));
    becomes_with("<!-- old comment\nx", "<!-- old comment\nx", &[], &[], Some("x"));
    becomes("return 1", "return 1");
    becomes("for await (const x of y) {}", "for await (const x of y) {}");
    becomes("yield = 1", "yield = 1");
    becomes("let x: any = <any>y", "let x      =      y");
    becomes("delete x", "delete x");
    becomes_with("var yield = 1; yield", "var yield = 1; yield", &[], &[], Some("yield"));
}

#[test]
fn the_error_of_the_reading_that_got_furthest_is_told() {
    let arena = Allocator::new();
    let error = parse(&arena, "let x: number = 1;\nlet y = ;", PROGRAM).map(|parsed| parsed.reading).unwrap_err();
    assert_eq!(error, ParseError { message: "Unexpected token".to_owned(), at: 27, opened_at: None });
}

#[test]
fn an_arena_that_grew_is_not_kept() {
    let capacity = || with_arena(Allocator::capacity);
    with_arena(|arena| parse(arena, &"a;".repeat(100_000), PROGRAM).map(|_| ()).is_ok());
    assert!(capacity() <= KEPT_BYTES);
    with_arena(|arena| parse(arena, &"a;".repeat(100), PROGRAM).map(|_| ()).is_ok());
    assert!(capacity() > 0);
}
