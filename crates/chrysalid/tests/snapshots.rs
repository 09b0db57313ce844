//! Snapshots: at every quiescent point, of every kind of session, restored elsewhere.

use std::time::{Duration, Instant};

use chrysalid::{
    CallStatus, Capabilities, Capability, Decision, Engine, ErrorKind, FailureKind, Heap, Key, Random, Restore,
    Session, SessionOptions, Step, ToolError, Value, image_id,
};
use serde_json::json;

use crate::support::{
    BOTH, ENGINE, World, begin, builder, eval, fresh_engine, id, json, key, moved, record, run, session, shown, status,
    step, step_to_calls, text, with_limits,
};

// ---- quiescent points ----

#[test]
fn idle_after_some_programs() {
    let mut session = session();
    for number in 0..20 {
        eval(
            &mut session,
            &format!("globalThis.log ??= []; log.push({number}); let last = {number}; const f{number} = () => last;"),
        );
        session = moved(session, &Capabilities::none());
        assert!(session.is_idle());
    }
    assert_eq!(eval(&mut session, "[log.length, last, f0(), f19()]"), json(json!([20, 19, 19, 19])));
}

#[test]
fn fresh_and_never_used() {
    let mut session = moved(session(), &Capabilities::none());
    assert_eq!(eval(&mut session, "1 + 1"), Value::from(2));
    assert_eq!(eval(&mut session, "typeof console.log"), text("function"));
}

#[test]
fn started_and_not_stepped() {
    let world = World::new();
    let mut session = world.session();
    session.start("await tools.echo({v: 'ran'})").unwrap();
    let mut session = moved(session, &world.tools());
    assert_eq!(session.program_source(), Some("await tools.echo({v: 'ran'})"));
    assert_eq!(session.start("2").unwrap_err().kind(), ErrorKind::SessionBusy);
    assert_eq!(world.drive(&mut session).value(), text("ran"));
}

#[test]
fn with_answers_that_were_not_delivered() {
    let world = World::new();
    let mut session = world.session();
    session.start("const r = await Promise.allSettled([tools.echo({v: 1}), tools.echo({v: 2}), tools.nosuch?.(), tools.gate({q: 1})]); r.map(x => x.value ?? x.reason?.message).join()").unwrap();
    step_to_calls(&mut session, begin(), 2);
    session.settle(id("1.1"), Ok(text("one"))).unwrap();
    session.settle(id("1.2"), Err(ToolError::new("two"))).unwrap();
    session.decide(id("1.3"), Decision::Respond(text("three"))).unwrap();
    let mut session = moved(session, &world.tools());
    assert_eq!(record(&session), ["1.1 echo completed", "1.2 echo failed", "1.3 gate waiting"]);
    assert_eq!(world.drive(&mut session).value(), text("one,two,,three"));
}

#[test]
fn at_a_job_boundary_of_a_busy_program() {
    let mut session = session();
    session
        .start("let n = 0; for (let i = 0; i < 300000; i++) { await null; n += i % 3 } console.log('end'); n")
        .unwrap();
    let mut moves = 0;
    let ended = loop {
        match session.step(begin()).unwrap() {
            // On a machine that does other work a slice may end inside of a job.
            Step::Busy => {
                if let Ok(image) = session.snapshot() {
                    session = ENGINE.restore(&image, &Capabilities::none(), Restore::Resume).unwrap();
                    moves += 1;
                }
            }
            Step::Ended(ended) => break ended,
            other => panic!("{other:?}"),
        }
    };
    assert!(moves >= 2, "{moves}");
    assert_eq!(ended.result.unwrap(), Value::from(300_000));
    assert_eq!(ended.logs.len(), 1);
}

#[test]
fn in_the_middle_of_a_job_it_is_busy() {
    let mut session = session();
    session.start("let n = 0; for (let i = 0; i < 5e6; i++) n++; n").unwrap();
    assert!(matches!(session.step(begin()).unwrap(), Step::Busy));
    let refused = session.snapshot().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Busy);
    assert_eq!(refused.to_string(), "the guest is in the middle of a job");
    assert_eq!(World::new().drive(&mut session).value(), Value::from(5_000_000));
    session.snapshot().unwrap();
}

#[test]
fn with_calls_queued_and_lines_written() {
    let world = World::new();
    let tools = Capabilities::new([world.slow().concurrency(1)]).unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    session.start("console.log('before'); const r = await Promise.all([1, 2, 3].map(v => tools.slow({ms: 5, v}))); console.log('after'); r.join()").unwrap();
    assert!(matches!(step(&mut session, begin()), Step::Start(_)));
    let mut session = moved(session, &tools);
    assert_eq!(record(&session), ["1.1 slow unknown", "1.2 slow queued", "1.3 slow queued"]);
    session.decide(id("1.1"), Decision::Respond(Value::from(1))).unwrap();
    let ended = world.drive(&mut session).ended();
    assert_eq!(ended.result.unwrap(), text("1,2,3"));
    assert_eq!(ended.logs.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["before", "after"]);
}

#[test]
fn after_a_failure_while_calls_still_run() {
    let world = World::new();
    let mut session = world.session();
    let source = "tools.slow({ms: 50, v: 1}).then(() => tools.pay({amount: 1})); await tools.echo({v: 1}); throw new RangeError('stop', { cause: 7 })";
    session.start(source).unwrap();
    step_to_calls(&mut session, begin(), 2);
    session.settle(id("1.2"), Ok(Value::Null)).unwrap();
    assert!(matches!(step(&mut session, begin()), Step::Wait { .. }));
    let mut session = moved(session, &world.tools());
    assert_eq!(status(&session, "1.1"), CallStatus::Unknown);
    let ended = world.drive(&mut session).ended();
    let failure = ended.result.unwrap_err();
    assert_eq!(failure.to_string(), "RangeError: stop");
    let Some(Value::Error(error)) = &failure.value else { panic!() };
    assert_eq!(error.cause, Some(Value::from(7)));
    assert_eq!(world.paid(), [0.0; 0]);
}

#[test]
fn a_call_that_is_unknown_when_its_program_ends_is_none_of_the_next_programs() {
    for interrupted in [false, true] {
        let world = World::new();
        let mut session = world.session();
        let source = "tools.slow({ms: 50, v: 1}).catch(() => {}); await tools.gate({q: 1}); throw 'stop'";
        session.start(source).unwrap();
        assert!(matches!(step(&mut session, begin()), Step::Start(_)));
        let mut session = moved(session, &world.tools());
        if interrupted {
            session.interrupt_handle().interrupt();
        } else {
            session.decide(id("1.2"), Decision::Respond(Value::Null)).unwrap();
        }
        let failure = world.drive(&mut session).failure();
        assert_eq!(failure.message, if interrupted { "the program was interrupted" } else { "'stop'" });
        assert_eq!(status(&session, "1.1"), CallStatus::Unknown);
        assert_eq!(session.pending(), []);

        assert_eq!(world.run(&mut session, "await tools.echo({v: 2})").value(), Value::from(2));
        let error = session.decide(id("1.1"), Decision::Approve).unwrap_err();
        assert_eq!(error.to_string(), "call 1.1 was decided already: it is unknown");
        session.settle(id("1.1"), Ok(Value::from(1))).unwrap();
        assert_eq!(status(&session, "1.1"), CallStatus::Completed);
    }
}

// ---- calls in flight ----

fn in_flight(world: &World) -> (Session, String) {
    let mut session = world.session();
    session
        .start("let r; try { r = await tools.pay({amount: 5}) } catch (e) { r = [e.name, e.message, e.code] } r")
        .unwrap();
    let Step::Start(calls) = step(&mut session, begin()) else { panic!() };
    let key = calls[0].idempotency_key().to_owned();
    (moved(session, &world.tools()), key)
}

#[test]
fn a_call_in_flight_comes_back_unknown_and_approve_runs_it_again() {
    let world = World::new();
    let (mut session, key) = in_flight(&world);
    let pause = world.drive(&mut session).paused();
    assert_eq!(shown(&pause), ["1.1 pay { amount: 5 }"]);
    assert_eq!(pause.pending[0].status, CallStatus::Unknown);
    assert_eq!(session.start("1").unwrap_err().to_string(), "a program of this session waits for: 1.1 pay");
    assert_eq!(world.paid(), [0.0; 0], "nothing runs again by itself");

    session.decide(id("1.1"), Decision::Approve).unwrap();
    let Step::Start(calls) = step(&mut session, begin()) else { panic!() };
    assert_eq!(calls[0].idempotency_key(), key, "the same key as the first time");
    session.settle(id("1.1"), Ok(text("paid"))).unwrap();
    assert_eq!(world.drive(&mut session).value(), text("paid"));
    assert_eq!(record(&session), ["1.1 pay completed"]);
}

#[test]
fn a_call_in_flight_that_was_done_is_answered_with_its_value() {
    let world = World::new();
    let (mut session, _) = in_flight(&world);
    assert_eq!(world.decide(&mut session, "1.1", Decision::Respond(text("was paid"))).value(), text("was paid"));
    assert_eq!(record(&session), ["1.1 pay completed"]);
    assert_eq!(world.paid(), [0.0; 0]);
}

#[test]
fn a_call_in_flight_that_was_not_done_has_failed() {
    for (reason, message) in
        [(Some("the bank never saw it".to_owned()), "pay failed: the bank never saw it"), (None, "pay failed")]
    {
        let world = World::new();
        let (mut session, _) = in_flight(&world);
        let value = world.decide(&mut session, "1.1", Decision::Reject(reason)).value();
        assert_eq!(value, json(json!(["ToolError", message, "tool_error"])));
        assert_eq!(record(&session), ["1.1 pay failed"]);
    }
}

#[test]
fn a_call_in_flight_cannot_be_edited_but_can_be_settled() {
    let world = World::new();
    let (mut session, _) = in_flight(&world);
    let refused = session.decide(id("1.1"), Decision::Edit(json(json!({ "amount": 1 })))).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::DecisionNotAllowed);
    session.settle(id("1.1"), Ok(text("late"))).unwrap();
    assert_eq!(world.drive(&mut session).value(), text("late"));
}

#[test]
fn s04_a_pause_stored_before_or_after_the_other_call_has_answered() {
    let source =
        "const [a, b] = await Promise.all([tools.gate({q: \"1\"}), tools.slow({ms: 200, v: 2})]);\n[a, b].join()";
    // After: the answer is stored with the pause, and `slow` ran once.
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, source).waits();
    let mut session = moved(session, &world.tools());
    assert_eq!(world.decide(&mut session, "1.1", Decision::Respond(text("A"))).value(), text("A,2"));
    assert_eq!(world.calls(), ["slow { ms: 200, v: 2 }"]);

    // Before: `slow` had begun and is unknown until somebody settles it.
    let world = World::new();
    let mut session = world.session();
    session.start(source).unwrap();
    let Step::Start(calls) = step(&mut session, begin()) else { panic!() };
    assert_eq!(calls.len(), 1);
    let mut session = moved(session, &world.tools());
    session.settle(id("1.2"), Ok(Value::from(2))).unwrap();
    assert_eq!(world.decide(&mut session, "1.1", Decision::Respond(text("A"))).value(), text("A,2"));
    assert_eq!(world.calls(), [""; 0]);
}

// ---- what is in the heap ----

#[test]
fn s02_an_async_iterator_and_an_unsettled_promise() {
    let first = "async function* ag(){ yield 1; yield 2; } const it2 = ag(); await it2.next();\nlet fire; const pend = new Promise(r => { fire = r; }); let got; pend.then(v => { got = v; });";
    for way in BOTH {
        let mut session = session();
        // Its value is the promise of the last line, which nothing settles before the next program.
        let ended = run(&mut session, first);
        assert_eq!((ended.result.unwrap_err().kind, ended.heap), (FailureKind::Deadlock, Heap::Intact));
        let mut session = way.pass(session, &Capabilities::none());
        assert_eq!(eval(&mut session, "fire(5); await pend; [(await it2.next()).value, got].join()"), text("2,5"));
    }
}

#[test]
fn s15_weak_references_and_finalizers() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        let source = "let o = {}; const w = new WeakRef(o); let hits = 0;\nconst fr = new FinalizationRegistry(() => { hits++; }); fr.register(o, 1);\nawait tools.gate({q: \"?\"});\n[w.deref() === o, hits].join()";
        world.run(&mut session, source).waits();
        let mut session = way.pass(session, &world.tools());
        assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), text("true,0"));
    }
}

#[test]
fn a_heap_of_many_megabytes() {
    let world = World::new();
    let mut session = world.session();
    let source = "const rows = Array.from({ length: 100000 }, (_, i) => ({ i, name: 'row ' + i })); const bytes = new Uint8Array(8 << 20).map((_, i) => i * 31);
        await tools.gate({q: 1});
        [rows.every((r, i) => r.i === i && r.name === 'row ' + i), bytes.every((b, i) => b === (i * 31 & 255)), rows.length]";
    world.run(&mut session, source).waits();
    let mut session = moved(session, &world.tools());
    assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), json(json!([true, true, 100_000])));
}

#[test]
fn a_deep_program_leaves_no_trace_in_the_next_snapshot() {
    let mut session = session();
    eval(&mut session, "1");
    let before = session.snapshot().unwrap().len();
    eval(&mut session, "function down(k) { return k ? down(k - 1) + 1 : 0 } down(1000)");
    let after = session.snapshot().unwrap().len();
    assert!(after < before + 20_000, "{before} then {after}");
}

// ---- who may restore what ----

#[test]
fn s18_a_fork_has_its_own_id_and_its_own_keys() {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, "await tools.payGated({amount: 4})").waits();
    let original = session.id();
    let bytes = session.snapshot().unwrap();
    let key = |restore| {
        let mut session = fresh_engine().restore(&bytes, &world.tools(), restore).unwrap();
        session.decide(id("1.1"), Decision::Approve).unwrap();
        let Step::Start(calls) = step(&mut session, begin()) else { panic!() };
        (session.id(), calls[0].idempotency_key().to_owned())
    };
    let (resumed, resumed_key) = key(Restore::Resume);
    let (again, again_key) = key(Restore::Resume);
    assert_eq!((resumed, &resumed_key), (original, &again_key));
    assert_eq!(resumed, again);
    let (fork, fork_key) = key(Restore::Fork);
    let (other, other_key) = key(Restore::Fork);
    assert_ne!(fork, original);
    assert_ne!(fork, other);
    assert_ne!(fork_key, resumed_key);
    assert_ne!(fork_key, other_key);
}

#[test]
fn a_context_is_bound_to_the_snapshot() {
    let of = |context: &[u8]| {
        let mut options = SessionOptions::default();
        options.context = context.to_vec();
        options
    };
    let mut session = ENGINE.session_with(&Capabilities::none(), of(b"tenant 1")).unwrap();
    let bytes = session.snapshot().unwrap();
    for other in [&b"tenant 2"[..], b""] {
        let refused = ENGINE.restore_with(&bytes, &Capabilities::none(), Restore::Resume, of(other)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::OtherContext);
        assert_eq!(refused.to_string(), "the snapshot is bound to another context");
    }
    ENGINE.restore_with(&bytes, &Capabilities::none(), Restore::Resume, of(b"tenant 1")).unwrap();
}

#[test]
fn without_a_key_there_are_no_snapshots() {
    let engine = Engine::builder().pool_slots(0).build().unwrap();
    let mut session = engine.session(&Capabilities::none()).unwrap();
    let refused = session.snapshot().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NoKey);
    assert_eq!(refused.to_string(), "no key to seal a snapshot with, give one to the engine's builder");
    assert_eq!(eval(&mut session, "1"), Value::from(1));
}

#[test]
fn an_old_key_still_opens_and_the_new_one_seals() {
    let mut session = session();
    eval(&mut session, "let kept = 1");
    let bytes = session.snapshot().unwrap();
    let rotated = Engine::builder().pool_slots(0).key(Key::from_bytes([8; 32])).old_key(key()).build().unwrap();
    let mut session = rotated.restore(&bytes, &Capabilities::none(), Restore::Resume).unwrap();
    assert_eq!(eval(&mut session, "kept"), Value::from(1));
    let bytes = session.snapshot().unwrap();
    assert_eq!(
        ENGINE.restore(&bytes, &Capabilities::none(), Restore::Resume).unwrap_err().kind(),
        ErrorKind::UnknownKey
    );
}

#[test]
fn the_size_of_a_snapshot_is_bounded() {
    let mut session =
        ENGINE.session_with(&Capabilities::none(), with_limits(|limits| limits.snapshot_size = Some(50_000))).unwrap();
    eval(&mut session, "let a = 1");
    session.snapshot().unwrap();
    eval(&mut session, "let b = Array.from({ length: 100000 }, () => Math.random())");
    let refused = session.snapshot().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::TooLarge);
    assert!(refused.to_string().ends_with(" bytes is more than 50000"), "{refused}");
    assert_eq!(eval(&mut session, "b.length"), Value::from(100_000), "the session goes on");
}

#[test]
fn an_image_larger_than_the_memory_limit_is_refused() {
    let mut session = session();
    eval(&mut session, "const b = new Uint8Array(30 << 20).fill(7); 1");
    let bytes = session.snapshot().unwrap();
    let small = with_limits(|limits| limits.memory = 16 << 20);
    let refused = ENGINE.restore_with(&bytes, &Capabilities::none(), Restore::Resume, small).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::TooLarge);
}

#[test]
fn limits_are_those_of_the_restoring_engine_and_counters_those_of_the_snapshot() {
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.calls = 3));
    let source = "const out = []; for (let i = 0; i < 5; i++) { out.push(await tools.echo({v: i}).catch(e => e.name)); if (i === 1) await tools.gate({q: 1}).catch(() => {}) } out";
    world.run(&mut session, source).waits();
    let bytes = session.snapshot().unwrap();
    for (calls, expected) in [
        (3, json!([0, 1, "CallBudgetExceeded", "CallBudgetExceeded", "CallBudgetExceeded"])),
        (5, json!([0, 1, 2, 3, "CallBudgetExceeded"])),
        (100, json!([0, 1, 2, 3, 4])),
    ] {
        let options = with_limits(|limits| limits.calls = calls);
        let mut session = ENGINE.restore_with(&bytes, &world.tools(), Restore::Resume, options).unwrap();
        assert_eq!(world.decide(&mut session, "1.3", Decision::Respond(Value::Null)).value(), json(expected));
    }
}

#[test]
fn cpu_time_that_was_spent_stays_spent() {
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.cpu_time = Duration::from_millis(200)));
    let burn = "const until = performance.now() + 120; while (performance.now() < until);";
    let source = format!("{{ {burn} }} await tools.gate({{q: 1}}); {{ {burn} }} 'through'");
    world.run(&mut session, &source).waits();
    let bytes = session.snapshot().unwrap();
    let strict = with_limits(|limits| limits.cpu_time = Duration::from_millis(200));
    let mut session = ENGINE.restore_with(&bytes, &world.tools(), Restore::Resume, strict).unwrap();
    let failure = world.decide(&mut session, "1.1", Decision::Approve).failure();
    assert_eq!(failure.to_string(), "Timeout: the program used more than 200ms of CPU time");
    let lax = with_limits(|limits| limits.cpu_time = Duration::from_secs(10));
    let mut session = ENGINE.restore_with(&bytes, &world.tools(), Restore::Resume, lax).unwrap();
    assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), text("through"));
}

#[test]
fn capabilities_that_no_pending_call_needs_may_be_gone() {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, "const e = tools.echo; 1").value();
    let bytes = session.snapshot().unwrap();
    let mut session = fresh_engine().restore(&bytes, &Capabilities::none(), Restore::Resume).unwrap();
    assert_eq!(
        world.run(&mut session, "await e({v: 1})").failure().to_string(),
        "ToolUnavailable: tools.echo does not exist."
    );
    assert_eq!(world.run(&mut session, "Object.keys(tools).length").value(), Value::from(0));
}

#[test]
fn a_stale_schema_leaves_the_pause_intact_also_after_an_edit() {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, "(await tools.payGated({amount: 7})).amount").waits();
    session.decide(id("1.1"), Decision::Edit(json(json!({ "amount": 70 })))).unwrap();
    let bytes = session.snapshot().unwrap();
    // What runs is the edit, which the new schema does not take.
    let schema = json!({ "properties": { "amount": { "maximum": 10 } } });
    let tools = Capabilities::new([world.pay_gated().input_schema(schema)]).unwrap();
    let mut session = fresh_engine().restore(&bytes, &tools, Restore::Resume).unwrap();
    let failure = world.drive(&mut session).failure();
    assert_eq!(failure.to_string(), "ToolInputError: payGated: \"amount\" must be at most 10, got 70");
    assert_eq!(world.paid(), [0.0; 0]);
}

// ---- random and time ----

#[test]
fn s12_two_restores_draw_other_numbers() {
    let mut session = session();
    eval(&mut session, "Math.random()");
    let bytes = session.snapshot().unwrap();
    let source = "[Math.random(), Math.random()]";
    let draw = |options: SessionOptions| {
        let mut session = fresh_engine().restore_with(&bytes, &Capabilities::none(), Restore::Resume, options).unwrap();
        eval(&mut session, source)
    };
    assert_ne!(draw(SessionOptions::default()), draw(SessionOptions::default()));
    let seeded = |seed| {
        let mut options = SessionOptions::default();
        options.random = Random::Seed(seed);
        options
    };
    assert_eq!(draw(seeded(1)), draw(seeded(1)));
    assert_ne!(draw(seeded(1)), draw(seeded(2)));
    assert_ne!(eval(&mut session, source), draw(SessionOptions::default()), "nor does the original");
}

#[test]
fn two_fresh_sessions_draw_other_numbers() {
    let source = "[Math.random(), Math.random()]";
    assert_ne!(eval(&mut session(), source), eval(&mut session(), source));
}

#[test]
fn a_seeded_session_goes_on_with_its_numbers() {
    let world = World::new();
    let seeded = || {
        let mut options = SessionOptions::default();
        options.random = Random::Seed(5);
        options
    };
    let source = "const r = [Math.random()]; await tools.gate({q: 1}); r.push(Math.random(), Math.random()); r";
    let mut whole = world.session_with(seeded());
    world.run(&mut whole, source).waits();
    let whole = world.decide(&mut whole, "1.1", Decision::Approve).value();

    let mut session = world.session_with(seeded());
    world.run(&mut session, source).waits();
    let bytes = session.snapshot().unwrap();
    let mut session = fresh_engine().restore_with(&bytes, &world.tools(), Restore::Resume, seeded()).unwrap();
    assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), whole);
}

// ---- what a snapshot tells ----

#[test]
fn inspect_tells_all_but_values() {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, "await tools.echo({v: 'secret value'}); await tools.gate({q: 'secret question'})").waits();
    let bytes = session.snapshot().unwrap();
    let inspection = ENGINE.inspect(&bytes).unwrap();
    assert_eq!((inspection.size, inspection.format, inspection.guest_is_known), (bytes.len(), 5, true));
    assert_eq!((inspection.id, inspection.follows, inspection.links), (image_id(&bytes).unwrap(), None, 0));
    assert_eq!(inspection.key, key().id().to_string());
    let sealed = inspection.sealed.as_ref().unwrap();
    assert_eq!((sealed.session, sealed.programs, sealed.paused), (session.id(), 1, true));
    assert_eq!(
        sealed.calls,
        [(id("1.1"), "echo".to_owned(), CallStatus::Completed), (id("1.2"), "gate".to_owned(), CallStatus::Waiting),]
    );
    assert!(!format!("{inspection:?}").contains("secret"));
    assert!(!bytes.windows(6).any(|window| window == b"secret"));

    let stranger = Engine::builder().pool_slots(0).key(Key::from_bytes([9; 32])).build().unwrap();
    let clear = stranger.inspect(&bytes).unwrap();
    assert_eq!((clear.sealed, clear.key), (None, key().id().to_string()));
}

#[test]
fn s10_an_image_of_another_guest_build_is_named_and_can_be_restored_beside_it() {
    // The same guest with a custom section more is another build: it has another hash.
    let mut wasm = ENGINE.guest().to_vec();
    wasm.extend([0, 6, 5, b'b', b'u', b'i', b'l', b'd']);
    let folder = tempfile::tempdir().unwrap();
    let older = builder().guest(wasm.clone()).cache_folder(folder.path()).build().unwrap();
    let world = World::new();
    let mut session = older.session(&world.tools()).unwrap();
    world.run(&mut session, "let k = 41; await tools.gate({q: 1}); k + 1").waits();
    let bytes = session.snapshot().unwrap();

    let refused = ENGINE.restore(&bytes, &world.tools(), Restore::Resume).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::UnknownGuest);
    let message = refused.to_string();
    let ours = ENGINE.inspect(&self::session().snapshot().unwrap()).unwrap().guest;
    let theirs = ENGINE.inspect(&bytes).unwrap();
    assert!(!theirs.guest_is_known);
    for hash in [ours, theirs.guest] {
        let short = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
        assert!(message.contains(&short), "{message} names {short}");
    }

    let both = builder().older_guest(wasm).cache_folder(folder.path()).build().unwrap();
    let mut session = both.restore(&bytes, &world.tools(), Restore::Resume).unwrap();
    assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), Value::from(42));
}

// ---- forty pauses ----

/// The images at forty pauses in a row, each restored from the one before.
fn forty(world: &World) -> Vec<Vec<u8>> {
    let mut session = world.session();
    let mut halt = world.run(&mut session, "const seen = []; for (let i = 0; i < 41; i++) { const a = await tools.gate({q: i}); seen.push(a.length) } seen.length");
    let mut images = Vec::new();
    for number in 1..=40 {
        let pause = halt.paused();
        let call = format!("1.{number}");
        assert_eq!(shown(&pause), [format!("{call} gate {{ q: {} }}", number - 1)]);
        images.push(session.snapshot().unwrap());
        session = ENGINE.restore(images.last().unwrap(), &world.tools(), Restore::Resume).unwrap();
        halt = world.decide(&mut session, &call, Decision::Approve);
    }
    halt.waits();
    images
}

#[test]
fn forty_pauses_do_not_make_the_image_larger() {
    let images = forty(&World::new());
    let (first, last) = (images[0].len(), images[39].len());
    assert!(last * 10 <= first * 11, "the first has {first} bytes, the fortieth {last}");
}

#[test]
fn forty_pauses_do_not_make_a_resume_slower() {
    let world = World::new();
    let tools = world.tools();
    let images = forty(&world);
    let resume = |image: &[u8], call: &str| {
        let began = Instant::now();
        let mut session = ENGINE.restore(image, &tools, Restore::Resume).unwrap();
        session.decide(id(call), Decision::Respond("yes".into())).unwrap();
        let halt = step(&mut session, begin());
        let took = began.elapsed();
        assert!(matches!(halt, Step::Paused(_)), "{halt:?}");
        took
    };
    // A machine that does other work disturbs any one round: the best of several is the claim.
    let mut rounds = Vec::new();
    for _ in 0..10 {
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for _ in 0..150 {
            first.push(resume(&images[0], "1.1"));
            last.push(resume(&images[39], "1.40"));
        }
        first.sort_unstable();
        last.sort_unstable();
        let ratio = last[75].as_secs_f64() / first[75].as_secs_f64();
        rounds.push(ratio);
        if ratio <= 1.1 {
            return;
        }
    }
    panic!("the fortieth resume takes this many times the first: {rounds:?}");
}

#[test]
fn a_snapshot_does_not_disturb_the_session() {
    let world = World::new();
    let mut session = world.session();
    let source = "const a = []; for (let i = 0; i < 5; i++) { a.push(await tools.gate({q: i})); a.push(Math.round(performance.now() * 0)) } a.join()";
    let mut halt = world.run(&mut session, source);
    for number in 1..=5 {
        halt.waits();
        for _ in 0..3 {
            session.snapshot().unwrap();
        }
        halt = world.decide(&mut session, &format!("1.{number}"), Decision::Approve);
    }
    assert_eq!(halt.value(), text("yes,0,yes,0,yes,0,yes,0,yes,0"));
}

#[test]
fn an_external_call_waits_through_a_snapshot() {
    let tools = Capabilities::new([Capability::external("signal")]).unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    let world = World::new();
    world.run(&mut session, "await tools.signal({n: 1})").waits();
    let mut session = moved(session, &tools);
    assert_eq!(session.pending()[0].status, CallStatus::Outside);
    session.settle(id("1.1"), Ok(text("came"))).unwrap();
    assert_eq!(world.drive(&mut session).value(), text("came"));
}
