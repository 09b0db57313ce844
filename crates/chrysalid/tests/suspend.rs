//! Calls whose tool waits for somebody itself: suspended, so that the program can pause, and answered later.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrysalid::{
    AuditSink, Call, CallStatus, Capabilities, Capability, Decision, DecisionKind, ErrorKind, Event, EventSink,
    Modules, Restore, Session, SessionOptions, Step, Value,
};

use crate::support::{
    BOTH, ENGINE, World, fresh_engine, id, moved, record, shown, status, step, step_to_calls, text, with_limits,
};

/// A tool that does not answer by itself.
fn ask() -> Capability {
    Capability::raw("ask", |_, _| std::future::pending())
}

fn tools(world: &World) -> Capabilities {
    Capabilities::new([ask().timeout(Duration::from_secs(5)), world.echo(), world.gate()]).unwrap()
}

/// Starts a program and gives the calls that it begins.
#[track_caller]
fn begin(world: &World, session: &mut Session, source: &str, count: usize) -> Vec<Call> {
    session.start(source).unwrap();
    step_to_calls(session, world.time(), count)
}

#[track_caller]
fn refused(session: &mut Session, call: &str, kind: ErrorKind, message: &str) {
    let error = session.suspend_call(id(call)).unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
}

#[test]
fn a_suspended_call_is_answered_after_a_pause() {
    for way in BOTH {
        let world = World::new();
        let tools = tools(&world);
        let mut session = ENGINE.session(&tools).unwrap();
        let calls = begin(&world, &mut session, "const answer = await tools.ask({ q: 1 }); `${answer}!`", 1);
        session.suspend_call(id("1.1")).unwrap();
        assert!(!calls[0].cancel_signal().is_cancelled());
        let pause = world.drive(&mut session).paused();
        assert_eq!(shown(&pause), ["1.1 ask { q: 1 }"]);
        assert_eq!(pause.wake_at, None);

        // Longer than its timeout.
        world.advance(Duration::from_hours(1));
        let mut session = way.pass_into(session, &tools, SessionOptions::default(), fresh_engine);
        let pause = world.drive(&mut session).paused();
        assert_eq!((pause.pending[0].status, session.pending()), (CallStatus::Outside, pause.pending));
        session.settle(id("1.1"), Ok(text("yes"))).unwrap();
        let mut session = way.pass_into(session, &tools, SessionOptions::default(), fresh_engine);
        assert_eq!(world.drive(&mut session).value(), text("yes!"));
        assert_eq!(record(&session), ["1.1 ask completed"]);
        assert_eq!(session.calls()[0].duration, Some(Duration::from_hours(1)));
        assert_eq!(session.settle(id("1.1"), Ok(Value::Null)).unwrap_err().kind(), ErrorKind::AlreadyDecided);
    }
}

#[test]
fn a_suspended_call_leaves_its_place_to_the_next() {
    let world = World::new();
    let bounded = Capabilities::new([ask().concurrency(1)]).unwrap();
    for (tools, options) in
        [(tools(&world), with_limits(|limits| limits.calls_in_flight = 1)), (bounded, SessionOptions::default())]
    {
        let mut session = ENGINE.session_with(&tools, options).unwrap();
        let source = "(await Promise.all([tools.ask({ q: 1 }), tools.ask({ q: 2 })])).join()";
        begin(&world, &mut session, source, 1);
        assert_eq!([status(&session, "1.1"), status(&session, "1.2")], [CallStatus::Started, CallStatus::Queued]);
        session.suspend_call(id("1.1")).unwrap();
        let Step::Start(calls) = step(&mut session, world.time()) else { panic!("there is a place") };
        assert_eq!(calls[0].id(), id("1.2"));
        session.settle(id("1.2"), Ok(text("b"))).unwrap();
        world.drive(&mut session).waits();
        session.settle(id("1.1"), Ok(text("a"))).unwrap();
        assert_eq!(world.drive(&mut session).value(), text("a,b"));
    }
}

#[test]
fn the_suspended_loser_of_a_race_keeps_its_program_open() {
    for way in BOTH {
        let world = World::new();
        let tools = tools(&world);
        let mut session = ENGINE.session(&tools).unwrap();
        // The gate alone would be withdrawn once the value is known.
        let source = "await Promise.race([tools.ask({ q: 1 }), tools.gate({ q: 2 }), tools.echo({ v: 3 })])";
        begin(&world, &mut session, source, 2);
        session.suspend_call(id("1.1")).unwrap();
        session.settle(id("1.3"), Ok(Value::from(3))).unwrap();
        let pause = world.drive(&mut session).paused();
        assert_eq!(shown(&pause), ["1.1 ask { q: 1 }", "1.2 gate { q: 2 }"]);
        let mut session = way.pass_into(session, &tools, SessionOptions::default(), fresh_engine);
        world.drive(&mut session).waits();
        session.settle(id("1.1"), Ok(Value::from(1))).unwrap();
        assert_eq!(world.drive(&mut session).value(), Value::from(3));
        assert_eq!(record(&session), ["1.1 ask completed", "1.2 gate abandoned", "1.3 echo completed"]);
    }
}

#[test]
fn a_program_that_failed_waits_for_a_suspended_call_as_for_one_that_runs() {
    for way in BOTH {
        let world = World::new();
        let tools = tools(&world);
        let mut session = ENGINE.session(&tools).unwrap();
        let source = "tools.ask({ q: 1 }); tools.gate({ q: 2 }); await tools.echo(); throw new Error('over')";
        begin(&world, &mut session, source, 2);
        session.suspend_call(id("1.1")).unwrap();
        session.settle(id("1.3"), Ok(Value::Null)).unwrap();
        let pause = world.drive(&mut session).paused();
        assert_eq!(shown(&pause), ["1.1 ask { q: 1 }"]);
        let mut session = way.pass_into(session, &tools, SessionOptions::default(), fresh_engine);
        world.drive(&mut session).waits();
        session.settle(id("1.1"), Ok(Value::from(1))).unwrap();
        assert_eq!(world.drive(&mut session).failure().to_string(), "Error: over");
        assert_eq!(record(&session), ["1.1 ask completed", "1.2 gate abandoned", "1.3 echo completed"]);
    }
}

#[test]
fn a_stop_leaves_a_suspended_call_unknown() {
    for way in BOTH {
        let world = World::new();
        let tools = Capabilities::new([ask(), Capability::external("signal")]).unwrap();
        let mut session = ENGINE.session(&tools).unwrap();
        begin(&world, &mut session, "await Promise.all([tools.ask(), tools.signal()])", 1);
        session.suspend_call(id("1.1")).unwrap();
        world.drive(&mut session).waits();
        let mut session = way.pass_into(session, &tools, SessionOptions::default(), fresh_engine);
        session.interrupt_handle().interrupt();
        assert_eq!(world.drive(&mut session).failure().to_string(), "Cancelled: the program was interrupted");
        // What nobody had begun is withdrawn.
        assert_eq!(record(&session), ["1.1 ask unknown", "1.2 signal abandoned"]);
    }
}

#[test]
fn a_begun_call_of_a_failed_program_stays_unknown_whatever_was_decided() {
    let world = World::new();
    let tools = tools(&world);
    let mut session = ENGINE.session(&tools).unwrap();
    begin(&world, &mut session, "tools.ask({ q: 1 }); await tools.echo(); throw new Error('over')", 2);
    session.settle(id("1.2"), Ok(Value::Null)).unwrap();
    let Step::Wait { .. } = step(&mut session, world.time()) else { panic!("does not wait") };
    let mut session = moved(session, &tools);
    let failure = world.decide(&mut session, "1.1", Decision::Approve).failure();
    assert_eq!(failure.to_string(), "Error: over");
    assert_eq!(record(&session), ["1.1 ask unknown", "1.2 echo completed"]);
}

#[test]
fn only_a_call_that_runs_is_suspended() {
    let world = World::new();
    let tools = Capabilities::new([ask().concurrency(1), world.gate(), Capability::external("signal")]).unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    refused(&mut session, "1.1", ErrorKind::UnknownCall, "no call 1.1 in this session");
    let source = "await Promise.race([tools.ask({ q: 1 }), tools.ask({ q: 2 }), tools.gate(), tools.signal()])";
    begin(&world, &mut session, source, 1);
    refused(&mut session, "1.2", ErrorKind::NotWaiting, "call 1.2 has not begun");
    refused(&mut session, "1.3", ErrorKind::NotWaiting, "call 1.3 has not begun");
    refused(&mut session, "1.4", ErrorKind::NotWaiting, "call 1.4 has not begun");
    refused(&mut session, "2.1", ErrorKind::UnknownCall, "no call 2.1 in this session");
    session.suspend_call(id("1.1")).unwrap();
    refused(&mut session, "1.1", ErrorKind::NotWaiting, "call 1.1 is suspended already");
    let Step::Start(_) = step(&mut session, world.time()) else { panic!("there is a place") };
    let mut session = moved(session, &tools);
    refused(&mut session, "1.1", ErrorKind::NotWaiting, "call 1.1 is suspended already");
    refused(&mut session, "1.2", ErrorKind::NotWaiting, "call 1.2 does not run here");
    session.settle(id("1.1"), Ok(Value::Null)).unwrap();
    refused(&mut session, "1.1", ErrorKind::AlreadyDecided, "call 1.1 was decided already: it is completed");
}

#[test]
fn the_fetch_of_a_module_is_not_suspended() {
    let world = World::new();
    let mut options = SessionOptions::default();
    options.modules = Modules::fixed([("a", "export const a = 1")]);
    let mut session = world.session_with(options);
    begin(&world, &mut session, "import { a } from 'a'; a", 1);
    refused(&mut session, "1.1", ErrorKind::NotWaiting, "call 1.1 fetches a module, and cannot be suspended");
}

#[test]
fn what_a_person_may_decide_about_a_suspended_call() {
    for way in BOTH {
        let world = World::new();
        let tools = tools(&world);
        let mut session = ENGINE.session(&tools).unwrap();
        let source = "try { await tools.ask({ q: 1 }) } catch (error) { `${error.name}: ${error.message}` }";
        begin(&world, &mut session, source, 1);
        session.suspend_call(id("1.1")).unwrap();
        let pause = world.drive(&mut session).paused();
        assert_eq!(pause.pending[0].allowed, [DecisionKind::Reject, DecisionKind::Respond]);
        let refused = session.decide(id("1.1"), Decision::Approve).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::DecisionNotAllowed);
        assert_eq!(refused.to_string(), "call 1.1 is outside, and does not take Approve");
        let mut session = way.pass_into(session, &tools, SessionOptions::default(), fresh_engine);
        let image = session.snapshot().unwrap();
        let answered = world.decide(&mut session, "1.1", Decision::Respond(text("answer")));
        assert_eq!((answered.value(), record(&session)), (text("answer"), vec!["1.1 ask completed".to_owned()]));
        let mut session = fresh_engine().restore(&image, &tools, Restore::Resume).unwrap();
        let rejected = world.decide(&mut session, "1.1", Decision::Reject(Some("no".into())));
        assert_eq!(rejected.value(), text("ToolRejected: ask was rejected: no"));
        assert_eq!(record(&session), ["1.1 ask rejected"]);
    }
}

#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl Told {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl AuditSink for Told {
    fn append(&self, line: &str) -> std::io::Result<()> {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let call = line["call"].as_str().unwrap_or_default();
        self.0.lock().unwrap().push(format!("{} {call}", line["event"].as_str().unwrap()));
        Ok(())
    }
}

impl EventSink for Told {
    fn event(&self, event: Event<'_>) {
        if let Event::CallSuspended { id, name } = event {
            self.0.lock().unwrap().push(format!("suspended {id} {name}"));
        }
    }
}

#[test]
fn that_a_call_is_suspended_is_audited_and_told() {
    let world = World::new();
    let (trail, told) = (Arc::new(Told::default()), Arc::new(Told::default()));
    let mut options = SessionOptions::default();
    options.audit = Some(trail.clone());
    options.events = Some(told.clone());
    let mut session = ENGINE.session_with(&tools(&world), options).unwrap();
    begin(&world, &mut session, "await tools.ask({ q: 1 })", 1);
    session.suspend_call(id("1.1")).unwrap();
    world.drive(&mut session).waits();
    session.settle(id("1.1"), Ok(Value::from(1))).unwrap();
    world.drive(&mut session).value();
    assert_eq!(trail.take(), ["opened ", "program ", "ruled 1.1", "started 1.1", "suspended 1.1", "ended 1.1"]);
    assert_eq!(told.take(), ["suspended 1.1 ask"]);
}
