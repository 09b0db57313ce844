//! Cases of kind H that the policy decides about, each staying in the session and moved into a fresh engine. The others are in
//! `approvals.rs`.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use chrysalid::{
    Approval, CallStatus, Capabilities, Decision, DecisionKind, ErrorKind, Grant, Outcome, Report, Reviewer,
    SessionOptions, SharedSession, Value, Verdict,
};
use serde_json::json;

use crate::support::{BOTH, ENGINE, RealTime, World, block_on, id, json, reasons, record, ruled, shown, status, text};

#[test]
fn h13_an_edit_that_changes_the_tool_asks_by_the_other_tools_policy() {
    for way in BOTH {
        let world = World::new();
        let note = world.answering("noteGated", text("noted")).approval(Approval::Ask);
        let tools = Capabilities::new([note, world.pay_gated()]).unwrap();
        let mut session = ENGINE.session(&tools).unwrap();
        let first = world.run(&mut session, "JSON.stringify(await tools.noteGated({text: \"hi\"}))").paused();
        assert_eq!(shown(&first), ["1.1 noteGated { text: 'hi' }"]);

        let mut session = way.pass(session, &tools);
        let edit = Decision::EditCall { name: "payGated".to_owned(), argument: json(json!({ "amount": 9 })) };
        let second = world.decide(&mut session, "1.1", edit).paused();
        assert_eq!(shown(&second), ["1.1 payGated { amount: 9 }"]);
        assert_eq!(reasons(&second.pending[0]), ["asks each time"]);
        assert_eq!(world.calls(), [""; 0]);
        let shown_before = Verdict::of(&first.pending[0], Decision::Approve);
        let refused = session.decide_with(shown_before).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::UnknownCall);
        assert_eq!(refused.to_string(), "no call 1.1 with what was shown in this session");

        let mut session = way.pass(session, &tools);
        let value = world.decide(&mut session, "1.1", Decision::Approve).value();
        assert_eq!(value, text("{\"ok\":true,\"n\":1,\"amount\":9,\"edited_by_human\":{\"amount\":9}}"));
        assert_eq!(world.paid(), [9.0]);
        let call = &session.calls()[0];
        assert_eq!((call.name.as_str(), call.called_as.as_deref()), ("payGated", Some("noteGated")));
        assert_eq!(call.edited, Some(json(json!({ "amount": 9 }))));
    }
}

#[test]
fn h14_the_same_decision_delivered_twice() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        let pause = world.run(&mut session, "await tools.payGated({amount: 9})").paused();
        let verdict = Verdict::of(&pause.pending[0], Decision::Approve);

        let mut session = way.pass(session, &world.tools());
        session.decide_with(verdict.clone()).unwrap();
        let again = session.decide_with(verdict.clone()).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::AlreadyDecided);
        assert_eq!(again.to_string(), "call 1.1 has its decision already; the next step carries it out");

        let mut session = way.pass(session, &world.tools());
        assert_eq!(session.decide_with(verdict.clone()).unwrap_err().kind(), ErrorKind::AlreadyDecided);
        world.drive(&mut session).value();
        let late = session.decide_with(verdict).unwrap_err();
        assert_eq!(late.to_string(), "call 1.1 was decided already: it is completed");
        assert_eq!(world.paid(), [9.0]);
    }
}

#[test]
fn h14_of_many_that_decide_at_once_one_wins() {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, "await tools.payGated({amount: 9})").waits();
    let shared = Arc::new(SharedSession::new(session));
    let barrier = Arc::new(Barrier::new(8));
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let (shared, barrier) = (shared.clone(), barrier.clone());
            std::thread::spawn(move || {
                barrier.wait();
                block_on(shared.decide(id("1.1"), Decision::Approve)).map_err(|error| error.kind())
            })
        })
        .collect();
    let mut ends: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    ends.sort_by_key(Result::is_err);
    let mut expected = vec![Err(ErrorKind::AlreadyDecided); 8];
    expected[0] = Ok(());
    assert_eq!(ends, expected);
    let outcome = block_on(shared.resume(&RealTime)).unwrap();
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    assert_eq!(world.paid(), [9.0]);
}

const EXPIRED: &str = "ApprovalExpired|gate: nobody decided in time|approval_expired|gate|false";

#[test]
fn h17_an_approval_expires() {
    let hour = Duration::from_hours(1);
    let source = "try { await tools.gate({q: \"ok?\"}) } catch (e) { [e.name, e.message, e.code, e.tool, e.retryable].join('|') }";
    for way in BOTH {
        let world = World::new();
        let tools = Capabilities::new([world.gate().approval_expiry(hour)]).unwrap();
        let begin = || {
            let mut session = ENGINE.session(&tools).unwrap();
            let pause = world.run(&mut session, source).paused();
            assert_eq!(pause.pending[0].expires_at, Some(world.time() + hour));
            assert_eq!(pause.wake_at, None, "no timer is needed");
            way.pass(session, &tools)
        };
        // One that nobody decided; one whose decision comes too late, and one whose decision is carried out too late.
        let mut session = begin();
        world.advance(2 * hour);
        assert_eq!(world.drive(&mut session).value(), text(EXPIRED));
        assert_eq!(record(&session), ["1.1 gate rejected"]);

        let mut session = begin();
        session.decide(id("1.1"), Decision::Approve).unwrap();
        world.advance(hour);
        assert_eq!(world.drive(&mut session).value(), text(EXPIRED));

        let mut session = begin();
        world.advance(2 * hour);
        let later = Grant::new("other", 1).unwrap();
        session.grant(later, &Reviewer::new(), world.time()).unwrap();
        let late = session.decide(id("1.1"), Decision::Approve).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::ApprovalExpired);
        assert_eq!(late.to_string(), "the approval of call 1.1 has expired");
        assert_eq!(world.drive(&mut session).value(), text(EXPIRED));
        assert_eq!(world.calls(), [""; 0], "{way:?}");

        let mut session = begin();
        world.advance(Duration::from_millis(3_599_999));
        assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), text("yes"));
    }
}

#[test]
fn h17_what_was_approved_in_time_does_not_expire_afterwards() {
    // Approved and begun; whether it was done is decided a day later.
    let hour = Duration::from_hours(1);
    let world = World::new();
    let tools = Capabilities::new([world.gate().approval_expiry(hour)]).unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    world.run(&mut session, "await tools.gate({q: 1})").waits();
    session.decide(id("1.1"), Decision::Approve).unwrap();
    drop(crate::support::step(&mut session, world.time()));
    assert_eq!(status(&session, "1.1"), CallStatus::Started);
    let mut session = crate::support::moved(session, &tools);
    world.advance(24 * hour);
    let pause = world.drive(&mut session).paused();
    assert_eq!((pause.pending[0].status, pause.pending[0].expires_at), (CallStatus::Unknown, None));
    assert_eq!(world.decide(&mut session, "1.1", Decision::Respond(text("done"))).value(), text("done"));
}

#[test]
fn h20_a_tool_that_needs_approval_needs_it_when_code_calls_it() {
    for way in BOTH {
        let world = World::new();
        let tools = Capabilities::new([world.answering("delete-file", Value::Null).approval(Approval::Ask)]).unwrap();
        let mut session = ENGINE.session(&tools).unwrap();
        let source = "const path = '/etc/x';\n  await tools.deleteFile({path})";
        let pause = world.run(&mut session, source).paused();
        let call = &pause.pending[0];
        assert_eq!((call.name.as_str(), call.path.as_str()), ("delete-file", "tools.deleteFile"));
        assert_eq!(call.argument, json(json!({ "path": "/etc/x" })));
        let place = call.place.as_ref().unwrap();
        assert_eq!((place.file.as_deref(), place.line, place.column), (None, 2, 15));
        assert_eq!(world.calls(), [""; 0]);

        let mut session = way.pass(session, &tools);
        assert_eq!(session.pending(), pause.pending);
        assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), Value::Null);
        assert_eq!(world.calls(), ["delete-file { path: '/etc/x' }"]);
    }
}

#[test]
fn h21_a_gate_by_arguments() {
    let rules =
        "[[rules]]\ntools = 'pay'\nwhen = { amount = { above = 100 } }\ndecision = 'ask'\nreason = 'more than 100'\n";
    for way in BOTH {
        let world = World::new();
        let tools = Capabilities::new([world.pay()]).unwrap();
        let mut session = ruled(rules).session(&tools).unwrap();
        let source = "await tools.pay({amount: 10}); await tools.pay({amount: 500}); \"end\"";
        let pause = world.run(&mut session, source).paused();
        assert_eq!(shown(&pause), ["1.2 pay { amount: 500 }"]);
        assert_eq!(reasons(&pause.pending[0]), ["\"more than 100\" (policy line 1)"]);
        assert_eq!(world.paid(), [10.0]);

        let mut session = way.pass_into(session, &tools, SessionOptions::default(), || ruled(rules));
        assert_eq!(world.decide(&mut session, "1.2", Decision::Approve).value(), text("end"));
        assert_eq!(world.paid(), [10.0, 500.0]);
    }
}

#[test]
fn h22_a_loop_of_writes_with_one_grant() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        let source = "for (const n of [1,2,3,4,5]) await tools.payGated({amount: n});\n\"end\"";
        world.run(&mut session, source).waits();

        let mut session = way.pass(session, &world.tools());
        let grant = Grant::parse("tools = 'payGated', when = { amount = { at_most = 10 } }, count = 3").unwrap();
        assert_eq!(session.grant(grant, &Reviewer::named("ann"), world.time()).unwrap(), 1);
        let mut session = way.pass(session, &world.tools());
        let pause = world.decide(&mut session, "1.1", Decision::Approve).paused();
        assert_eq!(shown(&pause), ["1.5 payGated { amount: 5 }"]);
        assert_eq!(world.paid(), [1.0, 2.0, 3.0, 4.0]);
        let grants: Vec<_> = pause.calls.iter().map(|call| call.grant).collect();
        assert_eq!(grants, [None, Some(1), Some(1), Some(1), None]);

        let mut session = way.pass(session, &world.tools());
        assert_eq!(world.decide(&mut session, "1.5", Decision::Approve).value(), text("end"));
        assert_eq!(session.grants(), []);
    }
}

#[test]
fn h25_the_reviewer_sees_what_will_happen() {
    for way in BOTH {
        let world = World::new();
        let mail = world.answering("send-mail", Value::Null).approval(Approval::Ask);
        let tools = Capabilities::new([mail, world.echo(), world.gate()]).unwrap();
        let mut session = ENGINE.session(&tools).unwrap();
        let source = "const user = {id: 7, mail: \"a@example.test\"};
await tools.echo({v: user});
const other = tools.gate({q: 1});
await tools.sendMail({to: user.mail, body: \"hi\"})";
        world.run(&mut session, source).waits();
        let mut session = way.pass(session, &tools);
        let pause = world.drive(&mut session).paused();
        assert_eq!(shown(&pause), ["1.2 gate { q: 1 }", "1.3 send-mail { body: 'hi', to: 'a@example.test' }"]);
        let call = &pause.pending[1];
        assert_eq!((call.name.as_str(), call.path.as_str()), ("send-mail", "tools.sendMail"));
        let place = call.place.as_ref().unwrap();
        assert_eq!(place.line, 4);
        let all = [DecisionKind::Approve, DecisionKind::Edit, DecisionKind::Reject, DecisionKind::Respond];
        assert_eq!(call.allowed, all);
        assert_eq!(call.requested_at, world.time());
        assert_eq!(reasons(call), ["asks each time"]);
        let calls: Vec<_> =
            pause.calls.iter().map(|call| format!("{} {} {}", call.id, call.name, call.status.name())).collect();
        assert_eq!(calls, ["1.1 echo completed", "1.2 gate waiting", "1.3 send-mail waiting"]);
    }
}

#[test]
fn h25_a_long_argument_is_cut_with_a_mark_and_its_size() {
    let world = World::new();
    let mut session = world.session();
    let pause = world.run(&mut session, "await tools.gate({q: 'é'.repeat(50_000)})").paused();
    let report = Report::of(&Outcome::Paused(pause));
    let call = &report.pending[0];
    // `{"q":"` and `"}` around 100,000 bytes.
    assert_eq!(call.args_cut, Some(100_008));
    let args = call.args.as_ref().unwrap().as_str().unwrap();
    let shown = format!("{{\"q\":\"{}", "é".repeat((65_536 - 6) / 2));
    assert_eq!(args, format!("{shown}[cut: {} bytes more]", 100_008 - shown.len()));
}
