//! Calls: the order of checks, budgets, queues, the rule of two, and how arguments are read.

use std::collections::BTreeSet;
use std::time::Duration;

use chrysalid::{
    Brought, CallStatus, Capabilities, Capability, Decision, Effects, Engine, ErrorKind, Reason, RuleOfTwo,
    SessionOptions, Step, Value,
};
use serde_json::json;

use crate::support::{
    ENGINE, Way, World, builder, id, json, moved, record, shown, status, step, step_to_calls, text, with_limits,
};

// ---- the order of checks ----

#[test]
fn a_call_that_is_refused_before_the_budget_spends_none() {
    let world = World::new();
    let schema = json!({ "type": "object", "properties": { "v": { "type": "integer" } }, "required": ["v"] });
    let tools = Capabilities::new([world.echo().input_schema(schema), world.pay()]).unwrap();
    let options = with_limits(|limits| {
        limits.calls = 2;
        limits.argument_size = 1000;
    });
    let mut session = ENGINE.session_with(&tools, options).unwrap();
    let source = "const failed = p => p.then(v => v, e => `${e.name}: ${e.message}`);
        [
            await failed(tools.echo({ v: 'x' })),
            await failed(tools.echo({ v: 'x'.repeat(2000) })),
            await failed(tools.echo({ v: 1 }, { v: 2 })),
            await failed(tools.echo({ v: () => 1 })),
            await failed(tools.echo({ v: 7 })),
            await failed(tools.echo({ v: 8 })),
            await failed(tools.echo({ v: 9 })),
        ]";
    assert_eq!(
        world.run(&mut session, source).value(),
        json(json!([
            "ToolInputError: echo: \"v\" must be an integer, got a string",
            "ArgumentTooLarge: arguments are larger than 1000 bytes",
            "TypeError: echo takes one object; got 2 arguments",
            "TypeError: argument.v: a function cannot cross",
            7,
            8,
            "CallBudgetExceeded: echo: this program may make 2 calls and has made them",
        ]))
    );
    assert_eq!(world.calls(), ["echo { v: 7 }", "echo { v: 8 }"]);
    // The budget is for one program.
    assert_eq!(world.run(&mut session, "await tools.echo({ v: 9 })").value(), Value::from(9));
}

#[test]
fn an_unknown_tool_is_unavailable_and_is_not_a_call_of_the_budget() {
    let world = World::new();
    let mut session = ENGINE.session_with(&world.tools(), with_limits(|limits| limits.calls = 4)).unwrap();
    world.run(&mut session, "globalThis.old = tools.echo").value();
    session.set_capabilities(&Capabilities::new([world.pay()]).unwrap());
    let source = "const r = []; for (let i = 0; i < 3; i++) r.push(await old({v: i}).catch(e => [e.name, e.message, e.tool, e.code])); r.push((await tools.pay({amount: 1})).n); r";
    let refused = json!(["ToolUnavailable", "tools.echo does not exist.", "echo", "tool_unavailable"]);
    assert_eq!(world.run(&mut session, source).value(), json(json!([refused, refused, refused, 1])));
    let failure = world.run(&mut session, "await tools.nosuch({})").failure();
    assert_eq!(failure.name, "TypeError");
}

#[test]
fn a_program_that_only_makes_bad_calls_does_not_fill_the_record() {
    let world = World::new();
    let schema = json!({ "type": "object", "required": ["never"] });
    let tools = Capabilities::new([world.echo().input_schema(schema)]).unwrap();
    let mut session = ENGINE.session_with(&tools, with_limits(|limits| limits.calls = 10)).unwrap();
    let source = "const names = {}; for (let i = 0; i < 1000; i++) await tools.echo({}).catch(e => { names[e.name] = (names[e.name] ?? 0) + 1 }); names";
    // Nor does it keep the host at checking: after the budget and 256 more, arguments are not read any more.
    let names = json!({ "ToolInputError": 266, "CallBudgetExceeded": 734 });
    assert_eq!(world.run(&mut session, source).value(), json(names));
    assert_eq!(session.calls().len(), 10);
}

#[test]
fn budgets_hold_for_the_program_and_for_one_capability() {
    let world = World::new();
    let tools = Capabilities::new([world.echo().max_calls(2), world.pay()]).unwrap();
    let mut session = ENGINE.session_with(&tools, with_limits(|limits| limits.calls = 4)).unwrap();
    let source = "const out = [];
        for (let i = 0; i < 3; i++) out.push(await tools.echo({v: i}).catch(e => `${e.name}: ${e.message}`));
        for (let i = 0; i < 3; i++) out.push(await tools.pay({amount: i}).then(r => r.n, e => `${e.name}: ${e.message}`));
        out";
    assert_eq!(
        world.run(&mut session, source).value(),
        json(json!([
            0,
            1,
            "CallBudgetExceeded: echo: this program may call echo 2 times and has done so",
            1,
            2,
            "CallBudgetExceeded: pay: this program may make 4 calls and has made them",
        ]))
    );
}

#[test]
fn a_flood_of_calls_is_bounded() {
    let world = World::new();
    let mut session = world.session();
    let source = "const all = []; for (let i = 0; i < 10000; i++) all.push(tools.echo({v: i}));
        const r = await Promise.allSettled(all); [r.filter(x => x.status === 'fulfilled').length, r.at(-1).reason.name]";
    assert_eq!(world.run(&mut session, source).value(), json(json!([256, "CallBudgetExceeded"])));
    // L17: typed also when it is caught.
    let source = "let ok = 0, bad = 0, m = \"\"; for (let i = 0; i < 400; i++) { try { await tools.pay({amount: 1}); ok++; } catch (e) { bad++; m = e.name; } }\n[ok, bad, m].join()";
    assert_eq!(world.run(&mut session, source).value(), text("256,144,CallBudgetExceeded"));
    assert_eq!(world.paid().len(), 256);

    let options = with_limits(|limits| {
        limits.calls = 1_000_000;
        limits.host_memory = 1 << 20;
    });
    let mut session = world.session_with(options);
    let source = "const all = []; for (let i = 0; i < 3000; i++) all.push(tools.echo({v: 'x'.repeat(1000)}));
        const r = await Promise.allSettled(all); [r.some(x => x.status === 'fulfilled'), r.at(-1).reason.name]";
    assert_eq!(world.run(&mut session, source).value(), json(json!([true, "CallBudgetExceeded"])));
}

#[test]
fn arguments_and_results_that_are_too_large() {
    let world = World::new();
    let options = with_limits(|limits| {
        limits.argument_size = 10_000;
        limits.call_result_size = 20_000;
        limits.value_depth = 20;
        limits.value_nodes = 500;
    });
    let mut session = world.session_with(options);
    let source = "let nested = {}; for (let i = 0; i < 30; i++) nested = { nested };
        const failed = p => p.then(v => typeof v, e => `${e.name}: ${e.message}`);
        [
            await failed(tools.echo({ v: 'x'.repeat(9_000) })),
            await failed(tools.echo({ v: 'x'.repeat(11_000) })),
            await failed(tools.echo({ v: nested })),
            await failed(tools.echo({ v: new Array(600).fill(0) })),
            await failed(tools.big({ n: 19_000 })),
            await failed(tools.big({ n: 20_001 })),
        ]";
    assert_eq!(
        world.run(&mut session, source).value(),
        json(json!([
            "string",
            "ArgumentTooLarge: arguments are larger than 10000 bytes",
            "ArgumentTooLarge: arguments are deeper than 20 levels",
            "ArgumentTooLarge: arguments hold more than 500 values",
            "string",
            "ResultTooLarge: result of big: value is 20005 bytes or more, more than 20000",
        ]))
    );
}

#[test]
fn a_schema_names_the_field() {
    let world = World::new();
    let schema = json!({
        "type": "object",
        "properties": {
            "to": { "type": "string", "pattern": "^[a-z]+@x$" },
            "lines": { "type": "array", "items": { "type": "object", "properties": { "count": { "minimum": 1 } } } },
        },
        "required": ["to"],
        "additionalProperties": false,
    });
    let tools = Capabilities::new([world.mirror().input_schema(schema)]).unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    for (argument, message) in [
        ("{}", "mirror: missing \"to\" (string)"),
        ("", "mirror: missing \"to\" (string)"),
        ("'text'", "mirror: the argument must be an object, got a string"),
        ("{to: 'a'}", "mirror: \"to\" must match \"^[a-z]+@x$\""),
        ("{to: 'a@x', lines: [{count: 1}, {count: 0}]}", "mirror: \"lines[1].count\" must be at least 1, got 0"),
        ("{to: 'a@x', cc: 1}", "mirror: unknown field \"cc\" (known: \"to\", \"lines\")"),
    ] {
        let failure = world.run(&mut session, &format!("await tools.mirror({argument})")).failure();
        assert_eq!((failure.name.as_str(), failure.message.as_str()), ("ToolInputError", message), "{argument}");
    }
    assert_eq!(world.run(&mut session, "(await tools.mirror({to: 'a@x'})).to").value(), text("a@x"));
}

#[test]
fn a_set_that_is_not_sound_is_refused() {
    let refused = |capability: Capability| {
        let error = Capabilities::new([capability]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Capability);
        error.to_string()
    };
    assert_eq!(
        refused(Capability::external("a").input_schema(json!({ "type": "nonsense" }))).split(": ").next().unwrap(),
        "input schema of \"a\" does not compile"
    );
    let outside = refused(Capability::external("a").input_schema(json!({ "$ref": "https://x.example/s.json" })));
    assert!(outside.starts_with("input schema of \"a\" does not compile: "), "{outside}");
    for name in ["", "a..b", "a\nb"] {
        let message = format!("tool name {name:?} is not made of visible parts joined by dots, at most 256 bytes");
        assert_eq!(refused(Capability::external(name)), message);
    }
    assert_eq!(refused(Capability::external("$search")), "tool name \"$search\" begins with \"$\", which is reserved");
}

#[test]
fn dots_make_namespaces() {
    let world = World::new();
    let own = |name: &str| {
        let text = name.to_owned();
        Capability::raw(name, move |_, _| std::future::ready(Ok(Value::from(text.clone()))))
    };
    let names = ["orders.find", "orders.items.list", "class", "toString", "hasOwnProperty", "get-weather", "_x.$y"];
    let tools = Capabilities::new(names.map(own)).unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    let source = "[await tools.class(), await tools.toString(), await tools.hasOwnProperty(), await tools['get-weather'](), await tools._x.$y()]";
    assert_eq!(
        world.run(&mut session, source).value(),
        json(json!(["class", "toString", "hasOwnProperty", "get-weather", "_x.$y"]))
    );
    let source = "const out = []; for (const f of [() => tools.orders.find(), () => tools.orders.items.list()]) out.push(await f()); out";
    assert_eq!(world.run(&mut session, source).value(), json(json!(["orders.find", "orders.items.list"])));
}

// ---- queues ----

#[test]
fn concurrency_of_a_capability_is_kept_and_the_rest_queue() {
    let world = World::new();
    let tools = Capabilities::new([world.slow().concurrency(3)]).unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    let source = "(await Promise.all(Array.from({length: 20}, (_, v) => tools.slow({ms: 10 + v % 3, v})))).join()";
    let expected = (0..20).map(|n| n.to_string()).collect::<Vec<_>>().join();
    assert_eq!(world.run(&mut session, source).value(), text(&expected));
    assert_eq!(world.peak(), 3);
}

trait Join {
    fn join(self) -> String;
}

impl Join for Vec<String> {
    fn join(self) -> String {
        self.as_slice().join(",")
    }
}

#[test]
fn calls_in_flight_are_capped() {
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.calls_in_flight = 5));
    let source = "(await Promise.all(Array.from({length: 40}, (_, v) => tools.slow({ms: 10, v})))).length";
    assert_eq!(world.run(&mut session, source).value(), Value::from(40));
    assert_eq!(world.peak(), 5);
    assert!(session.calls().iter().all(|call| call.status == CallStatus::Completed));

    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, source).value();
    assert_eq!(world.peak(), 32, "the default");
}

#[test]
fn arguments_that_could_fill_the_host_queue() {
    // A tool has its argument as a value, which takes more than its bytes.
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.host_memory = 4 << 20));
    let source = "const v = new Array(30000).fill(0); (await Promise.all(Array.from({length: 20}, () => tools.slow({ms: 10, v})))).length";
    assert_eq!(world.run(&mut session, source).value(), Value::from(20));
    assert_eq!(world.peak(), 3);
}

#[test]
fn the_number_of_pending_approvals_is_bounded() {
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.pending_approvals = 3));
    let source = "const r = await Promise.allSettled(Array.from({length: 5}, (_, q) => tools.gate({q}))); r.map(x => x.value ?? `${x.reason.name}: ${x.reason.message}`)";
    let pause = world.run(&mut session, source).paused();
    assert_eq!(shown(&pause), ["1.1 gate { q: 0 }", "1.2 gate { q: 1 }", "1.3 gate { q: 2 }"]);
    for call in pause.pending {
        session.decide(call.id, Decision::Approve).unwrap();
    }
    let refused = "CallBudgetExceeded: gate: 3 calls wait for a person already";
    assert_eq!(world.drive(&mut session).value(), json(json!(["yes", "yes", "yes", refused, refused])));
}

#[test]
fn timeouts_are_of_the_capability_and_count_from_the_start() {
    let world = World::new();
    let tools = Capabilities::new([world.slow().timeout(Duration::from_millis(100)).concurrency(1)]).unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    // The second waits in the queue for longer than its timeout, and that does not count.
    let source = "const r = await Promise.allSettled([tools.slow({ms: 90, v: 1}), tools.slow({ms: 90, v: 2}), tools.slow({ms: 200})]); r.map(x => x.value ?? x.reason.message)";
    assert_eq!(world.run(&mut session, source).value(), json(json!([1, 2, "slow did not answer within 100ms"])));
}

// ---- the rule of two ----

fn three_tools(world: &World) -> Capabilities {
    Capabilities::new([
        world.echo().effects(Effects::PRIVATE),
        world.show().effects(Effects::UNTRUSTED),
        world.pay().effects(Effects::ACTS),
        world.mirror(),
    ])
    .unwrap()
}

#[test]
fn the_rule_of_two_asks_with_provenance() {
    let world = World::new();
    let tools = three_tools(&world);
    let mut session = ENGINE.session(&tools).unwrap();
    let source = "await tools.pay({amount: 1}); await tools.echo({v: 'secret'}); await tools.pay({amount: 2}); await tools.show({v: 'web'}); (await tools.pay({amount: 3})).n";
    let pause = world.run(&mut session, source).paused();
    assert_eq!(shown(&pause), ["1.5 pay { amount: 3 }"]);
    let brought = |effect, by: &str| Brought { effect, by: by.to_owned() };
    assert_eq!(
        session.taint().provenance(),
        [
            brought(Effects::ACTS, "pay (call 1.1, line 1)"),
            brought(Effects::PRIVATE, "echo (call 1.2, line 1)"),
            brought(Effects::UNTRUSTED, "show (call 1.4, line 1)"),
        ]
    );
    assert_eq!(
        pause.pending[0].reasons,
        [Reason::RuleOfTwo {
            brought: vec![
                "pay (call 1.1, line 1) acted on the world".to_owned(),
                "echo (call 1.2, line 1) brought private data".to_owned(),
                "show (call 1.4, line 1) brought untrusted content".to_owned(),
            ]
        }]
    );
    assert_eq!(
        pause.pending[0].reasons[0].to_string(),
        "rule of two: pay (call 1.1, line 1) acted on the world; echo (call 1.2, line 1) brought private data; show (call 1.4, line 1) brought untrusted content"
    );
    // Approving one call clears nothing: the next program asks again, also after a restore.
    assert_eq!(world.decide(&mut session, "1.5", Decision::Approve).value(), Value::from(3));
    let mut session = moved(session, &tools);
    assert_eq!(shown(&world.run(&mut session, "await tools.pay({amount: 4})").paused()), ["2.6 pay { amount: 4 }"]);
    assert_eq!(world.paid(), [1.0, 2.0, 3.0]);
}

#[test]
fn parallel_calls_do_not_race_the_rule_of_two() {
    let world = World::new();
    let mut session = ENGINE.session(&three_tools(&world)).unwrap();
    let source = "await Promise.all([tools.echo({v: 1}), tools.show({v: 1}), tools.pay({amount: 1})])";
    assert_eq!(shown(&world.run(&mut session, source).paused()), ["1.3 pay { amount: 1 }"]);
    assert_eq!(world.paid(), [0.0; 0]);
}

#[test]
fn a_capability_without_a_label_counts_as_all_three_among_labelled_ones() {
    let world = World::new();
    let mut session = ENGINE.session(&three_tools(&world)).unwrap();
    let pause = world.run(&mut session, "await tools.mirror({})").paused();
    assert_eq!(pause.pending[0].effects, Effects::ALL);
    assert_eq!(pause.pending[0].reasons[0].to_string(), "rule of two: has all three effects");
}

#[test]
fn the_rule_of_two_by_name() {
    let world = World::new();
    let engine = |rule| builder().rule_of_two(rule).build().unwrap();
    let source = "await tools.pay({amount: 1}); await tools.echo({v: 1}); await tools.show({v: 1}); 'done'";
    let run = |engine: &Engine| world.run(&mut engine.session(&three_tools(&world)).unwrap(), source);
    assert_eq!(run(&engine(RuleOfTwo::Off)).value(), text("done"));
    assert_eq!(run(&engine(RuleOfTwo::On)).value(), text("done"), "bringing the third does not act");
    assert_eq!(shown(&run(&engine(RuleOfTwo::Strict)).paused()), ["1.3 show { v: 1 }"]);
}

#[test]
fn without_labels_there_is_no_rule() {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, "await tools.echo({v: 1}); await tools.pay({amount: 1})").value();
    assert_eq!(session.taint().effects(), Effects::NONE);
}

// ---- ids and keys ----

#[test]
fn ids_go_on_over_programs_and_restores() {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, "await tools.echo({v: 1})").value();
    world.run(&mut session, "1").value();
    let mut session = moved(session, &world.tools());
    world.run(&mut session, "await tools.echo({v: 1}); await tools.gate({q: 1})").waits();
    let mut session = moved(session, &world.tools());
    session.decide(id("3.3"), Decision::Respond(Value::Null)).unwrap();
    world.drive(&mut session).value();
    world.run(&mut session, "await tools.echo({v: 1})").value();
    assert_eq!(
        record(&session),
        ["1.1 echo completed", "3.2 echo completed", "3.3 gate completed", "4.4 echo completed"]
    );
}

#[test]
fn every_call_of_every_session_has_its_own_idempotency_key() {
    let mut keys = BTreeSet::new();
    for _ in 0..3 {
        let world = World::new();
        let mut session = world.session();
        session.start("await Promise.all([tools.echo({v: 1}), tools.echo({v: 1}), tools.echo({v: 2})])").unwrap();
        let calls = step_to_calls(&mut session, world.time(), 3);
        for call in calls {
            assert_eq!(call.idempotency_key().len(), 64);
            assert!(call.idempotency_key().bytes().all(|digit| digit.is_ascii_hexdigit()));
            keys.insert(call.idempotency_key().to_owned());
        }
    }
    assert_eq!(keys.len(), 9);
}

// ---- how arguments are read ----

#[test]
fn getters_run_once_and_in_order_when_the_call_is_made() {
    let world = World::new();
    let mut session = world.session();
    let source = "const ran = [];
        const a = { get x() { ran.push('x'); return ran.length }, get y() { ran.push('y'); return ran.length } };
        const p = tools.gate(a); ran.push('after'); await p; ran.join()";
    assert_eq!(shown(&world.run(&mut session, source).paused()), ["1.1 gate { x: 1, y: 2 }"]);
    assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), text("x,y,after"));
}

#[test]
fn a_getter_that_throws_rejects_the_call() {
    let world = World::new();
    let mut session = world.session();
    let source = "const failed = f => { const p = f(); return p.then(() => 'ran', e => `${e.name}: ${e.message}`) };
        [
            await failed(() => tools.pay({ get amount() { throw new RangeError('no') } })),
            await failed(() => tools.pay(new Proxy({}, { ownKeys() { throw new Error('trap') } }))),
            await failed(() => tools.pay(Proxy.revocable({}, {}).proxy)),
        ]";
    let value = world.run(&mut session, source).value();
    let shown: Vec<_> = value.as_array().unwrap().iter().map(|part| part.as_str().unwrap().to_owned()).collect();
    assert_eq!(shown[0], "RangeError: no");
    assert_eq!(shown[1], "TypeError: argument: a proxy cannot cross, pass a plain object");
    assert_eq!(shown[2], "TypeError: argument: a proxy cannot cross, pass a plain object");
    assert_eq!(world.paid(), [0.0; 0]);
}

#[test]
fn to_json_is_not_asked_and_functions_name_their_path() {
    let world = World::new();
    let mut session = world.session();
    let failure = world.run(&mut session, "await tools.mirror({ a: [{ toJSON() { return 1 } }] })").failure();
    assert_eq!(failure.to_string(), "TypeError: argument.a[0].toJSON: a function cannot cross");
    let value =
        world.run(&mut session, "Object.prototype.toJSON = () => 'stolen'; await tools.mirror({ a: 1 })").value();
    assert_eq!(value, json(json!({ "a": 1 })));
}

#[test]
fn a_getter_may_call_a_tool() {
    let world = World::new();
    let mut session = world.session();
    let source = "const inner = []; const p = tools.echo({ get v() { inner.push(tools.pay({ amount: 1 })); return 5 } }); [await p, (await inner[0]).n]";
    assert_eq!(world.run(&mut session, source).value(), json(json!([5, 1])));
    assert_eq!(record(&session), ["1.1 pay completed", "1.2 echo completed"]);
}

#[test]
fn hostile_keys_in_arguments_stay_data() {
    let world = World::new();
    let mut session = world.session();
    let source = "const r = await tools.mirror(JSON.parse('{\"__proto__\": {\"polluted\": 1}, \"constructor\": 2, \"toString\": 3, \"\": 4, \"a\\\\u0000b\": 5}'));
        [Object.keys(r).join('|'), ({}).polluted, Object.getPrototypeOf(r) === Object.prototype, r['__proto__'].polluted]";
    let value = world.run(&mut session, source).value();
    assert_eq!(
        value,
        Value::Array(vec![
            text("|__proto__|a\0b|constructor|toString"),
            Value::Undefined,
            Value::from(true),
            Value::from(1)
        ])
    );
}

#[test]
fn an_interrupted_session_keeps_its_effects() {
    // A call that was allowed taints, whether or not its answer ever came.
    let world = World::new();
    let mut session = ENGINE.session_with(&three_tools(&world), SessionOptions::default()).unwrap();
    session.start("await tools.echo({v: 1})").unwrap();
    assert!(matches!(step(&mut session, world.time()), Step::Start(_)));
    session.interrupt_handle().interrupt();
    assert!(matches!(step(&mut session, world.time()), Step::Ended(_)));
    assert_eq!(session.taint().effects(), Effects::PRIVATE);
    assert_eq!(status(&session, "1.1"), CallStatus::Unknown);
    let session = Way::Move.pass(session, &three_tools(&world));
    assert_eq!(session.taint().effects(), Effects::PRIVATE);
}

#[test]
fn a_tool_may_be_passed_to_map() {
    let world = World::new();
    let mut session = world.session();
    let value = world.run(&mut session, "(await Promise.all([{v: 1}, {v: 2}].map(tools.echo))).join()").value();
    assert_eq!(value, text("1,2"));
}

#[test]
fn a05_the_loser_of_a_race_between_running_calls_is_waited_for() {
    let world = World::new();
    let mut session = world.session();
    let source = "const w = await Promise.race([tools.slow({ms: 20, v: \"w\"}), tools.slow({ms: 300}).then(() => tools.pay({amount: 9}))]);\nw";
    assert_eq!(world.run(&mut session, source).value(), text("w"));
    assert_eq!(world.paid(), [9.0]);
}

#[test]
fn a16_results_get_in_between_micro_tasks() {
    let world = World::new();
    let mut session = world.session();
    session
        .start("let stop = false; tools.echo({v: 1}).then(() => { stop = true; });\nwhile (!stop) await null;\n\"ok\"")
        .unwrap();
    let mut settled = false;
    for _ in 0..1000 {
        match session.step(world.time()).unwrap() {
            Step::Start(calls) => {
                session.settle(calls[0].id(), Ok(Value::Null)).unwrap();
                settled = true;
            }
            Step::Busy => {}
            Step::Ended(ended) => {
                assert_eq!(ended.result.unwrap(), text("ok"));
                assert!(settled);
                return;
            }
            other => panic!("{other:?}"),
        }
    }
    panic!("the answer never got in");
}

#[test]
fn a13_the_time_of_calls_is_not_the_time_of_the_program() {
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.cpu_time = Duration::from_millis(200)));
    let source = "const until = ms => { const t = performance.now() + ms; while (performance.now() < t); };
        until(60); try { await tools.slowFail({ms: 60000}) } catch {} until(60); 'in time'";
    assert_eq!(world.run(&mut session, source).value(), text("in time"));
}
