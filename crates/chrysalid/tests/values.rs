//! Values across the border, in both directions and of every type.

use chrysalid::{BigInt, Decision, ErrorValue, RegExp, TypedArray, TypedArrayKind, Value};
use serde_json::json;

use crate::support::{World, eval, json, list, object, session, text};

fn bytes(kind: TypedArrayKind, bytes: &[u8]) -> Value {
    Value::TypedArray(TypedArray { kind, bytes: bytes.into() })
}

fn regexp(source: &str, flags: &str) -> Value {
    Value::from(RegExp { source: source.into(), flags: flags.into() })
}

fn big(text: &str) -> Value {
    Value::BigInt(text.parse::<BigInt>().unwrap())
}

/// Source of a value, the value, and what a program must find true of it as `v`.
#[expect(clippy::too_many_lines, reason = "a table")]
fn every_type() -> Vec<(&'static str, Value, &'static str)> {
    use TypedArrayKind as Kind;
    vec![
        ("undefined", Value::Undefined, "v === undefined"),
        ("null", Value::Null, "v === null"),
        ("true", Value::from(true), "v === true"),
        ("false", Value::from(false), "v === false"),
        ("0", Value::from(0), "Object.is(v, 0)"),
        ("-0", Value::from(-0.0), "Object.is(v, -0)"),
        ("NaN", Value::from(f64::NAN), "Object.is(v, NaN)"),
        ("Infinity", Value::from(f64::INFINITY), "v === Infinity"),
        ("-Infinity", Value::from(f64::NEG_INFINITY), "v === -Infinity"),
        ("1.5", Value::from(1.5), "v === 1.5"),
        ("-2147483648", Value::from(i32::MIN), "v === -(2 ** 31)"),
        ("2147483648", Value::from(2_147_483_648.0), "v === 2 ** 31"),
        ("2 ** 53", Value::from(9_007_199_254_740_992.0), "v === 2 ** 53"),
        ("5e-324", Value::from(5e-324), "v === 5e-324"),
        ("0n", big("0"), "v === 0n"),
        ("-1n", big("-1"), "v === -1n"),
        ("2n ** 63n + 1n", big("9223372036854775809"), "v === 2n ** 63n + 1n"),
        ("-(10n ** 60n)", big(&format!("-1{}", "0".repeat(60))), "v === -(10n ** 60n)"),
        ("''", text(""), "v === ''"),
        ("'a\\0b\\u{1F600}é'", text("a\0b😀é"), "v === 'a\\0b\\u{1F600}é'"),
        ("'a\\ud800b'", text("a\u{FFFD}b"), "v === 'a\\ufffdb'"),
        ("'\\udc00\\ud800'", text("\u{FFFD}\u{FFFD}"), "v === '\\ufffd\\ufffd'"),
        (
            "new Uint8Array([1, 2, 3]).buffer",
            Value::ArrayBuffer(vec![1, 2, 3]),
            "v instanceof ArrayBuffer && new Uint8Array(v).join() === '1,2,3'",
        ),
        ("new ArrayBuffer(0)", Value::ArrayBuffer(vec![]), "v instanceof ArrayBuffer && v.byteLength === 0"),
        ("new Int8Array([-1, 2])", bytes(Kind::Int8, &[255, 2]), "v instanceof Int8Array && v.join() === '-1,2'"),
        ("new Uint8Array([9])", bytes(Kind::Uint8, &[9]), "v instanceof Uint8Array && v[0] === 9"),
        (
            "new Uint8Array([0, 1, 2, 3]).subarray(1, 3)",
            bytes(Kind::Uint8, &[1, 2]),
            "v.join() === '1,2' && v.buffer.byteLength === 2",
        ),
        (
            "new Uint8ClampedArray([300])",
            bytes(Kind::Uint8Clamped, &[255]),
            "v instanceof Uint8ClampedArray && v[0] === 255",
        ),
        ("new Int16Array([-2])", bytes(Kind::Int16, &[254, 255]), "v instanceof Int16Array && v[0] === -2"),
        ("new Uint16Array([513])", bytes(Kind::Uint16, &[1, 2]), "v instanceof Uint16Array && v[0] === 513"),
        ("new Int32Array([-1])", bytes(Kind::Int32, &[255; 4]), "v instanceof Int32Array && v[0] === -1"),
        (
            "new Uint32Array([2 ** 32 - 1])",
            bytes(Kind::Uint32, &[255; 4]),
            "v instanceof Uint32Array && v[0] === 2 ** 32 - 1",
        ),
        ("new BigInt64Array([-1n])", bytes(Kind::BigInt64, &[255; 8]), "v instanceof BigInt64Array && v[0] === -1n"),
        (
            "new BigUint64Array([1n])",
            bytes(Kind::BigUint64, &[1, 0, 0, 0, 0, 0, 0, 0]),
            "v instanceof BigUint64Array && v[0] === 1n",
        ),
        ("new Float16Array([1.5])", bytes(Kind::Float16, &[0, 0x3e]), "v instanceof Float16Array && v[0] === 1.5"),
        (
            "new Float32Array([1.5])",
            bytes(Kind::Float32, &1.5f32.to_le_bytes()),
            "v instanceof Float32Array && v[0] === 1.5",
        ),
        (
            "new Float64Array([-0])",
            bytes(Kind::Float64, &(-0.0f64).to_le_bytes()),
            "v instanceof Float64Array && Object.is(v[0], -0)",
        ),
        (
            "new DataView(new ArrayBuffer(2))",
            bytes(Kind::DataView, &[0, 0]),
            "v instanceof DataView && v.byteLength === 2",
        ),
        ("new Date(86400000)", Value::Date(86_400_000.0), "v instanceof Date && v.getTime() === 86400000"),
        ("new Date(NaN)", Value::Date(f64::NAN), "v instanceof Date && Number.isNaN(v.getTime())"),
        (
            "/a\\/b[c]/giu",
            regexp("a\\/b[c]", "giu"),
            "v instanceof RegExp && v.source === 'a\\\\/b[c]' && v.flags === 'giu' && v.test('A/BC')",
        ),
        ("new RegExp('a/b\\n')", regexp("a\\/b\\n", ""), "v.test('a/b\\n')"),
        ("new RegExp('')", regexp("(?:)", ""), "v instanceof RegExp && v.test('')"),
        ("[]", list([]), "Array.isArray(v) && v.length === 0"),
        (
            "[1, 'a', null, undefined]",
            list([1.into(), text("a"), Value::Null, Value::Undefined]),
            "v.length === 4 && v[3] === undefined && 3 in v",
        ),
        (
            "[1, , 3, ,]",
            list([1.into(), Value::Hole, 3.into(), Value::Hole]),
            "v.length === 4 && !(1 in v) && !(3 in v) && v[2] === 3",
        ),
        ("({})", object([]), "Object.getPrototypeOf(v) === Object.prototype && Object.keys(v).length === 0"),
        (
            "({ a: 2, b: 1, 1: 3 })",
            object([("1", 3.into()), ("a", 2.into()), ("b", 1.into())]),
            "v.b === 1 && v[1] === 3 && v.a === 2",
        ),
        ("Object.assign(Object.create(null), { x: 1 })", object([("x", 1.into())]), "v.x === 1"),
        (
            "new Map([['k', 1], [{ o: 2 }, new Map()]])",
            Value::Map(vec![(text("k"), 1.into()), (object([("o", 2.into())]), Value::Map(vec![]))]),
            "v instanceof Map && v.get('k') === 1 && [...v.keys()][1].o === 2",
        ),
        (
            "new Set([1, '1', NaN])",
            Value::Set(vec![1.into(), text("1"), f64::NAN.into()]),
            "v instanceof Set && v.has(1) && v.has('1') && v.has(NaN) && v.size === 3",
        ),
        ("new Number(5)", Value::from(5), "v === 5"),
        ("Object('boxed')", text("boxed"), "v === 'boxed'"),
        (
            "(() => { const s = { n: 1 }; return [s, s] })()",
            list([object([("n", 1.into())]), Value::Ref(REF)]),
            "v[0] === v[1] && v[0].n === 1",
        ),
        (
            "(() => { const c = { d: {} }; c.d.up = c; return c })()",
            object([("d", object([("up", Value::Ref(CYCLE))]))]),
            "v.d.up === v",
        ),
        (
            "(() => { const m = new Map(); m.set('self', m); return m })()",
            Value::Map(vec![(text("self"), Value::Ref(CYCLE))]),
            "v.get('self') === v",
        ),
    ]
}

/// The wrapping argument is object 0, so the list is 1 and its first element 2.
const REF: u32 = 2;
const CYCLE: u32 = 1;

#[test]
fn every_type_reaches_a_tool_and_comes_back() {
    let world = World::new();
    let mut session = world.session_with(crate::support::with_limits(|limits| limits.calls = 1000));
    for (source, value, check) in every_type() {
        let pause =
            world.run(&mut session, &format!("const {{ v }} = await tools.gate({{ v: {source} }}); {check}")).paused();
        let expected = object([("v", value)]);
        assert_eq!(pause.pending[0].argument, expected, "{source} as an argument");
        session.decide(pause.pending[0].id, Decision::Respond(expected)).unwrap();
        assert_eq!(world.drive(&mut session).value(), Value::from(true), "{source} as an answer");
    }
}

#[test]
fn every_type_is_a_result() {
    for (source, value, _) in every_type() {
        let got = eval(&mut session(), &format!("({{ v: {source} }})"));
        assert_eq!(got, object([("v", value)]), "{source}");
    }
}

#[test]
fn errors_keep_name_message_stack_cause_and_errors() {
    let world = World::new();
    let mut session = world.session();
    let source = "const e = new TypeError('t', { cause: new RangeError('r') });
        const a = new AggregateError([e, 5], 'all'); const own = new Error('o'); own.name = 'Own';
        const r = await tools.mirror({ e, a, own });
        [
            r.e instanceof TypeError, r.e.message, r.e.stack === e.stack, r.e.cause instanceof RangeError, r.e.cause.message,
            r.a.name, r.a.errors.length, r.a.errors[0] === r.e, r.a.errors[1], r.own.name, r.own instanceof Error,
            Object.keys(r.e).length,
        ]";
    assert_eq!(
        world.run(&mut session, source).value(),
        json(json!([true, "t", true, true, "r", "AggregateError", 2, true, 5, "Own", true, 0]))
    );
}

#[test]
fn an_error_that_the_host_made_is_an_error_of_the_language() {
    let world = World::new();
    let mut session = world.session();
    let program =
        "const e = await tools.gate({}); [e instanceof RangeError, e instanceof Error, `${e}`, e.cause, e.stack]";
    let pause = world.run(&mut session, program).paused();
    let mut error = ErrorValue::new("RangeError", "far");
    error.cause = Some(Value::from(3));
    session.decide(pause.pending[0].id, Decision::Respond(error.into())).unwrap();
    assert_eq!(world.drive(&mut session).value(), json(json!([true, true, "RangeError: far", 3, "RangeError: far"])));
}

#[test]
fn four_hundred_nested_objects_both_ways() {
    let world = World::new();
    let mut session = world.session();
    let source = "let deep = { end: true }; for (let i = 0; i < 400; i++) deep = { deep };
        let r = await tools.mirror({ deep }), n = 0; r = r.deep; while (r.deep) { r = r.deep; n++ } [n, r.end]";
    assert_eq!(world.run(&mut session, source).value(), json(json!([400, true])));
    let value = eval(
        &mut crate::support::session(),
        "let deep = { end: true }; for (let i = 0; i < 400; i++) deep = [deep]; deep",
    );
    let mut at = &value;
    let mut levels = 0;
    while let Some(inner) = at.as_array() {
        at = &inner[0];
        levels += 1;
    }
    assert_eq!((levels, at.get("end")), (400, Some(&Value::from(true))));
}

#[test]
fn deeper_than_the_limit_is_an_error_in_every_direction() {
    let world = World::new();
    let mut session = world.session();
    let deep = "let deep = {}; for (let i = 0; i < N; i++) deep = { deep };";
    for levels in ["600", "100000"] {
        let source = format!("{} await tools.mirror({{ deep }})", deep.replace('N', levels));
        let failure = world.run(&mut session, &source).failure();
        assert_eq!(failure.to_string(), "ArgumentTooLarge: arguments are deeper than 512 levels");
        let value = world.run(&mut session, &format!("{} deep", deep.replace('N', levels))).value();
        let shown = "{ deep: { deep: { deep: { deep: { deep: [Object] } } } } }";
        assert_eq!(value.to_string(), shown, "the deepest of a result is left out");
        let mut at = &value;
        let mut depth = 0;
        while let Some(inner) = at.get("deep") {
            (at, depth) = (inner, depth + 1);
        }
        assert_eq!((depth, at), (512, &Value::Description("[...]".into())));
    }
    let mut too_deep = Value::Null;
    for _ in 0..600 {
        too_deep = list([too_deep]);
    }
    let pause = world.run(&mut session, "await tools.gate({})").paused();
    let refused = session.decide(pause.pending[0].id, Decision::Respond(too_deep)).unwrap_err();
    assert_eq!(refused.to_string(), format!("call {}: value is 513 levels deep, more than 512", pause.pending[0].id));
}

#[test]
fn what_cannot_cross_names_its_path() {
    let world = World::new();
    let mut session = world.session();
    for (argument, message) in [
        ("() => 1", "argument: a function cannot cross"),
        ("{ a: [1, { b: function f() {} }] }", "argument.a[1].b: a function cannot cross"),
        ("{ s: Symbol('x') }", "argument.s: a symbol cannot cross"),
        ("{ p: Promise.resolve(1) }", "argument.p: a promise cannot cross, await it first"),
        (
            "{ deep: { er: [new (class Point { x = 1 })()] } }",
            "argument.deep.er[0]: an instance of Point cannot cross, pass a plain object",
        ),
        ("{ w: new WeakMap() }", "argument.w: an instance of WeakMap cannot cross, pass a plain object"),
        ("{ m: new Map([[1, () => 1]]) }", "argument.m[0]: a function cannot cross"),
        ("{ c: class A {} }", "argument.c: a function cannot cross"),
        ("{ g: (function* () {})() }", "argument.g: an instance of Generator cannot cross, pass a plain object"),
        ("{ e: new Error('x', { cause: () => 1 }) }", "argument.e.cause: a function cannot cross"),
    ] {
        let failure = world.run(&mut session, &format!("await tools.mirror({argument})")).failure();
        assert_eq!(failure.to_string(), format!("TypeError: {message}"), "{argument}");
    }
    assert_eq!(world.calls(), [""; 0]);
}

#[test]
fn what_cannot_cross_is_described_in_a_result() {
    for (source, description) in [
        ("() => 1", "[Function (anonymous)]"),
        ("function named() {}; named", "[Function: named]"),
        ("(class A {})", "[class A]"),
        ("(class {})", "[class (anonymous)]"),
        ("async function main() {}; main", "[AsyncFunction: main]"),
        ("function* each() {}; each", "[GeneratorFunction: each]"),
        ("Symbol('x')", "Symbol(x)"),
        ("[new Promise(() => {})]", "Promise { <pending> }"),
        ("globalThis", "[globalThis]"),
        ("new WeakMap()", "[WeakMap]"),
        ("new Proxy({ a: 1 }, {})", "Proxy { ... }"),
        ("(function* g() {})()", "[Generator]"),
    ] {
        let value = eval(&mut session(), source);
        let value = value.as_array().map_or(&value, |items| &items[0]);
        assert_eq!(value, &Value::Description(description.to_owned()), "{source}");
    }
}

#[test]
fn shared_values_do_not_grow_on_the_way() {
    // Each level names the one below twice: 2^60 leaves if it were written out.
    let source = "let d = { leaf: 1 }; for (let i = 0; i < 60; i++) d = [d, d]; d";
    let value = eval(&mut session(), source);
    assert!(value.to_string().len() < 100_000);
    let world = World::new();
    let mut session = world.session();
    let source =
        "let d = { leaf: 1 }; for (let i = 0; i < 60; i++) d = [d, d]; let r = (await tools.mirror({ d })).d, n = 0;
        while (Array.isArray(r)) { if (r[0] !== r[1]) throw new Error('not shared'); r = r[0]; n++ } [n, r.leaf]";
    assert_eq!(world.run(&mut session, source).value(), json(json!([60, 1])));
}

#[test]
fn many_small_objects_cross() {
    let world = World::new();
    let mut session = world.session();
    let source = "const rows = Array.from({ length: 10000 }, (_, i) => ({ i, t: 't' + i }));
        const back = (await tools.mirror({ rows })).rows; [back.length, back[9999].t, back.every((r, i) => r.i === i)]";
    assert_eq!(world.run(&mut session, source).value(), json(json!([10000, "t9999", true])));
}

#[test]
fn numbers_of_the_host_become_what_the_language_can_hold() {
    let world = World::new();
    let mut session = world.session();
    for (value, check) in [
        (Value::from(i64::MAX), "v === 9223372036854775807n"),
        (Value::from(1u64 << 53), "v === 2 ** 53"),
        (Value::from((1u64 << 53) + 1), "v === 2n ** 53n + 1n"),
        (Value::from(i128::MIN), "v === -(2n ** 127n)"),
        (Value::from(()), "v === undefined"),
        (Value::from(None::<i32>), "v === null"),
    ] {
        let pause = world.run(&mut session, &format!("const v = await tools.gate({{}}); {check}")).paused();
        session.decide(pause.pending[0].id, Decision::Respond(value)).unwrap();
        assert_eq!(world.drive(&mut session).value(), Value::from(true), "{check}");
    }
}

#[test]
fn an_answer_with_a_broken_part_is_refused_and_not_delivered() {
    let world = World::new();
    let mut session = world.session();
    let pause = world.run(&mut session, "await tools.gate({})").paused();
    let call = pause.pending[0].id;
    for (value, message) in [
        (Value::Hole, "hole outside an array"),
        (Value::Ref(0), "reference to object 0 where only 0 have begun"),
        (list([Value::Ref(7)]), "reference to object 7 where only 1 have begun"),
        (bytes(TypedArrayKind::Int32, &[1, 2, 3]), "typed array of 3 bytes is not whole elements of 4 bytes"),
    ] {
        let refused = session.decide(call, Decision::Respond(value)).unwrap_err();
        assert_eq!(refused.to_string(), format!("call {call}: {message}"));
    }
    // A pattern that the engine cannot compile is only known inside: the call fails, and does not hang.
    session.decide(call, Decision::Respond(regexp("(", ""))).unwrap();
    assert_eq!(world.drive(&mut session).failure().name, "SyntaxError");
}

#[test]
fn keys_of_an_argument_are_in_canonical_order_and_those_of_a_result_as_they_were_made() {
    let world = World::new();
    let mut session = world.session();
    let value = world.run(&mut session, "const o = { b: 1, a: 2 }; [o, await tools.mirror(o)]").value();
    assert_eq!(value.to_string(), "[ { b: 1, a: 2 }, { a: 2, b: 1 } ]");
}
