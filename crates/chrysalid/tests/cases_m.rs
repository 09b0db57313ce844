//! Values that programs return, print, pass to tools and get back: each row's exact outcome.

use std::time::{Duration, Instant};

use chrysalid::{Capabilities, Capability, Decision, FailureKind, Session, Value};
use serde_json::json;

use crate::cases_o::{noted, report};
use crate::support::{ENGINE, World, eval, fails, json, list, object, run, session, shown, text};

/// The tools of the world, `echo` and `show` by [`Value::part`], and what else the rows call.
fn session_of(world: &World) -> Session {
    let part = |argument: &Value| argument.part("v").unwrap_or_default();
    let tools = Capabilities::new([
        Capability::raw("echo", move |_, argument| std::future::ready(Ok(part(&argument)))),
        Capability::raw("show", move |_, argument| std::future::ready(Ok(text(&part(&argument).to_string())))),
        Capability::new("asJson", |argument: serde_json::Value| async move {
            Ok::<_, chrysalid::ToolError>(argument["v"].to_string())
        }),
        Capability::raw("bigint", |_, _| std::future::ready(Ok(Value::from((1u64 << 63) + 1)))),
        Capability::raw("deep", |_, _| std::future::ready(Ok(nested(100_000)))),
        Capability::raw("surrogate", |_, _| std::future::ready(Ok(text("\u{FFFD}")))),
        world.fail(),
        world.pay(),
        world.pay_gated(),
    ]);
    ENGINE.session(&tools.unwrap()).unwrap()
}

fn nested(levels: u32) -> Value {
    (0..levels).fold(object([]), |inner, _| object([("d", inner)]))
}

#[test]
fn m01_undefined_is_not_null() {
    let world = World::new();
    let mut session = session_of(&world);
    assert_eq!(world.run(&mut session, "undefined").value(), Value::Undefined);
    let expected = object([("a", Value::Undefined), ("b", list([Value::Undefined, 1.into()]))]);
    assert_eq!(world.run(&mut session, "({a: undefined, b: [undefined, 1]})").value(), expected);
    let source = "await tools.show({v: {a: undefined, b: [undefined], c: null}})";
    assert_eq!(world.run(&mut session, source).value(), text("{ a: undefined, b: [ undefined ], c: null }"));
    let source = source.replace("show", "asJson");
    assert_eq!(world.run(&mut session, &source).value(), text("{\"b\":[null],\"c\":null}"), "for a tool that takes JSON");
}

#[test]
fn m03_bigint_in_every_place() {
    let world = World::new();
    let mut session = session_of(&world);
    let source = "console.log(5n);\nconst r = {count: 12345678901234567890n, back: typeof (await tools.bigint())};   // tool returns 2**63+1\nr";
    assert_eq!(
        report(world.run(&mut session, source)),
        "<stdout>\n5n\n</stdout>\n<result>\n{ count: 12345678901234567890n, back: 'bigint' }\n</result>"
    );
    let source = "[await tools.show({v: 2n ** 64n}), (await tools.bigint()) === 2n ** 63n + 1n, await tools.echo({v: 2 ** 53})]";
    let expected = list([text("18446744073709551616n"), true.into(), 9_007_199_254_740_992.0.into()]);
    assert_eq!(world.run(&mut session, source).value(), expected);
}

#[test]
fn m04_date() {
    let world = World::new();
    let mut session = session_of(&world);
    assert_eq!(
        report(world.run(&mut session, "({at: new Date(86400000), bad: new Date(NaN)})")),
        "<result>\n{ at: 1970-01-02T00:00:00.000Z, bad: Invalid Date }\n</result>"
    );
    let source = "await tools.show({v: new Date(0)})";
    assert_eq!(world.run(&mut session, source).value(), text("1970-01-01T00:00:00.000Z"));
    let source = "await tools.asJson({v: new Date(0)})";
    assert_eq!(world.run(&mut session, source).value(), text("\"1970-01-01T00:00:00.000Z\""));
}

#[test]
fn m05_map_and_set() {
    let world = World::new();
    let mut session = session_of(&world);
    let source = "({m: new Map([[\"a\", 1], [{k: 1}, 2]]), s: new Set([1, 2, 2])})";
    assert_eq!(
        report(world.run(&mut session, source)),
        "<result>\n{ m: Map(2) { 'a' => 1, { k: 1 } => 2 }, s: Set(2) { 1, 2 } }\n</result>"
    );
    let source = "await tools.show({v: new Map([[\"a\", 1]])})";
    assert_eq!(world.run(&mut session, source).value(), text("Map(1) { 'a' => 1 }"));
    for (value, as_json) in [
        ("new Map([['a', 1]])", "{\"a\":1}"),
        ("new Set([1, 2])", "[1,2]"),
        ("new Map([[{k: 1}, 2]])", "[[{\"k\":1},2]]"),
    ] {
        let source = format!("await tools.asJson({{v: {value}}})");
        assert_eq!(world.run(&mut session, &source).value(), text(as_json), "{value}");
    }
}

#[test]
fn m07_a_circular_value() {
    let world = World::new();
    let mut session = session_of(&world);
    let circular = "<ref *1> { n: 1, kids: [ { up: [Circular *1] } ], self: [Circular *1] }";
    let source = "const o = {n: 1, kids: []}; o.self = o; o.kids.push({up: o}); o";
    assert_eq!(report(world.run(&mut session, source)), format!("<result>\n{circular}\n</result>"));
    let sorted = "<ref *1> { kids: [ { up: [Circular *1] } ], n: 1, self: [Circular *1] }";
    assert_eq!(world.run(&mut session, "await tools.show({v: o})").value(), text(sorted), "cycles cross");
    let source = "const back = await tools.echo({v: o}); [back.self === back, back.kids[0].up === back]";
    assert_eq!(world.run(&mut session, source).value(), json(json!([true, true])));
    let failure = world.run(&mut session, "await tools.asJson({v: o})").failure();
    assert_eq!(failure.to_string(), "ToolInputError: v.self: a cycle has no JSON form");
}

#[test]
fn m08_shared_is_not_circular() {
    let world = World::new();
    let mut session = session_of(&world);
    let source = "const cfg = {id: \"c\"}; ({a: cfg, b: cfg})";
    let expected = "{ a: { id: 'c' }, b: { id: 'c' } }";
    assert_eq!(report(world.run(&mut session, source)), format!("<result>\n{expected}\n</result>"));
    assert_eq!(world.run(&mut session, "await tools.show({v: {a: cfg, b: cfg}})").value(), text(expected));
    let source = "const back = await tools.echo({v: [cfg, {b: cfg}]}); [back[0] === back[1].b, back[0].id]";
    assert_eq!(world.run(&mut session, source).value(), json(json!([true, "c"])));
    let as_json = "{\"a\":{\"id\":\"c\"},\"b\":{\"id\":\"c\"}}";
    assert_eq!(world.run(&mut session, "await tools.asJson({v: {a: cfg, b: cfg}})").value(), text(as_json));
}

#[test]
fn m09_a_chain_of_diamonds_is_bounded() {
    let world = World::new();
    let mut session = session_of(&world);
    let start = Instant::now();
    let shown = report(world.run(&mut session, "let d = {leaf: 1}; for (let i = 0; i < 30; i++) d = {l: d, r: d}; d"));
    assert!(shown.len() < 8000 && shown.contains("[Object]"), "{shown}");
    let value = world.run(&mut session, "let r = await tools.echo({v: d}), n = 0; while (r.l) { if (r.l !== r.r) throw 1; r = r.l; n++ } n");
    assert_eq!(value.value(), Value::from(30), "it crosses as what it is: 31 objects");
    let failure = world.run(&mut session, "await tools.asJson({v: d})").failure();
    assert_eq!(failure.to_string(), "ToolInputError: value has more than 1000000 nodes");
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn m11_nul_inside_text() {
    let world = World::new();
    let mut session = session_of(&world);
    let source = "const s = \"a\\u0000b\"; [s.length, (await tools.echo({v: s})).length, await tools.show({v: s})].join()";
    assert_eq!(world.run(&mut session, source).value(), text("3,3,'a\\x00b'"));
    let source = "const k = await tools.echo({v: {[s]: s}}); [Object.keys(k)[0] === s, k[s] === s]";
    assert_eq!(world.run(&mut session, source).value(), json(json!([true, true])));
    assert_eq!(report(world.run(&mut session, "k")), "<result>\n{ 'a\\x00b': 'a\\x00b' }\n</result>");
    assert_eq!(report(world.run(&mut session, "console.log(s)")), "<stdout>\na\\x00b\n</stdout>");
    let source = "[typeof tools[`echo\\0x`], `echo\\0x` in tools, `echo\\0` in tools]";
    assert_eq!(world.run(&mut session, source).value(), json(json!(["undefined", false, false])));
}

#[test]
fn m12_a_lone_surrogate_beside_nul() {
    let world = World::new();
    let source = "const s = \"\\ud800\\u0000a\"; const r = await tools.echo({v: s}); r === s || r";
    assert_eq!(world.run(&mut session_of(&world), source).value(), text("\u{FFFD}\0a"));
}

#[test]
fn m13_deep_nesting_in_all_three_directions() {
    let world = World::new();
    let mut session = session_of(&world);
    for _ in 0..10 {
        let source = "let x = {}; for (let i = 0; i < 100000; i++) x = {x}; x";
        let shown = "<result>\n{ x: { x: { x: { x: { x: [Object] } } } } }\n</result>";
        assert_eq!(report(world.run(&mut session, source)), shown);
        let failure = world.run(&mut session, "await tools.show({v: x})").failure();
        assert_eq!(failure.to_string(), "ArgumentTooLarge: arguments are deeper than 512 levels");
        let failure = world.run(&mut session, "await tools.deep()          // host returns 100000 nested dicts").failure();
        assert_eq!(
            failure.to_string(),
            "ResultTooLarge: result of deep: value is 513 levels deep, more than 512"
        );
        assert_eq!(world.run(&mut session, "1 + 1").value(), Value::from(2));
    }
    let caught = "try { await tools.deep() } catch (e) { e.name }";
    assert_eq!(world.run(&mut session, caught).value(), text("ResultTooLarge"));
}

#[test]
fn m15_a_getter_that_never_ends_is_not_run() {
    let mut session = session();
    let start = Instant::now();
    let shown = "<stdout>\n{ a: [Getter] }\n</stdout>\n<result>\n{ a: [Getter] }\n</result>";
    assert_eq!(noted(run(&mut session, "const o = ({get a(){ for(;;) {} }}); console.log(o); o")), shown);
    assert_eq!(noted(run(&mut session, "({get a(){ for(;;) {} }})")), "<result>\n{ a: [Getter] }\n</result>");
    assert_eq!(eval(&mut session, "1 + 1"), Value::from(2));
    assert!(start.elapsed() < Duration::from_millis(1200));
}

#[test]
fn m16_a_getter_with_effects_runs_once_or_not_at_all() {
    let world = World::new();
    let mut session = session_of(&world);
    let shown = "<result>\n{ p: [Getter] }\n</result>";
    assert_eq!(report(world.run(&mut session, "({get p(){ return tools.pay({amount: 1}); }})")), shown);
    assert_eq!(world.paid(), [0.0; 0]);
    let source = "let z = 0; const q = {get v(){ return ++z; }}; await tools.echo(q); z";
    assert_eq!(world.run(&mut session, source).value(), Value::from(1));
}

#[test]
fn m17_proxies_are_not_walked() {
    let world = World::new();
    let mut session = session_of(&world);
    for source in [
        "new Proxy({}, {ownKeys(){ throw new Error(\"trap\"); }})",
        "const {proxy, revoke} = Proxy.revocable({}, {}); revoke(); proxy",
    ] {
        assert_eq!(report(world.run(&mut session, source)), "<result>\nProxy { ... }\n</result>", "{source}");
    }
    let source = "await tools.show({v: new Proxy({}, {ownKeys: () => Array.from({length: 1e6}, (_, i) => \"k\" + i), getOwnPropertyDescriptor: () => ({enumerable: true, configurable: true, value: 1})})})";
    let failure = world.run(&mut session, source).failure();
    assert_eq!(failure.to_string(), "TypeError: argument.v: a proxy cannot cross, pass a plain object");
}

#[test]
fn m19_an_error_as_a_value() {
    let world = World::new();
    let mut session = session_of(&world);
    let source = "({e: new Error(\"outer\", {cause: new TypeError(\"inner\")}), r: (await Promise.allSettled([tools.fail({msg: \"m\"})]))[0]})";
    assert_eq!(
        report(world.run(&mut session, source)),
        "<result>\n{\n  e: Error: outer\n      at <eval> (program-1.js:1:37) {\n    [cause]: TypeError: inner\n        at \
         <eval> (program-1.js:1:37)\n  },\n  r: { status: 'rejected', reason: [ToolError: m] }\n}\n</result>\n<calls>\n1 \
         failed\nfailed: 1.1 fail\n</calls>"
    );
    let source = "JSON.parse(await tools.asJson({v: new Error(\"outer\", {cause: new TypeError(\"inner\")})}))";
    let cause = json!({ "name": "TypeError", "message": "inner" });
    assert_eq!(
        world.run(&mut session, source).value(),
        json(json!({ "name": "Error", "message": "outer", "cause": cause }))
    );
}

#[test]
fn m20_anything_may_be_thrown() {
    for (source, headline) in [
        ("throw \"str\"", "Uncaught 'str'"),
        ("throw {code: 7}", "Uncaught { code: 7 }"),
        ("throw null", "Uncaught null"),
        ("throw {toString(){ throw 1; }}", "Uncaught { toString: [Function: toString] }"),
    ] {
        assert_eq!(noted(run(&mut session(), source)), format!("<error>\n{headline}\n</error>"), "{source}");
    }
    let source = "throw Object.assign(new Error(\"x\"), {code: 5, name: \"MyErr\"})";
    let failure = fails(&mut session(), source);
    assert_eq!((failure.kind, failure.to_string().as_str()), (FailureKind::Exception, "MyErr: x { code: 5 }"));
}

#[test]
fn m21_parts_and_causes_of_an_uncaught_error() {
    let world = World::new();
    let source = "await Promise.any([tools.fail({msg: \"one\"}), tools.fail({msg: \"two\"})])";
    let shown = report(world.run(&mut session_of(&world), source));
    let mut lines = shown.lines();
    assert_eq!((lines.next(), lines.next()), (Some("<error>"), Some("AggregateError")));
    assert!(shown.contains("\ncontains ToolError: one\ncontains ToolError: two\n</error>\n"), "{shown}");
    let mut causes = String::from("new Error('last')");
    for name in ["c", "b", "a"] {
        causes = format!("new Error('{name}', {{cause: {causes}}})");
    }
    let shown = noted(run(&mut session(), &format!("throw {causes}")));
    assert!(shown.starts_with("<error>\nError: a\n"), "{shown}");
    assert!(shown.ends_with("\ncaused by Error: b\n  caused by Error: c\n    caused by Error: last\n</error>"), "{shown}");
}

#[test]
fn m23_one_rule_for_to_json() {
    let world = World::new();
    let mut session = session_of(&world);
    let source = "await tools.pay({toJSON(){ return {amount: 1}; }, amount: 999})";
    let failure = world.run(&mut session, source).failure();
    assert_eq!(failure.to_string(), "TypeError: argument.toJSON: a function cannot cross");
    assert_eq!(world.paid(), [0.0; 0]);
    let source = "class A { constructor(n) { Object.defineProperty(this, 'toJSON', {value: () => ({amount: 1})}); this.amount = n } }
        await tools.payGated({...new A(999)})";
    let pause = world.run(&mut session, source).paused();
    assert_eq!(shown(&pause), ["2.1 payGated { amount: 999 }"]);
    world.decide(&mut session, "2.1", Decision::Approve).value();
    assert_eq!(world.paid(), [999.0]);
}

#[test]
fn m24_holes_null_prototypes_and_numeric_keys() {
    let world = World::new();
    let mut session = session_of(&world);
    let source = "console.log(Object.create(null)); ({h: [1, , 3], n: Object.assign(Object.create(null), {a: 1}), k: {1: \"x\", b: 2}})";
    assert_eq!(
        report(world.run(&mut session, source)),
        "<stdout>\n{}\n</stdout>\n<result>\n{ h: [ 1, <1 empty item>, 3 ], n: { a: 1 }, k: { '1': 'x', b: 2 } }\n</result>"
    );
    assert_eq!(world.run(&mut session, "await tools.asJson({v: [1, , 3]})").value(), text("[1,null,3]"));
    assert_eq!(world.run(&mut session, "await tools.show({v: [1, , 3]})").value(), text("[ 1, <1 empty item>, 3 ]"));
}

#[test]
fn m27_size_and_speed_of_the_bridge() {
    let world = World::new();
    let mut session = session_of(&world);
    let source = "const big = Array.from({length: 20000}, (_, i) => ({i, s: \"row\" + i}));\nconst t = Date.now(); const back = await tools.echo({v: big}); [back.length, Date.now() - t < 500].join()";
    assert_eq!(world.run(&mut session, source).value(), text("20000,true"));
    let source = "const many = Array.from({length: 100000}, (_, i) => i); many";
    let start = Instant::now();
    let shown = report(world.run(&mut session, source));
    assert!(shown.contains("... 99900 more items"), "{shown}");
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    let failure = world.run(&mut session, "await tools.echo({v: 'x'.repeat(8 << 20)})").failure();
    assert_eq!(failure.to_string(), "ArgumentTooLarge: arguments are larger than 1048576 bytes");
}
