//! The session and its step machine, driven by hand: no async, and time comes in.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrysalid::{
    Approval, CallStatus, Capabilities, Capability, Decision, Engine, ErrorKind, Event, EventSink, FailureKind, Heap,
    Outcome, SessionOptions, Step, ToolError, Value,
};
use serde_json::json;

use crate::support::{
    ENGINE, RealTime, World, begin, block_on, eval, id, json, record, session, shown, status, step, step_to_calls,
    text, with_limits,
};

const SECOND: Duration = Duration::from_secs(1);

#[track_caller]
fn started(session: &mut chrysalid::Session, count: usize) -> Vec<String> {
    let calls = step_to_calls(session, begin(), count);
    calls.iter().map(|call| format!("{} {} {}", call.id(), call.name(), call.argument())).collect()
}

#[test]
fn answers_in_another_order_and_one_at_a_time() {
    let mut session = World::new().session();
    session.start("const seen = []; const all = [1, 2, 3].map(v => tools.echo({v}).then(x => { seen.push(x) })); await Promise.all(all); seen.join()").unwrap();
    assert_eq!(started(&mut session, 3), ["1.1 echo { v: 1 }", "1.2 echo { v: 2 }", "1.3 echo { v: 3 }"]);
    for (call, answer) in [("1.3", "c"), ("1.1", "a")] {
        assert!(matches!(step(&mut session, begin()), Step::Wait { wake_at: None }));
        session.settle(id(call), Ok(text(answer))).unwrap();
    }
    assert!(matches!(step(&mut session, begin()), Step::Wait { wake_at: None }));

    let again = session.settle(id("1.3"), Ok(text("other"))).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AlreadyDecided);
    assert_eq!(again.to_string(), "call 1.3 was decided already: it is completed");
    assert_eq!(session.settle(id("1.4"), Ok(Value::Null)).unwrap_err().kind(), ErrorKind::UnknownCall);

    session.settle(id("1.2"), Ok(text("b"))).unwrap();
    let Step::Ended(ended) = step(&mut session, begin()) else { panic!() };
    assert_eq!(ended.result.unwrap(), text("c,a,b"));
}

#[test]
fn a_settle_runs_no_guest_code() {
    let mut session = World::new().session();
    session.start("await tools.echo({v: 1}); console.log('after')").unwrap();
    started(&mut session, 1);
    session.settle(id("1.1"), Ok(Value::Null)).unwrap();
    assert_eq!(record(&session), ["1.1 echo completed"]);
    assert!(!session.is_idle());
    let Step::Ended(ended) = step(&mut session, begin()) else { panic!() };
    assert_eq!(ended.logs.len(), 1);
    assert!(session.is_idle());
}

#[test]
fn nobody_settles_a_call_that_has_not_begun() {
    let world = World::new();
    let tools = Capabilities::new([world.gate(), world.echo().concurrency(1)]).unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    session.start("await Promise.all([tools.gate({q: 1}), tools.echo({v: 1}), tools.echo({v: 2})])").unwrap();
    assert_eq!(started(&mut session, 1), ["1.2 echo { v: 1 }"]);
    for (call, standing) in [("1.1", CallStatus::Waiting), ("1.3", CallStatus::Queued)] {
        let refused = session.settle(id(call), Ok(Value::Null)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NotWaiting);
        assert_eq!(refused.to_string(), format!("call {call} has not begun"));
        assert_eq!(status(&session, call), standing);
    }
    let refused = session.decide(id("1.3"), Decision::Approve).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotWaiting);
    assert_eq!(refused.to_string(), "call 1.3 waits for nobody's decision");
}

#[test]
fn one_program_at_a_time() {
    let mut session = World::new().session();
    let refused = session.step(begin()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotRunning);
    assert_eq!(refused.to_string(), "no program was started in this session");

    session.start("await tools.echo({v: 1})").unwrap();
    assert_eq!(session.program_source(), Some("await tools.echo({v: 1})"));
    assert_eq!(session.start("2").unwrap_err().kind(), ErrorKind::SessionBusy, "before its first step");
    started(&mut session, 1);
    let refused = session.start("2").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::SessionBusy, "while its call runs");
    assert_eq!(refused.to_string(), "a program runs in this session");
    session.settle(id("1.1"), Ok(Value::from(1))).unwrap();
    assert!(matches!(step(&mut session, begin()), Step::Ended(_)));
    assert_eq!(session.program_source(), None);
    assert_eq!(session.step(begin()).unwrap_err().kind(), ErrorKind::NotRunning);
    assert_eq!(eval(&mut session, "2"), Value::from(2));
}

#[test]
fn a_long_job_gives_the_thread_back() {
    let mut session = session();
    session.start("let n = 0; for (let i = 0; i < 2e7; i++) n += i % 7; n").unwrap();
    let mut busy = 0;
    let ended = loop {
        let before = std::time::Instant::now();
        match session.step(begin()).unwrap() {
            Step::Busy => {
                busy += 1;
                assert!(before.elapsed() < SECOND, "a step keeps its thread for a slice");
                assert_eq!(session.start("2").unwrap_err().kind(), ErrorKind::SessionBusy);
                assert_eq!(session.snapshot().unwrap_err().kind(), ErrorKind::Busy);
            }
            Step::Ended(ended) => break ended,
            other => panic!("{other:?}"),
        }
    };
    assert!(busy > 1);
    assert_eq!(ended.result.unwrap(), Value::from(59_999_997));
}

#[test]
fn time_that_goes_back_counts_as_the_latest() {
    let mut session = session();
    session.start("const a = Date.now(); await new Promise(r => setTimeout(r, 1000)); Date.now() >= a + 1000").unwrap();
    let Step::Wait { wake_at: Some(wake_at) } = step(&mut session, begin()) else { panic!() };
    assert!(matches!(step(&mut session, begin() - 100 * SECOND), Step::Wait { .. }));
    let Step::Ended(ended) = step(&mut session, wake_at) else { panic!() };
    assert_eq!(ended.result.unwrap(), Value::from(true));
}

// ---- ends that the host brings about ----

#[test]
fn a_late_answer_after_a_timeout_is_refused() {
    let world = World::new();
    let tools = Capabilities::new([world.echo().timeout(SECOND)]).unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    session.start("try { await tools.echo({v: 1}) } catch (e) { [e.name, e.message, e.code, e.retryable] }").unwrap();
    let Step::Start(calls) = step(&mut session, begin()) else { panic!() };
    let Step::Wait { wake_at } = step(&mut session, begin()) else { panic!() };
    assert_eq!(wake_at, Some(begin() + SECOND));
    assert!(!calls[0].cancel_signal().is_cancelled());
    let Step::Ended(ended) = step(&mut session, begin() + SECOND) else { panic!() };
    assert_eq!(
        ended.result.unwrap(),
        json(json!(["ToolTimeout", "echo did not answer within 1s", "tool_timeout", true]))
    );
    assert!(calls[0].cancel_signal().is_cancelled());
    assert_eq!(record(&session), ["1.1 echo failed"]);

    let late = session.settle(id("1.1"), Ok(Value::from(1))).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::AlreadyDecided);
    assert_eq!(late.to_string(), "call 1.1 was decided already: it is failed");
}

#[test]
fn a_late_answer_after_a_stop_is_recorded_and_not_delivered() {
    let mut session = World::new().session();
    session.start("tools.echo({v: 1}).then(v => { globalThis.got = v }); await tools.echo({v: 2})").unwrap();
    let calls = step_to_calls(&mut session, begin(), 2);
    session.interrupt_handle().interrupt();
    let Step::Ended(ended) = step(&mut session, begin()) else { panic!() };
    let failure = ended.result.unwrap_err();
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Cancelled, "the program was interrupted"));
    assert_eq!(ended.heap, Heap::Intact);
    assert!(calls.iter().all(|call| call.cancel_signal().is_cancelled()));
    assert_eq!(record(&session), ["1.1 echo unknown", "1.2 echo unknown"]);

    session.settle(id("1.1"), Ok(Value::from(7))).unwrap();
    session.settle(id("1.2"), Err(ToolError::new("no"))).unwrap();
    assert_eq!(record(&session), ["1.1 echo completed", "1.2 echo failed"]);
    assert_eq!(eval(&mut session, "typeof got"), text("undefined"));
}

#[test]
fn interrupting_guest_code_from_another_thread() {
    let mut session = session();
    let interrupt = session.interrupt_handle();
    let (tell, told) = std::sync::mpsc::channel();
    let other = std::thread::spawn(move || {
        told.recv().unwrap();
        interrupt.interrupt();
    });
    session.start("let kept = 1; for (;;) { try { for (;;) kept++ } catch {} finally { continue } }").unwrap();
    assert!(matches!(session.step(begin()).unwrap(), Step::Busy));
    tell.send(()).unwrap();
    other.join().unwrap();
    let ended = crate::support::World::new().drive(&mut session).ended();
    assert_eq!(ended.result.unwrap_err().kind, FailureKind::Cancelled);
    assert_eq!(ended.heap, Heap::Intact);
    assert_eq!(eval(&mut session, "kept > 1"), Value::from(true));
}

#[test]
fn interrupting_while_paused() {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, "try { await tools.payGated({amount: 1}) } catch { await tools.pay({amount: 2}) }").waits();
    session.interrupt_handle().interrupt();
    let ended = world.drive(&mut session).ended();
    assert_eq!(ended.result.unwrap_err().kind, FailureKind::Cancelled);
    assert_eq!(record(&session), ["1.1 payGated abandoned"]);
    assert_eq!(world.paid(), [0.0; 0]);
    assert_eq!(eval(&mut session, "1"), Value::from(1), "an interrupt is spent on one program");
}

#[test]
fn an_interrupt_wakes_run() {
    let mut session =
        ENGINE.session(&Capabilities::new([Capability::raw("never", |_, _| std::future::pending())]).unwrap()).unwrap();
    let interrupt = session.interrupt_handle();
    let outcome = block_on(async {
        let run = session.run("await tools.never()", &RealTime);
        let stop = async {
            tokio::task::yield_now().await;
            interrupt.interrupt();
        };
        tokio::join!(run, stop).0
    });
    let Outcome::Failed(ended) = outcome.unwrap() else { panic!() };
    assert_eq!(ended.result.unwrap_err().kind, FailureKind::Cancelled);
}

#[test]
fn a_stop_is_not_an_exception() {
    // A `catch` that pays after the deadline never pays, neither in its own program nor in the next.
    let endless = "for (;;) {}";
    let attacks = [
        "try { LOOP } catch { tools.pay({amount: 1}) }",
        "try { LOOP } finally { tools.pay({amount: 1}) }",
        "new Promise(() => { LOOP }).catch(() => tools.pay({amount: 1})); 1",
        "await new Promise(() => { LOOP }).catch(() => tools.pay({amount: 1})); 1",
        "Promise.resolve().then(() => { LOOP }).then(() => {}, () => tools.pay({amount: 1})); 1",
        "await Promise.resolve().then(() => { LOOP }).finally(() => tools.pay({amount: 1}))",
        "async function f() { LOOP } f().catch(() => tools.pay({amount: 1})); 1",
        "async function f() { await null; LOOP } await f().catch(() => tools.pay({amount: 1})); 1",
        "async function* g() { LOOP } await g().next().catch(() => tools.pay({amount: 1})); 1",
        "Promise.resolve().then(() => tools.pay({amount: 1})); LOOP",
        "setTimeout(() => tools.pay({amount: 1}), 0); LOOP",
        "queueMicrotask && queueMicrotask(() => tools.pay({amount: 1})); LOOP",
        "setTimeout(() => { try { LOOP } catch {} tools.pay({amount: 1}) }, 0); await new Promise(() => {})",
        "const o = { get x() { LOOP } }; try { o.x } catch {} tools.pay({amount: 1})",
        "[1, 2].sort(() => { LOOP }); tools.pay({amount: 1})",
        "class A { static { try { LOOP } catch {} tools.pay({amount: 1}) } }",
        "new FinalizationRegistry(() => tools.pay({amount: 1})).register({}, 1); LOOP",
        "Promise.allSettled([new Promise(() => { LOOP })]).then(() => tools.pay({amount: 1})); 1",
        "({ then(f) { LOOP } }); await ({ then(f) { try { LOOP } catch (e) { tools.pay({amount: 1}); f(1) } } })",
        "tools.mirror({ get x() { try { LOOP } catch {} return tools.pay({amount: 1}) } })",
    ];
    for attack in attacks {
        let world = World::new();
        let mut session = world.session_with(with_limits(|limits| limits.cpu_time = Duration::from_millis(30)));
        let ended = world.run(&mut session, &attack.replace("LOOP", endless)).ended();
        let failure = ended.result.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Timeout, "{attack}: {failure:?}");
        assert_eq!(failure.message, "the program used more than 30ms of CPU time");
        assert_eq!(ended.heap, Heap::Intact, "{attack}");
        let next = world.run(&mut session, "await new Promise(r => setTimeout(r, 10)); 'next'").value();
        assert_eq!(next, text("next"), "{attack}");
        assert_eq!(world.paid(), [0.0; 0], "{attack}");
    }
}

#[test]
fn s20_what_ran_before_the_limit_stays() {
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.cpu_time = Duration::from_millis(30)));
    let ended = world.run(&mut session, "let tv = 1; for(;;) {}").ended();
    assert_eq!(ended.result.unwrap_err().kind, FailureKind::Timeout);
    assert_eq!((ended.heap, ended.notes.len()), (Heap::Intact, 0));
    assert_eq!(world.run(&mut session, "tv").value(), Value::from(1));
}

#[test]
fn wall_clock_counts_outside_pauses_only() {
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.wall_time = Some(10 * SECOND)));
    world.run(&mut session, "await tools.slow({ms: 4000}); await tools.gate({q: 1}); await tools.slow({ms: 4000}); await tools.gate({q: 2}); await tools.slow({ms: 4000})").waits();
    world.advance(1000 * SECOND);
    world.decide(&mut session, "1.2", Decision::Approve).waits();
    world.advance(1000 * SECOND);
    let failure = world.decide(&mut session, "1.4", Decision::Approve).failure();
    assert_eq!(failure.kind, FailureKind::WallTimeout);
    assert_eq!(failure.message, "the program used more than 10s of wall-clock time");
    assert_eq!(status(&session, "1.5"), CallStatus::Unknown);
}

// ---- the async driver ----

#[test]
fn dropping_run_makes_calls_unknown_and_resume_goes_on() {
    let (tell, asked) = std::sync::mpsc::channel();
    let tools = Capabilities::new([Capability::raw("ask", move |context, _| {
        tell.send(context.cancel.clone()).unwrap();
        std::future::pending()
    })])
    .unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    block_on(async {
        let run = session.run("const got = await tools.ask({n: 1}); [got, 'went on']", &RealTime);
        tokio::select! {
            biased;
            _ = run => panic!("nobody answered"),
            () = async { while asked.try_recv().map(|cancel| assert!(!cancel.is_cancelled())).is_err() { tokio::task::yield_now().await } } => {}
        }
    });
    assert_eq!(record(&session), ["1.1 ask unknown"]);
    let Outcome::Paused(pause) = block_on(session.resume(&RealTime)).unwrap() else { panic!() };
    assert_eq!(shown(&pause), ["1.1 ask { n: 1 }"]);
    session.decide(id("1.1"), Decision::Respond(text("by hand"))).unwrap();
    let Outcome::Done(done) = block_on(session.resume(&RealTime)).unwrap() else { panic!() };
    assert_eq!(done.result.unwrap(), json(json!(["by hand", "went on"])));
}

#[test]
fn run_drives_calls_timers_and_pauses() {
    let world = World::new();
    let tools = Capabilities::new([world.echo(), world.gate()]).unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    let source = "const a = await tools.echo({v: 1}); await new Promise(r => setTimeout(r, 5)); const b = await tools.gate({q: a}); [a, b]";
    let Outcome::Paused(pause) = block_on(session.run(source, &RealTime)).unwrap() else { panic!() };
    assert_eq!(shown(&pause), ["1.2 gate { q: 1 }"]);
    session.decide(id("1.2"), Decision::Approve).unwrap();
    let Outcome::Done(done) = block_on(session.resume(&RealTime)).unwrap() else { panic!() };
    assert_eq!(done.result.unwrap(), json(json!([1, "yes"])));
    let Outcome::Failed(failed) = block_on(session.run("null.x", &RealTime)).unwrap() else { panic!() };
    assert_eq!(failed.result.unwrap_err().name, "TypeError");
    assert_eq!(block_on(session.resume(&RealTime)).unwrap_err().kind(), ErrorKind::NotRunning);
}

#[test]
fn a_tool_that_panics_is_a_tool_that_failed() {
    let tools = Capabilities::new([
        Capability::raw("early", |_, _| -> std::future::Ready<chrysalid::CallResult> { panic!("at once") }),
        Capability::raw("late", |_, _| async { panic!("later") }),
    ])
    .unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    let source = "const r = await Promise.allSettled([tools.early(), tools.late()]); r.map(x => `${x.reason}`)";
    let Outcome::Done(done) = block_on(session.run(source, &RealTime)).unwrap() else { panic!() };
    assert_eq!(done.result.unwrap(), json(json!(["ToolError: the tool panicked", "ToolError: the tool panicked"])));
}

#[test]
fn typed_capabilities_read_and_write_with_serde() {
    #[derive(serde::Deserialize)]
    struct Order {
        item: String,
        count: u32,
    }
    #[derive(serde::Serialize)]
    struct Receipt {
        text: String,
        total: Option<f64>,
    }
    let tools = Capabilities::new([
        Capability::new("shop.order", |order: Order| async move {
            Ok::<_, ToolError>(Receipt { text: format!("{} {}", order.count, order.item), total: None })
        }),
        Capability::new("shop.closed", |(): ()| async { Err::<(), _>("closed on Sundays") }),
        Capability::with_context("shop.key", |context: chrysalid::CallContext, (): ()| async move {
            Ok::<_, ToolError>((context.id.to_string(), context.idempotency_key().len()))
        }),
    ])
    .unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    let source = "const r = await Promise.allSettled([tools.shop.order({item: 'tea', count: 2}), tools.shop.order({item: 'tea', count: -1}), tools.shop.closed(), tools.shop.key({})]);
        r.map(x => x.value ?? `${x.reason.name}: ${x.reason.message}`)";
    let Outcome::Done(done) = block_on(session.run(source, &RealTime)).unwrap() else { panic!() };
    assert_eq!(
        done.result.unwrap(),
        json(json!([
            { "text": "2 tea", "total": null },
            "ToolInputError: invalid value: integer `-1`, expected u32 at $.count",
            "ToolError: closed on Sundays",
            ["1.4", 64],
        ]))
    );
}

// ---- events ----

#[derive(Default)]
struct Diary(Mutex<Vec<String>>);

impl EventSink for Diary {
    fn event(&self, event: Event<'_>) {
        self.0.lock().unwrap().push(match event {
            Event::CallStarted { id, name } => format!("started {id} {name}"),
            Event::CallEnded { id, name, status } => format!("ended {id} {name} {}", status.name()),
            Event::CallWaiting { id, name } => format!("waiting {id} {name}"),
            Event::Line(line) => format!("{} {}", line.level.name(), line.text),
            Event::Paused { pending } => format!("paused {pending}"),
            other => panic!("{other:?}"),
        });
    }
}

#[test]
fn events_come_in_the_order_of_what_happened() {
    let world = World::new();
    let diary = Arc::new(Diary::default());
    let mut options = SessionOptions::default();
    options.events = Some(diary.clone());
    let mut session = world.session_with(options);
    let source = "console.log('one'); const e = await tools.echo({v: 1}); console.warn('two'); await tools.nosuch?.(); const g = tools.gate({q: 1}); console.log('three'); await g; await tools.fail({msg: 'x'}).catch(() => {}); console.log('four')";
    world.run(&mut session, source).waits();
    session.decide(id("1.2"), Decision::Approve).unwrap();
    world.drive(&mut session).value();
    assert_eq!(
        *diary.0.lock().unwrap(),
        [
            "log one",
            "started 1.1 echo",
            "ended 1.1 echo completed",
            "warn two",
            "log three",
            "waiting 1.2 gate",
            "paused 1",
            "started 1.2 gate",
            "ended 1.2 gate completed",
            "started 1.3 fail",
            "ended 1.3 fail failed",
            "log four",
        ]
    );
}

// ---- capabilities of a session ----

#[test]
fn s19_a_stored_closure_keeps_its_tool_and_its_name() {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, "const send = tools.echo; globalThis.f = () => send({v: 1});").value();
    assert_eq!(world.run(&mut session, "await f()").value(), Value::from(1));
    assert_eq!(record(&session), ["2.1 echo completed"]);

    session.set_capabilities(&Capabilities::new([world.pay()]).unwrap());
    let failure = world.run(&mut session, "await f()").failure();
    assert_eq!(failure.to_string(), "ToolUnavailable: tools.echo does not exist.");
    assert_eq!(world.run(&mut session, "Object.keys(tools).join()").value(), text("pay"));

    // The same over a snapshot.
    session.set_capabilities(&world.tools());
    let mut session = crate::support::moved(session, &world.tools());
    assert_eq!(world.run(&mut session, "await f()").value(), Value::from(1));
}

#[test]
fn limits_out_of_bounds_are_refused() {
    let refused = |change: fn(&mut chrysalid::Limits)| {
        let error = ENGINE.session_with(&Capabilities::none(), with_limits(change)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        error.to_string()
    };
    assert_eq!(refused(|l| l.memory = 1), "memory limit of 1 bytes is not between 4194304 and 268435456");
    assert_eq!(
        refused(|l| l.memory = 1 << 40),
        "memory limit of 1099511627776 bytes is not between 4194304 and 268435456"
    );
    assert_eq!(refused(|l| l.value_depth = 513), "value depth of 513 is not between 1 and 512");
    let zero = "value nodes, calls in flight and cpu time must not be zero";
    assert_eq!(refused(|l| l.cpu_time = Duration::ZERO), zero);
    assert_eq!(refused(|l| l.calls_in_flight = 0), zero);
    assert_eq!(refused(|l| l.value_nodes = 0), zero);
    assert_eq!(refused(|l| l.console_size = 0), "console size of 0 bytes is not between 1 and 536870912");
    let error = Engine::builder().max_memory(4 << 30).build().unwrap_err();
    assert_eq!(error.to_string(), "max memory of 4294967296 bytes is more than 2147483648");
}

#[test]
fn an_external_capability_is_answered_by_settle() {
    let tools =
        Capabilities::new([Capability::external("signal"), Capability::external("asked").approval(Approval::Ask)])
            .unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    let world = World::new();
    let pause =
        world.run(&mut session, "(await Promise.all([tools.signal({n: 1}), tools.asked({n: 2})])).join()").paused();
    assert_eq!(shown(&pause), ["1.1 signal { n: 1 }", "1.2 asked { n: 2 }"]);
    let pause = world.decide(&mut session, "1.2", Decision::Approve).paused();
    let standing: Vec<_> = pause.pending.iter().map(|call| call.status).collect();
    assert_eq!(standing, [CallStatus::Outside, CallStatus::Outside]);
    let mut session = crate::support::moved(session, &tools);
    session.settle(id("1.2"), Ok(text("two"))).unwrap();
    session.settle(id("1.1"), Ok(text("one"))).unwrap();
    assert_eq!(world.drive(&mut session).value(), text("one,two"));
}

#[test]
fn an_interrupt_without_a_program_stops_the_next_one() {
    let mut session = session();
    session.interrupt_handle().interrupt();
    assert_eq!(crate::support::fails(&mut session, "1").kind, FailureKind::Cancelled);
    assert_eq!(eval(&mut session, "1"), Value::from(1));
}

#[test]
fn another_set_while_a_program_waits() {
    let world = World::new();
    let mut session = world.session();
    let source = "try { await tools.payGated({amount: 1}) } catch (e) { `${e.name}: ${e.message}` }";
    world.run(&mut session, source).waits();
    session.set_capabilities(&Capabilities::new([world.echo()]).unwrap());
    let value = world.decide(&mut session, "1.1", Decision::Approve).value();
    assert_eq!(value, text("ToolUnavailable: payGated is not available"));
    assert_eq!(world.paid(), [0.0; 0]);
    // `tools` changes when the next program starts.
    assert_eq!(world.run(&mut session, "Object.keys(tools).join()").value(), text("echo"));
}
