//! A hundred thousand levels of everything that nests, in every direction, on a thread with a small stack: an error by
//! name or a bounded value, and the session goes on.

#[path = "../src/program/tests/constructs.rs"]
mod constructs;

use chrysalid::{Capabilities, Capability, Decision, Ended, ErrorValue, Failure, FailureKind, Session, Value};

use crate::support::{ENGINE, Halt, World, id, text, with_limits};
use constructs::{CONSTRUCTS, TYPES};

const LEVELS: usize = 100_000;

fn on_a_small_stack(work: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(512 << 10);
        thread.spawn_scoped(scope, work).unwrap().join().unwrap();
    });
}

/// A session whose limits are out of the way, with the tools of the world and one that answers with a deep value.
fn session(world: &World, deep: fn() -> Value) -> Session {
    let deep = Capability::raw("deep", move |_, _| std::future::ready(Ok(deep())));
    let tools = Capabilities::new([deep, world.mirror(), world.gate()]).unwrap();
    let options = with_limits(|limits| {
        limits.source_size = 4 << 20;
        limits.argument_size = 64 << 20;
        limits.call_result_size = 64 << 20;
        limits.result_size = 64 << 20;
    });
    ENGINE.session_with(&tools, options).unwrap()
}

fn still_works(world: &World, session: &mut Session) {
    assert_eq!(world.run(session, "1 + 1").value(), Value::from(2));
}

// ---- as text of a program ----

/// How a program may end that nests so deep; anything else is printed as it is.
fn ending(ended: &Ended) -> String {
    match &ended.result {
        Ok(value) => format!("value {value}"),
        Err(Failure { kind: FailureKind::Exception, name, message, .. }) if name == "SyntaxError" => message.clone(),
        Err(failure) => failure.to_string(),
    }
}

#[test]
fn program_text() {
    on_a_small_stack(|| {
        let world = World::new();
        let mut session = session(&world, || Value::Null);
        let types = TYPES.iter().map(|(open, close)| ("type X = ", *open, *close));
        let constructs = CONSTRUCTS.iter().map(|(open, close)| ("", *open, *close));
        let mut others = Vec::new();
        for (before, open, close) in types.chain(constructs) {
            for (middle, close) in [("1", close), ("", "")] {
                let source = format!("{before}{}{middle}{}", open.repeat(LEVELS), close.repeat(LEVELS));
                let ended = world.run(&mut session, &source).ended();
                let end = ending(&ended);
                if end != "nested deeper than 1000 levels" {
                    others.push(format!("{before}{open} {middle}{close}: {end}"));
                }
            }
        }
        assert_eq!(others, OTHER_ENDINGS);
        still_works(&world, &mut session);
    });
}

/// What is no nesting, or is refused for another reason first.
const OTHER_ENDINGS: &[&str] = &[];

// ---- as values of a program ----

/// `x` becomes a value of so many levels.
const NESTS: [(&str, &str); 8] = [
    ("arrays", "x = [x]"),
    ("objects", "x = { x }"),
    ("objects without a prototype", "x = { __proto__: null, x }"),
    ("map values", "x = new Map([[1, x]])"),
    ("map keys", "x = new Map([[x, 1]])"),
    ("sets", "x = new Set([x])"),
    ("causes", "x = new Error('e', { cause: x })"),
    ("errors in errors", "x = new AggregateError([x], 'e')"),
];

fn making(nest: &str) -> String {
    format!("Error.stackTraceLimit = 0; let x = 1; for (let i = 0; i < {LEVELS}; i++) {nest};")
}

#[test]
fn arguments() {
    on_a_small_stack(|| {
        let world = World::new();
        let mut session = session(&world, || Value::Null);
        for (name, nest) in NESTS {
            let failure = world.run(&mut session, &format!("{} await tools.mirror({{ x }})", making(nest))).failure();
            assert_eq!(failure.to_string(), "ArgumentTooLarge: arguments are deeper than 512 levels", "{name}");
            let caught = "try { await tools.mirror(x) } catch (e) { e.name }";
            assert_eq!(world.run(&mut session, caught).value(), text("ArgumentTooLarge"), "{name}");
        }
        assert_eq!(world.calls(), [""; 0]);
        still_works(&world, &mut session);
    });
}

#[test]
fn results_and_console_lines() {
    on_a_small_stack(|| {
        let world = World::new();
        let mut session = session(&world, || Value::Null);
        for ((name, nest), shown) in NESTS.iter().zip([
            "[ [ [ [ [ [Array] ] ] ] ] ]",
            "{ x: { x: { x: { x: { x: [Object] } } } } }",
            "{ x: { x: { x: { x: { x: [Object] } } } } }",
            "Map(1) { 1 => Map(1) { 1 => Map(1) { 1 => Map(1) { 1 => Map(1) { 1 => [Map] } } } } }",
            "Map(1) { Map(1) { Map(1) { Map(1) { Map(1) { [Map] => 1 } => 1 } => 1 } => 1 } => 1 }",
            "Set(1) { Set(1) { Set(1) { Set(1) { Set(1) { [Set] } } } } }",
            "",
            "",
        ]) {
            let ended = world.run(&mut session, &format!("{} console.log(x); x", making(nest))).ended();
            let value = ended.result.unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
            let line = &ended.logs[0].text;
            if shown.is_empty() {
                assert!(value.to_string().len() < 1000 && line.len() < 1000, "{name}: {value} {line}");
                assert_eq!(value.kind_name(), "Error", "{name}");
            } else {
                let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert_eq!((flat(&value.to_string()), flat(line)), ((*shown).to_owned(), (*shown).to_owned()), "{name}");
            }
            let ended = world.run(&mut session, "throw x").ended();
            let failure = ended.result.unwrap_err();
            assert_eq!(failure.kind, FailureKind::Exception, "{name}");
            assert!(failure.message.len() < 1000, "{name}: {}", failure.message);
        }
        still_works(&world, &mut session);
    });
}

// ---- as values of the host ----

const HOST_NESTS: [(&str, fn() -> Value); 6] = [
    ("arrays", || nested(|inner| Value::Array(vec![inner]))),
    ("objects", || nested(|inner| Value::Object([("x", inner)].into_iter().collect()))),
    ("maps", || nested(|inner| Value::Map(vec![(Value::Null, inner)]))),
    ("sets", || nested(|inner| Value::Set(vec![inner]))),
    ("causes", || {
        nested(|inner| {
            let mut error = ErrorValue::new("Error", "e");
            error.cause = Some(inner);
            error.into()
        })
    }),
    ("errors in errors", || {
        nested(|inner| {
            let mut error = ErrorValue::new("AggregateError", "e");
            error.errors = Some(vec![inner]);
            error.into()
        })
    }),
];

fn nested(around: fn(Value) -> Value) -> Value {
    (0..LEVELS).fold(Value::Null, |inner, _| around(inner))
}

#[test]
fn results_of_tools_and_answers() {
    on_a_small_stack(|| {
        for (name, make) in HOST_NESTS {
            let world = World::new();
            let mut session = session(&world, make);
            let failure = world.run(&mut session, "await tools.deep({})").failure();
            let refused = "value is 513 levels deep, more than 512";
            assert_eq!(failure.to_string(), format!("ResultTooLarge: result of deep: {refused}"), "{name}");
            world.run(&mut session, "await tools.gate({})").waits();
            for decision in [Decision::Respond(make()), Decision::Edit(make())] {
                let error = session.decide(id("2.2"), decision).unwrap_err();
                assert_eq!(error.to_string(), format!("call 2.2: {refused}"), "{name}");
            }
            assert!(matches!(world.decide(&mut session, "2.2", Decision::Approve), Halt::Ended(_)), "{name}");
            still_works(&world, &mut session);
        }
    });
}

#[test]
fn the_host_walks_any_depth() {
    on_a_small_stack(|| {
        for (name, make) in HOST_NESTS {
            let value = make();
            assert!(value == value.clone(), "{name}");
            assert!(value.to_string().len() < 1000, "{name}");
            assert!(format!("{value:?}").len() > LEVELS, "{name}");
            assert_eq!(value.to_json().unwrap_err().to_string(), "value is deeper than 512 levels", "{name}");
            assert!(chrysalid::from_value::<serde_json::Value>(value).is_err(), "{name}");
        }
    });
}

// ---- as JSON text and built-ins in the guest ----

#[test]
fn json_and_built_ins_of_the_guest() {
    on_a_small_stack(|| {
        let world = World::new();
        let mut session = session(&world, || Value::Null);
        let stack = "RangeError: Maximum call stack size exceeded";
        let deep = making("x = [x]");
        for (source, end) in [
            (format!("JSON.parse('['.repeat({LEVELS}) + ']'.repeat({LEVELS}))"), stack),
            (format!("JSON.parse('{{\"a\":'.repeat({LEVELS}) + '1' + '}}'.repeat({LEVELS}))"), stack),
            (format!("{deep} JSON.stringify(x)"), stack),
            (format!("{deep} JSON.stringify({{ toJSON() {{ return x }} }})"), stack),
            (format!("{deep} structuredClone(x)"), "DataCloneError: the value is nested deeper than 1000 levels"),
            (format!("{deep} String(x)"), stack),
            (format!("{deep} x.flat(Infinity)"), stack),
            (format!("new RegExp('('.repeat({LEVELS}) + ')'.repeat({LEVELS}))"), stack),
            (format!("eval('('.repeat({LEVELS}) + '1' + ')'.repeat({LEVELS}))"), stack),
            (format!("new Function('return ' + '['.repeat({LEVELS}) + ']'.repeat({LEVELS}))"), stack),
            (format!("console.log('%j', x = (() => {{ {deep} return x }})()); 'logged'"), "value 'logged'"),
        ] {
            let ended = world.run(&mut session, &source).ended();
            let end_here = match &ended.result {
                Ok(value) => format!("value {value}"),
                Err(failure) => failure.to_string(),
            };
            assert_eq!(end_here, end, "{source}");
        }
        still_works(&world, &mut session);
    });
}
