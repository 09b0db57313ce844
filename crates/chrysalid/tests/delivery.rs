//! Results that are not delivered as values: kept on the host behind a handle, or declassified by a narrow schema.

use std::time::Duration;

use chrysalid::{
    Approval, Capabilities, Capability, Decision, Delivery, Effects, ErrorKind, Handle, Heap, Limits, Restore,
    RuleOfTwo, Session, SessionOptions, ToolError, Value,
};
use serde_json::json;

use crate::support::{
    BOTH, ENGINE, World, builder, eval, fresh_engine, id, json, list, met, reasons, record, ruled, shown, text,
    with_limits,
};

const SECRET: &str = "code word swordfish";

/// `budget.read` keeps its result behind a handle; `rsvps.list` is untrusted, `mail.send` acts, `mirror` does nothing.
fn cards(world: &World) -> Vec<Capability> {
    vec![
        world.answering("budget.read", text(SECRET)).effects(Effects::PRIVATE).delivery(Delivery::Handle),
        world.answering("rsvps.list", text("hello")).effects(Effects::UNTRUSTED),
        world.answering("mail.send", text("sent")).effects(Effects::ACTS),
        world.mirror().effects(Effects::NONE),
        world.gate().effects(Effects::NONE),
    ]
}

fn tools(world: &World) -> Capabilities {
    Capabilities::new(cards(world)).unwrap()
}

fn session(world: &World) -> Session {
    ENGINE.session(&tools(world)).unwrap()
}

fn held(id: u32) -> Handle {
    Handle::new(id, "budget.read")
}

/// The program's errors, as `name: message`.
fn ends(world: &World, session: &mut Session, source: &str) -> Value {
    let source = format!("try {{ {source} }} catch (e) {{ `${{e.name}}: ${{e.message}}` }}");
    world.run(session, &source).value()
}

// ---- handles ----

#[test]
fn the_value_stays_with_the_host() {
    let world = World::new();
    let mut session = session(&world);
    let source = "const h = await tools.budget.read();
const tries = [() => h.length, () => h + '', () => JSON.stringify(h), () => h[0], () => [...h], () => structuredClone(h) === h, () => eval('h.x')];
console.log(h);
const ends = tries.map(f => { try { return String(f()) } catch (e) { return e.name } });
ends.push(typeof h, Object.prototype.toString.call(h));
({ ends, h })";
    let ended = world.run(&mut session, source).ended();
    assert_eq!(ended.logs[0].text, "[handle 1 of budget.read]");
    let value = ended.result.unwrap();
    let ends = ["TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "true", "TypeError"];
    let ends: Vec<Value> = ends.into_iter().chain(["object", "[object Handle]"]).map(text).collect();
    assert_eq!(value.get("ends"), Some(&Value::Array(ends)));
    assert_eq!(value.get("h"), Some(&Value::from(held(1))));
    assert_eq!(session.handle_value(&held(1)), Some(text(SECRET)));
    assert_eq!(session.handle_value(&held(2)), None);
    assert_eq!(met(&session), [""; 0]);
}

#[test]
fn a_tool_gets_the_value_and_a_person_sees_it() {
    for way in BOTH {
        let world = World::new();
        let mut session = session(&world);
        let source = "await tools.rsvps.list();
const h = await tools.budget.read();
await tools.mail.send({ to: 'x@example.test', parts: [h, { again: h }] })";
        let pause = world.run(&mut session, source).paused();
        let argument = format!("{{\n  parts: [ '{SECRET}', {{ again: '{SECRET}' }} ],\n  to: 'x@example.test'\n}}");
        assert_eq!(shown(&pause), [format!("1.3 mail.send {argument}")]);
        assert_eq!(
            reasons(&pause.pending[0]),
            [
                "rule of two: rsvps.list (call 1.1, line 1) brought untrusted content; this call passes on private data and acts on the world"
            ]
        );
        assert_eq!(pause.pending[0].effects, Effects::PRIVATE | Effects::ACTS);
        assert_eq!(met(&session), ["untrusted by rsvps.list (call 1.1, line 1)"]);

        let mut session = way.pass(session, &tools(&world));
        assert_eq!(session.pending(), pause.pending);
        assert_eq!(world.decide(&mut session, "1.3", Decision::Approve).value(), text("sent"));
        assert_eq!(world.calls().last().unwrap(), &format!("mail.send {argument}"));
        assert_eq!(
            met(&session),
            [
                "untrusted by rsvps.list (call 1.1, line 1)",
                "private by mail.send (call 1.3, line 3)",
                "acts by mail.send (call 1.3, line 3)",
            ]
        );
    }
}

#[test]
fn what_a_tool_gives_back_of_it_is_met() {
    let world = World::new();
    let mut session = session(&world);
    let source = "const h = await tools.budget.read(); (await tools.mirror({ h })).h";
    assert_eq!(world.run(&mut session, source).value(), text(SECRET));
    assert_eq!(met(&session), ["private by mirror (call 1.2, line 1)"]);
}

#[test]
fn reveal_gives_the_value_for_the_effects() {
    for way in BOTH {
        let world = World::new();
        let mut session = session(&world);
        let source = "const h = await tools.budget.read(); await tools.gate(); await reveal(h)";
        world.run(&mut session, source).waits();
        let mut session = way.pass(session, &tools(&world));
        assert_eq!(world.decide(&mut session, "1.2", Decision::Approve).value(), text(SECRET));
        assert_eq!(met(&session), ["private by reveal of budget.read (call 1.3, line 1)"]);
        assert_eq!(record(&session), ["1.1 budget.read completed", "1.2 gate completed", "1.3 $reveal completed"]);
    }
}

#[test]
fn strict_mode_asks_before_it_reveals() {
    let strict = || builder().rule_of_two(RuleOfTwo::Strict).build().unwrap();
    let source = "await tools.rsvps.list(); await tools.mail.send(); const h = await tools.budget.read();
try { await reveal(h) } catch (e) { `${e.name}: ${e.message}` }";
    let cases = [
        (Decision::Approve, SECRET, true),
        (Decision::Reject(Some("no".to_owned())), "ToolRejected: $reveal was rejected: no", false),
    ];
    for way in BOTH {
        for (decision, end, brings) in cases.clone() {
            let world = World::new();
            let mut session = strict().session(&tools(&world)).unwrap();
            let pause = world.run(&mut session, source).paused();
            assert_eq!(shown(&pause), ["1.4 $reveal [handle 1 of budget.read]"]);
            assert_eq!(
                reasons(&pause.pending[0]),
                [
                    "rule of two: rsvps.list (call 1.1, line 1) brought untrusted content; mail.send (call 1.2, line 1) acted on the world; this call reads private data"
                ]
            );
            let allowed: Vec<_> = pause.pending[0].allowed.iter().map(|kind| kind.name()).collect();
            assert_eq!(allowed, ["approve", "reject"]);
            let mut session = way.pass_into(session, &tools(&world), SessionOptions::default(), strict);
            let refused = session.decide(id("1.4"), Decision::Respond(text("x"))).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::DecisionNotAllowed);
            assert_eq!(world.decide(&mut session, "1.4", decision).value(), text(end));
            assert_eq!(session.taint().effects().contains(Effects::PRIVATE), brings);
        }
    }
}

#[test]
fn rules_may_deny_to_reveal() {
    let rules = "[[rules]]\ntools = '$reveal'\ndecision = 'deny'\nreason = 'nothing is revealed'\n";
    let world = World::new();
    let mut session = ruled(rules).session(&tools(&world)).unwrap();
    let end = ends(&world, &mut session, "await reveal(await tools.budget.read())");
    assert_eq!(end, text("Denied: $reveal: \"nothing is revealed\" (policy line 1)"));
    assert_eq!(met(&session), [""; 0]);
    assert_eq!(record(&session), ["1.1 budget.read completed", "1.2 $reveal denied"]);
}

#[test]
fn a_later_denial_of_a_reveal_wins() {
    let strict = || builder().rule_of_two(RuleOfTwo::Strict).build().unwrap();
    let world = World::new();
    let mut session = strict().session(&tools(&world)).unwrap();
    let source = "await tools.rsvps.list(); await tools.mail.send(); const h = await tools.budget.read();
try { await reveal(h) } catch (e) { `${e.name}: ${e.message}` }";
    world.run(&mut session, source).waits();
    let rules = "[[rules]]\ntools = '$reveal'\ndecision = 'deny'\nreason = 'nothing is revealed'\n";
    let image = session.snapshot().unwrap();
    let mut session = ruled(rules).restore(&image, &tools(&world), Restore::Resume).unwrap();
    let value = world.decide(&mut session, "1.4", Decision::Approve).value();
    assert_eq!(value, text("Denied: $reveal: \"nothing is revealed\" (policy line 1)"));
    assert!(!session.taint().effects().contains(Effects::PRIVATE));
}

#[test]
fn calls_that_wait_to_reveal_are_bounded_with_the_others() {
    let mut limits = Limits::default();
    limits.pending_approvals = 2;
    let mut options = SessionOptions::default();
    options.limits = Some(limits);
    let world = World::new();
    let engine = builder().rule_of_two(RuleOfTwo::Strict).build().unwrap();
    let mut session = engine.session_with(&tools(&world), options).unwrap();
    let source = "await tools.rsvps.list(); await tools.mail.send(); const h = await tools.budget.read();
const all = [reveal(h), reveal(h), reveal(h)];
try { await all[2] } catch (e) { console.log(e.message) }
await Promise.allSettled(all)";
    let pause = world.run(&mut session, source).paused();
    assert_eq!(pause.pending.len(), 2);
    assert_eq!(pause.logs[0].text, "reveal: 2 calls wait for a person already");
}

#[test]
fn that_an_argument_does_not_fit_says_nothing_of_what_a_handle_holds() {
    let world = World::new();
    let schema = json!({ "type": "object", "properties": { "to": { "type": "string", "maxLength": 5 } } });
    let more = world.answering("short", Value::Null).effects(Effects::ACTS).input_schema(schema);
    let tools = Capabilities::new(cards(&world).into_iter().chain([more])).unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    let end = ends(&world, &mut session, "await tools.short({ to: await tools.budget.read() })");
    assert_eq!(end, text("ToolInputError: short: does not take what a handle in its argument holds"));
    assert_eq!(met(&session), ["private by short, which does not take what a handle holds"]);
    // Without a handle it says what is wrong.
    let end = ends(&world, &mut session, "await tools.short({ to: 'longer than five' })");
    let Value::String(end) = &end else { panic!("{end}") };
    assert!(end.contains("\"to\""), "{end}");
}

#[test]
fn one_handle_in_many_places_is_as_large_as_all_of_them() {
    let world = World::new();
    let large = world.answering("budget.all", text(&"s".repeat(1 << 18))).effects(Effects::PRIVATE);
    let tools = Capabilities::new(cards(&world).into_iter().chain([large.delivery(Delivery::Handle)])).unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    let source = "const h = await tools.budget.all(); globalThis.kept = h; (await tools.mirror({ list: [h, h, h] })).list.length";
    assert_eq!(world.run(&mut session, source).value(), Value::from(3));
    let mut session = ENGINE.session(&tools).unwrap();
    for count in [5, 40_000] {
        let source = format!(
            "globalThis.kept ??= await tools.budget.all(); await tools.mail.send({{ list: Array({count}).fill(kept) }})"
        );
        let end = ends(&world, &mut session, &source);
        assert_eq!(end, text("ArgumentTooLarge: mail.send: what its handles hold is larger than 1048576 bytes"));
    }
    assert_eq!(met(&session), ["private by mail.send, which does not take as much as a handle holds"]);
}

#[test]
fn errors_of_a_tool_that_keeps_its_results_say_nothing() {
    let world = World::new();
    let failing = |name: &str, error| world.failing(name, error).effects(Effects::PRIVATE).delivery(Delivery::Handle);
    let odd =
        world.answering("odd", Value::Description(SECRET.into())).effects(Effects::PRIVATE).delivery(Delivery::Handle);
    let tools =
        Capabilities::new([failing("no", ToolError::new(SECRET)), failing("later", ToolError::retryable(SECRET)), odd])
            .unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    let source = "const ends = []; for (const name of ['no', 'later', 'odd']) await tools[name]().catch(e => ends.push([e.name, e.message, e.retryable])); ends";
    let hidden = |name: &str, retryable: bool| {
        list([
            text("ToolError"),
            text(&format!("{name} failed; its result is not for the program to read")),
            retryable.into(),
        ])
    };
    let odd = [text("ResultTooLarge"), text("result of odd: it is too large, or cannot be passed on"), false.into()];
    assert_eq!(world.run(&mut session, source).value(), list([hidden("no", false), hidden("later", true), list(odd)]));
    assert_eq!(met(&session), [""; 0]);
}

#[test]
fn handles_of_nobody_are_refused() {
    let world = World::new();
    let forged = Capability::raw("forge", |_, _| std::future::ready(Ok(Value::from(Handle::new(99, "budget.read")))));
    let tools = Capabilities::new(cards(&world).into_iter().chain([forged.effects(Effects::NONE)])).unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    for (source, end) in [
        (
            "await tools.mirror({ h: await tools.forge() })",
            "ToolInputError: mirror: handle 99 is not one of this session",
        ),
        ("await reveal(await tools.forge())", "ToolInputError: handle 99 is not one of this session"),
        ("await reveal(1)", "TypeError: reveal takes one handle; got a number"),
        ("await reveal()", "TypeError: reveal takes one handle; got nothing"),
        ("await reveal([await tools.budget.read()])", "TypeError: reveal takes one handle; got an array"),
        ("await reveal({ $handle: 1 })", "TypeError: reveal takes one handle; got an object"),
    ] {
        assert_eq!(ends(&world, &mut session, source), text(end), "{source}");
    }
    assert_eq!(met(&session), [""; 0]);
}

#[test]
fn a_program_that_gets_no_handles_has_no_reveal() {
    let world = World::new();
    assert_eq!(world.run(&mut world.session(), "typeof reveal").value(), text("undefined"));
    assert_eq!(world.run(&mut session(&world), "typeof reveal").value(), text("function"));
}

#[test]
fn handles_go_through_snapshots_and_into_forks() {
    let world = World::new();
    let mut session = session(&world);
    world.run(&mut session, "globalThis.h = await tools.budget.read(); 0").value();
    let image = session.snapshot().unwrap();
    for restore in [Restore::Resume, Restore::Fork] {
        let mut session = fresh_engine().restore(&image, &tools(&world), restore).unwrap();
        assert_eq!(session.handle_value(&held(1)), Some(text(SECRET)));
        assert_eq!(world.run(&mut session, "(await tools.mirror({ h })).h").value(), text(SECRET));
        assert_eq!(met(&session), ["private by mirror (call 2.2, line 1)"]);
        // And the next one has a number of its own.
        assert_eq!(world.run(&mut session, "await tools.budget.read()").value(), Value::from(held(2)));
    }
    // Another session has no such handle.
    let mut other = ENGINE.session(&tools(&world)).unwrap();
    assert_eq!(other.handle_value(&held(1)), None);
    assert_eq!(eval(&mut other, "typeof reveal"), text("function"));
}

#[test]
fn a_handle_that_is_gone_is_forgotten() {
    let world = World::new();
    let mut session = session(&world);
    let source = "globalThis.kept = await tools.budget.read();
{ const lost = await tools.budget.read(); const cycle = { lost }; cycle.own = cycle }
globalThis.list = [await tools.budget.read()]; await tools.budget.read(); 0";
    world.run(&mut session, source).value();
    let there = |session: &Session| (1..=4).filter(|id| session.handle_value(&held(*id)).is_some()).collect::<Vec<_>>();
    let found = there(&session);
    assert!(found.contains(&1) && found.contains(&3) && !found.contains(&4), "{found:?}");
    world.run(&mut session, "list.length = 0; globalThis.gc?.(); 0").value();
    assert_eq!(world.run(&mut session, "(await tools.mirror({ kept })).kept").value(), text(SECRET));
    let found = there(&session);
    assert!(found.contains(&1) && !found.contains(&3), "{found:?}");
    let mut session = crate::support::moved(session, &tools(&world));
    world.run(&mut session, "globalThis.kept = null").value();
    assert!(!there(&session).contains(&1));
}

#[test]
fn what_the_host_keeps_behind_handles_is_bounded() {
    let world = World::new();
    let large =
        world.answering("large", text(&"s".repeat(1 << 20))).effects(Effects::PRIVATE).delivery(Delivery::Handle);
    let tools = Capabilities::new([large]).unwrap();
    let options = || {
        with_limits(|limits| {
            limits.host_memory = 4 << 20;
            limits.cpu_time = Duration::from_millis(100);
        })
    };
    let mut session = ENGINE.session_with(&tools, options()).unwrap();
    let source = "globalThis.kept = []; const ends = []; for (let i = 0; i < 6; i++) await tools.large().then(h => kept.push(h), e => ends.push(e.name + ': ' + e.message)); [kept.length, ends]";
    let error = "ResultTooLarge: result of large: it is too large, or cannot be passed on";
    assert_eq!(
        world.run(&mut session, source).value(),
        list([Value::from(3), list([text(error), text(error), text(error)])])
    );
    world.run(&mut session, "kept.length = 0").value();
    assert_eq!(world.run(&mut session, "typeof await tools.large()").value(), text("object"));

    // A heap that is put back takes the handles of its program along.
    let mut session = ENGINE.session_with(&tools, options()).unwrap();
    for _ in 0..5 {
        let ended = world.run(&mut session, "globalThis.h = await tools.large(); new Array(1e9).join()").ended();
        assert_eq!(ended.heap, Heap::Reset);
    }
    world.run(&mut session, "globalThis.before = await tools.large(); 0").value();
    let ended = world.run(&mut session, "globalThis.h = await tools.large(); new Array(1e9).join()").ended();
    assert_eq!(ended.heap, Heap::Reset);
    assert!(session.handle_value(&Handle::new(6, "large")).is_some());
    assert_eq!(session.handle_value(&Handle::new(7, "large")), None);
}

#[test]
fn a_person_may_edit_and_answer_what_stays_on_the_host() {
    let world = World::new();
    let asked = world.answering("budget.ask", text(SECRET)).effects(Effects::PRIVATE).delivery(Delivery::Handle);
    let tools = Capabilities::new([asked.approval(Approval::Ask), world.mirror().effects(Effects::NONE)]).unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    world.run(&mut session, "globalThis.kept = await tools.budget.ask({ year: 1 })").waits();
    let value = world.decide(&mut session, "1.1", Decision::Respond(text("told"))).value();
    let handle = Handle::new(1, "budget.ask");
    assert_eq!(value, Value::from(handle.clone()));
    assert_eq!(session.handle_value(&handle), Some(text("told")));
    world.run(&mut session, "await tools.budget.ask({ year: 1 })").waits();
    let edit = Decision::Edit(json(json!({ "year": 2 })));
    assert_eq!(world.decide(&mut session, "2.2", edit).value(), Value::from(Handle::new(2, "budget.ask")));
    assert_eq!(world.calls(), ["budget.ask { year: 2 }"]);
}

// ---- declassified ----

fn count_schema() -> serde_json::Value {
    json!({ "type": "object", "required": ["n"], "properties": {
        "n": { "type": "integer", "minimum": 0, "maximum": 9 },
        "day": { "type": "string", "format": "date" },
    } })
}

/// Of 10 numbers, a day that may be missing, and failure: as many bits.
const BITS: u32 = 29;

fn counting(world: &World, answer: Value) -> Capability {
    let count = world.answering("count", answer).effects(Effects::PRIVATE | Effects::UNTRUSTED);
    count.output_schema(count_schema()).delivery(Delivery::Declassified)
}

fn bits(bits: u32) -> SessionOptions {
    with_limits(|limits| limits.declassified_bits = bits)
}

#[test]
fn a_declassified_result_brings_nothing_and_has_one_form() {
    for way in BOTH {
        let world = World::new();
        let tools = Capabilities::new([
            counting(&world, json(json!({ "day": "2026-11-30", "n": 3 }))),
            world.gate().effects(Effects::NONE),
        ])
        .unwrap();
        let mut session = ENGINE.session(&tools).unwrap();
        world
            .run(&mut session, "await tools.gate(); const r = await tools.count(); [Object.keys(r).join(), r.n, r.day]")
            .waits();
        let mut session = way.pass(session, &tools);
        let value = world.decide(&mut session, "1.1", Decision::Approve).value();
        assert_eq!(value, list([text("n,day"), Value::from(3), text("2026-11-30")]));
        assert_eq!(met(&session), [""; 0]);
        assert_eq!(session.ledger().declassified_bits, u64::from(BITS));
    }
}

#[test]
fn what_does_not_fit_and_what_an_error_says_is_hidden() {
    let world = World::new();
    for answer in [json!({ "n": 3, "note": SECRET }), json!({ "n": SECRET }), json!(SECRET)] {
        let mut session = ENGINE.session(&Capabilities::new([counting(&world, json(answer))]).unwrap()).unwrap();
        let end = ends(&world, &mut session, "await tools.count()");
        assert_eq!(end, text("ToolError: the result of count does not fit its output schema"));
        assert_eq!(met(&session), [""; 0]);
        assert_eq!(record(&session), ["1.1 count failed"]);
    }
    let failing = world.failing("count", ToolError::retryable(SECRET)).effects(Effects::PRIVATE);
    let failing = failing.output_schema(count_schema()).delivery(Delivery::Declassified);
    let mut session = ENGINE.session(&Capabilities::new([failing]).unwrap()).unwrap();
    let end = ends(&world, &mut session, "await tools.count()");
    assert_eq!(end, text("ToolError: count failed; its result is not for the program to read"));
}

#[test]
fn results_over_the_bits_of_a_session_count_as_read() {
    for way in BOTH {
        let world = World::new();
        let tools = Capabilities::new([counting(&world, json(json!({ "n": 3 })))]).unwrap();
        let options = || bits(2 * BITS + 1);
        let mut session = ENGINE.session_with(&tools, options()).unwrap();
        for program in 1..=2 {
            let ended = world.run(&mut session, "(await tools.count()).n").ended();
            assert_eq!((ended.result.unwrap(), ended.notes), (Value::from(3), vec![]), "{program}");
            session = way.pass_into(session, &tools, options(), fresh_engine);
        }
        assert_eq!(met(&session), [""; 0]);
        let ended = world.run(&mut session, "(await tools.count()).n").ended();
        assert_eq!(ended.result.unwrap(), Value::from(3));
        assert_eq!(
            ended.notes,
            ["count: the session's 59 bits of declassified results are used up: results count as read"]
        );
        let by = "by count (call 3.3, line 1)";
        assert_eq!(met(&session), [format!("private {by}"), format!("untrusted {by}")]);
        assert_eq!(session.ledger().declassified_bits, u64::from(2 * BITS));
    }
}

#[test]
fn a_tool_that_a_person_puts_in_place_of_another_takes_its_bits_too() {
    let world = World::new();
    let tools =
        Capabilities::new([counting(&world, json(json!({ "n": 3 }))), world.gate().effects(Effects::NONE)]).unwrap();
    for (most, told, effects) in [(BITS, BITS, Effects::NONE), (BITS - 1, 0, Effects::PRIVATE | Effects::UNTRUSTED)] {
        let mut session = ENGINE.session_with(&tools, bits(most)).unwrap();
        world.run(&mut session, "(await tools.gate()).n").waits();
        let edit = Decision::EditCall { name: "count".to_owned(), argument: json(json!({})) };
        assert_eq!(world.decide(&mut session, "1.1", edit).value(), Value::from(3));
        assert_eq!(session.ledger().declassified_bits, u64::from(told));
        assert_eq!(session.taint().effects(), effects);
    }
}

#[test]
fn one_that_acts_has_acted() {
    let world = World::new();
    let book = world.answering("book", json(json!({ "n": 1 }))).effects(Effects::ALL);
    let book = book.output_schema(count_schema()).delivery(Delivery::Declassified);
    let mut session = ENGINE.session(&Capabilities::new([book]).unwrap()).unwrap();
    let pause = world.run(&mut session, "(await tools.book()).n").paused();
    assert_eq!(reasons(&pause.pending[0]), ["rule of two: has all three effects"]);
    assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), Value::from(1));
    assert_eq!(met(&session), ["acts by book (call 1.1, line 1)"]);
}

#[test]
fn a_schema_that_lets_text_through_is_refused() {
    let world = World::new();
    let plain = || world.answering("count", Value::Null).delivery(Delivery::Declassified);
    for (capability, problem) in [
        (plain(), "it has no output schema"),
        (
            plain().output_schema(json!({ "type": "string" })),
            "output is free text: list its values in enum, or give format date or date-time",
        ),
    ] {
        let refused = Capabilities::new([capability]).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Capability);
        assert_eq!(refused.to_string(), format!("capability \"count\" cannot be declassified: {problem}"));
    }
}
