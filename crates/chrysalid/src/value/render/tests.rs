//! Texts as people see them.

use super::super::{BigInt, Object, RegExp};
use super::*;

fn object(entries: Vec<(&str, Value)>) -> Value {
    Value::Object(entries.into_iter().collect::<Object>())
}

fn numbers(count: u32) -> Value {
    Value::Array((0..count).map(Value::from).collect())
}

#[test]
fn leaves_read_as_in_node() {
    let cases = [
        (Value::Undefined, "undefined"),
        (Value::Null, "null"),
        (Value::from(true), "true"),
        (Value::from(-0.0), "-0"),
        (Value::from(f64::NAN), "NaN"),
        (Value::from(BigInt::from(-12)), "-12n"),
        (Value::from("it's\n"), "\"it's\\n\""),
        (Value::ArrayBuffer(vec![1, 171]), "ArrayBuffer { <01 ab>, byteLength: 2 }"),
        (Value::from(TypedArray::uint8(vec![1, 2])), "Uint8Array(2) [ 1, 2 ]"),
        (
            Value::from(TypedArray { kind: TypedArrayKind::DataView, bytes: vec![0; 60] }),
            &format!("DataView {{ <{}... 10 more bytes>, byteLength: 60 }}", "00 ".repeat(50)),
        ),
        (Value::Date(0.0), "1970-01-01T00:00:00.000Z"),
        (Value::Date(f64::NAN), "Invalid Date"),
        (Value::from(RegExp { source: "a\n".into(), flags: "g".into() }), "/a\\n/g"),
        (Value::Description("[Function: f]".into()), "[Function: f]"),
        (Value::Ref(7), "[Object *7]"),
        (Value::from("1".repeat(2000).parse::<BigInt>().unwrap()), "0x33ce8a8f5d4d80e3adb8e17f6dbd59ca…n (6641 bits)"),
    ];
    for (value, expected) in cases {
        let text = render(&value, &Style::default());
        if expected.starts_with("0x") {
            assert!(text.starts_with("0x") && text.ends_with("…n (6641 bits)"), "{text}");
        } else {
            assert_eq!(text, expected);
        }
    }
}

#[test]
fn containers_read_as_in_node() {
    let holes = Value::Array(vec![Value::Hole, Value::Hole, Value::from(1), Value::Hole]);
    let cases = [
        (Value::Array(vec![]), "[]"),
        (object(vec![]), "{}"),
        (Value::Map(vec![]), "Map(0) {}"),
        (holes, "[ <2 empty items>, 1, <1 empty item> ]"),
        (object(vec![("a", Value::from("x")), ("b-c", Value::Null)]), "{ a: 'x', 'b-c': null }"),
        (Value::Map(vec![(Value::from("k"), Value::from(1))]), "Map(1) { 'k' => 1 }"),
        (Value::Set(vec![Value::from(1)]), "Set(1) { 1 }"),
        (Value::from(ErrorValue::new("TypeError", "no")), "[TypeError: no]"),
        (Value::from(ErrorValue::new("Error", "")), "[Error]"),
        (Value::Array(vec![Value::Array(vec![]), Value::Ref(1), Value::Ref(0)]), "<ref *1> [ [], [], [Circular *1] ]"),
    ];
    for (value, expected) in cases {
        assert_eq!(render(&value, &Style::default()), expected);
    }
}

#[test]
fn long_containers_break_into_lines() {
    let rows = (0..3).map(|id| object(vec![("id", Value::from(id)), ("name", Value::from("some quite long name"))]));
    let value = object(vec![("total", Value::from(3)), ("rows", Value::Array(rows.collect()))]);
    let expected = "\
{
  total: 3,
  rows: [
    { id: 0, name: 'some quite long name' },
    { id: 1, name: 'some quite long name' },
    { id: 2, name: 'some quite long name' }
  ]
}";
    assert_eq!(render(&value, &Style::default()), expected);
    let line = render(&value, &Style { layout: Layout::Line, ..Style::default() });
    assert!(line.starts_with("{ total: 3, rows: [ { id: 0, name: ") && !line.contains('\n'));
    assert_eq!(
        render(&numbers(30), &Style::default()),
        "[\n  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,\n  21, 22, 23, 24, 25, 26, 27, 28, 29\n]"
    );
}

#[test]
fn errors_show_stack_cause_and_errors() {
    let mut error = ErrorValue::new("Error", "outer");
    error.stack = Some("    at main (program:1:7)\n".into());
    error.cause = Some(Value::from(ErrorValue::new("RangeError", "inner")));
    error.errors = Some(vec![Value::from(1)]);
    let value = object(vec![("error", Value::from(error))]);
    let expected = "\
{
  error: Error: outer
      at main (program:1:7) {
    [cause]: [RangeError: inner],
    [errors]: [ 1 ]
  }
}";
    assert_eq!(render(&value, &Style::default()), expected);
    assert_eq!(
        render(&value, &Style { layout: Layout::Line, ..Style::default() }),
        "{ error: [Error: outer] { [cause]: [RangeError: inner], [errors]: [ 1 ] } }"
    );
}

#[test]
fn depth_width_text_and_length_are_bounded() {
    let nested = (0..9).fold(Value::from(1), |inner, _| object(vec![("a", inner)]));
    assert_eq!(render(&nested, &Style { depth: 2, ..Style::default() }), "{ a: { a: [Object] } }");
    assert_eq!(render(&numbers(5), &Style { items: 3, ..Style::default() }), "[ 0, 1, 2, ... 2 more items ]");
    let text = Value::from("x".repeat(12));
    assert_eq!(render(&text, &Style { text: 10, ..Style::default() }), "'xxxxxxxxxx'... 2 more characters");
    let text = render(&numbers(100_000), &Style { items: usize::MAX, bytes: 100, ..Style::default() });
    assert!(text.len() <= 100 && text.ends_with('…'), "{text}");
}

#[test]
fn billion_laughs_and_deep_values_end_soon() {
    let mut value = Value::Array(vec![Value::from(1)]);
    for level in (0..40).rev() {
        value = Value::Array(vec![value, Value::Ref(level + 1)]);
    }
    let style = Style { depth: usize::MAX, ..Style::default() };
    assert!(render(&value, &style).len() <= style.bytes);
    let deep = (0..100_000).fold(Value::from(1), |inner, _| Value::Array(vec![inner]));
    assert!(render(&deep, &style).len() <= style.bytes);
}

#[test]
fn console_lines_show_strings_bare() {
    let line = |items: Vec<Value>| console_line(&Value::Array(items), &Style::default());
    assert_eq!(line(vec![]), "");
    assert_eq!(line(vec![Value::from("a\nb"), Value::from(1), numbers(2)]), "a\nb 1 [ 0, 1 ]");
    assert_eq!(line(vec![numbers(1), Value::Ref(1)]), "[ 0 ] [ 0 ]");
    assert_eq!(line(vec![Value::from("\u{1b}[31mred")]), "\\x1b[31mred");
    let long = line(vec![Value::from("x".repeat(1 << 20)), Value::from("y")]);
    assert!(long.len() <= 16 << 10 && long.ends_with('…'));
}
