//! Programs that a person lets run as a whole, before any of it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use chrysalid::{
    Capabilities, Decision, DecisionKind, Effects, ErrorKind, FailureKind, Heap, Modules, Plan, Reviewer, Session,
    SessionOptions, Value, Verdict,
};
use serde_json::json;

use crate::support::{BOTH, ENGINE, World, fresh_engine, id, json, reasons, record, ruled, shown, status, text};

fn approving() -> SessionOptions {
    let mut options = SessionOptions::default();
    options.approve_program = true;
    options
}

fn session(world: &World) -> Session {
    ENGINE.session_with(&world.tools(), approving()).unwrap()
}

#[test]
fn nothing_runs_before_it_is_approved() {
    let source = "console.log('ran'); await tools.pay({ amount: 1 });\n(await tools.payGated({ amount: 2 })).n";
    for way in BOTH {
        let world = World::new();
        let mut session = session(&world);
        let pause = world.run(&mut session, source).paused();
        assert_eq!(pause.logs, []);
        let [call] = pause.pending.as_slice() else { panic!("{pause:?}") };
        assert_eq!((call.name.as_str(), call.path.as_str(), call.place.as_ref()), ("$program", "$program", None));
        assert_eq!(reasons(call), ["the program as a whole waits for approval"]);
        assert_eq!(call.allowed, [DecisionKind::Approve, DecisionKind::Edit, DecisionKind::Reject]);
        assert_eq!(call.argument.get("source"), Some(&text(source)));
        let plan = Plan::of(source, &world.tools()).unwrap();
        assert_eq!(call.argument.get("plan_text"), Some(&text("pay: called, line 1\npayGated: called, line 2")));
        assert_eq!(call.argument.get("plan").unwrap().to_json().unwrap(), serde_json::to_value(&plan).unwrap());
        assert_eq!(record(&session), ["1.1 $program waiting"]);

        // Whatever the restored session's options say.
        let mut session = way.pass_into(session, &world.tools(), SessionOptions::default(), fresh_engine);
        assert_eq!(world.drive(&mut session).paused().pending, pause.pending);
        let ended = world.decide(&mut session, "1.1", Decision::Approve).ended();
        assert_eq!(ended.result, Ok(Value::from(2)), "what it asks about is in the plan");
        assert_eq!(ended.logs.len(), 1);
        assert_eq!(world.paid(), [1.0, 2.0]);
        assert_eq!(record(&session), ["1.1 $program completed", "1.2 pay completed", "1.3 payGated completed"]);
        let decided = session.calls()[0].decided.clone().unwrap();
        assert_eq!((decided.decision, decided.by), (DecisionKind::Approve, None));
    }
}

#[test]
fn each_program_is_asked_about() {
    let world = World::new();
    let mut session = session(&world);
    world.run(&mut session, "globalThis.k = 1").waits();
    assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), Value::from(1));
    let pause = world.run(&mut session, "k").paused();
    assert_eq!(pause.pending[0].argument.get("plan_text"), Some(&text("declared elsewhere: k, line 1")));
    assert_eq!(world.decide(&mut session, "2.2", Decision::Approve).value(), Value::from(1));
}

#[test]
fn what_a_person_puts_in_its_place_is_what_runs() {
    for way in BOTH {
        let world = World::new();
        let mut session = session(&world);
        world.run(&mut session, "await tools.payGated({ amount: 1000 })").waits();
        let edited = "const r = await tools.gate({ q: 1 });\nthrow new Error('line 2 of the edited text')";
        let verdict = Verdict::new(id("1.1"), Decision::Edit(text(edited))).by(Reviewer::named("ann"));
        let mut session = way.pass_into(session, &world.tools(), approving(), fresh_engine);
        session.decide_with(verdict).unwrap();
        let mut session = way.pass_into(session, &world.tools(), approving(), fresh_engine);
        let failure = world.drive(&mut session).failure();
        assert_eq!(failure.message, "line 2 of the edited text");
        let position = failure.position.unwrap();
        assert_eq!((position.line, position.source_line.as_str()), (2, "throw new Error('line 2 of the edited text')"));
        assert_eq!(record(&session), ["1.1 $program completed", "1.2 gate completed"]);
        assert_eq!(session.calls()[0].decided.as_ref().unwrap().by.as_deref(), Some("ann"));

        // The plan is that of the edited text: the first one's tool is not in it.
        world.run(&mut session, "await tools.payGated({ amount: 1000 })").waits();
        let edited = "const t = 'payGated'; await globalThis['to' + 'ols'][t]({ amount: 1 })";
        let edit = Decision::Edit(json(json!({ "source": edited })));
        let pause = world.decide(&mut session, "2.3", edit).paused();
        assert_eq!(shown(&pause), ["2.4 payGated { amount: 1 }"]);
        assert_eq!(reasons(&pause.pending[0]), ["asks each time", "not in the plan that was approved"]);
        assert_eq!(world.paid(), [0.0; 0]);
    }
}

#[test]
fn an_edit_that_is_no_program_is_refused() {
    let world = World::new();
    let mut session = session(&world);
    world.run(&mut session, "1").waits();
    for (edit, message) in [
        (Value::from(1), "call 1.1: a program is edited by giving its text"),
        (json(json!({ "plan": "x" })), "call 1.1: a program is edited by giving its text"),
        (text(&" ".repeat(300_000)), "call 1.1: source of 300000 bytes is more than 262144"),
    ] {
        let refused = session.decide(id("1.1"), Decision::Edit(edit)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidArguments);
        assert_eq!(refused.to_string(), message);
    }
    let refused = session.decide(id("1.1"), Decision::Edit(text("const = 1"))).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidArguments);
    assert!(refused.to_string().starts_with("call 1.1: SyntaxError: "), "{refused}");
    let other = Decision::EditCall { name: "pay".to_owned(), argument: Value::Null };
    let refused = session.decide(id("1.1"), other).unwrap_err();
    assert_eq!(refused.to_string(), "call 1.1 is a program, and no other call");
    let refused = session.decide(id("1.1"), Decision::Respond(Value::Null)).unwrap_err();
    assert_eq!(refused.to_string(), "call 1.1 is waiting, and does not take Respond");
    assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), Value::from(1));
}

#[test]
fn a_rejected_program_does_not_run() {
    for way in BOTH {
        for (reason, message) in [
            (None, "a person did not let the program run"),
            (Some("not today".to_owned()), "a person did not let the program run: not today"),
        ] {
            let world = World::new();
            let mut session = session(&world);
            world.run(&mut session, "await tools.pay({ amount: 1 })").waits();
            let mut session = way.pass_into(session, &world.tools(), approving(), fresh_engine);
            let ended = world.decide(&mut session, "1.1", Decision::Reject(reason)).ended();
            let failure = ended.result.unwrap_err();
            assert_eq!((failure.kind, failure.name.as_str()), (FailureKind::Rejected, "ToolRejected"));
            assert_eq!((failure.message.as_str(), ended.heap), (message, Heap::Intact));
            assert_eq!(world.calls(), [""; 0]);
            assert_eq!(record(&session), ["1.1 $program rejected"]);
            world.run(&mut session, "7").waits();
            assert_eq!(world.decide(&mut session, "2.2", Decision::Approve).value(), Value::from(7));
        }
    }
}

#[test]
fn a_program_that_nobody_decides_about_expires() {
    let engine = || ruled("expires = '1h'");
    for way in BOTH {
        let world = World::new();
        let mut session = engine().session_with(&world.tools(), approving()).unwrap();
        let pause = world.run(&mut session, "await tools.pay({ amount: 1 })").paused();
        assert_eq!(pause.pending[0].expires_at, Some(world.time() + Duration::from_hours(1)));
        let mut session = way.pass_into(session, &world.tools(), approving(), engine);
        world.advance(Duration::from_hours(1));
        let failure = world.drive(&mut session).failure();
        assert_eq!((failure.kind, failure.name.as_str()), (FailureKind::Rejected, "ApprovalExpired"));
        assert_eq!(failure.message, "$program: nobody decided in time");
        assert_eq!(record(&session), ["1.1 $program rejected"]);
        assert_eq!(world.calls(), [""; 0]);
    }
}

#[test]
fn a_program_that_does_not_parse_is_not_asked_about() {
    let world = World::new();
    let mut session = session(&world);
    let failure = world.run(&mut session, "const = 1").failure();
    assert_eq!(failure.name, "SyntaxError");
    assert_eq!(record(&session), [""; 0]);
}

#[test]
fn the_plan_answers_rules_as_far_as_the_reviewers_roles_go() {
    let rules = "[[rules]]
tools = 'pay'
when = { amount = { above = 100 } }
decision = 'ask'
reason = 'large'
role = 'treasurer'

[[rules]]
tools = 'pay'
when = { amount = { above = 1000 } }
decision = 'deny'
reason = 'never'
";
    let source = "await tools.pay({ amount: 200 }); await tools.pay({ amount: 5000 }).catch(e => e.message)";
    for (by, asked) in [(Reviewer::new(), true), (Reviewer::new().role("treasurer"), false)] {
        for way in BOTH {
            let world = World::new();
            let mut session = ruled(rules).session_with(&world.tools(), approving()).unwrap();
            world.run(&mut session, source).waits();
            session.decide_with(Verdict::new(id("1.1"), Decision::Approve).by(by.clone())).unwrap();
            let mut session = way.pass_into(session, &world.tools(), approving(), || ruled(rules));
            let mut halt = world.drive(&mut session);
            if asked {
                let pause = halt.paused();
                assert_eq!(shown(&pause), ["1.2 pay { amount: 200 }"]);
                assert_eq!(pause.pending[0].roles, ["treasurer"]);
                let verdict = Verdict::of(&pause.pending[0], Decision::Approve).by(Reviewer::new().role("treasurer"));
                session.decide_with(verdict).unwrap();
                halt = world.drive(&mut session);
            }
            assert_eq!(halt.value(), text("pay: \"never\" (policy line 8)"));
            assert_eq!(world.paid(), [200.0]);
        }
    }
}

#[test]
fn the_rule_of_two_asks_even_so() {
    for way in BOTH {
        let world = World::new();
        let tools = || {
            Capabilities::new([
                world.answering("budget.read", Value::Null).effects(Effects::PRIVATE),
                world.answering("rsvps.list", Value::Null).effects(Effects::UNTRUSTED),
                world.answering("mail.send", text("sent")).effects(Effects::ACTS),
            ])
            .unwrap()
        };
        let mut session = ENGINE.session_with(&tools(), approving()).unwrap();
        let source =
            "await tools.mail.send();\nawait tools.budget.read();\nawait tools.rsvps.list();\nawait tools.mail.send()";
        world.run(&mut session, source).waits();
        let mut session = way.pass_into(session, &tools(), approving(), fresh_engine);
        let pause = world.decide(&mut session, "1.1", Decision::Approve).paused();
        assert_eq!(shown(&pause), ["1.5 mail.send {}"]);
        assert_eq!(
            reasons(&pause.pending[0]),
            [
                "rule of two: mail.send (call 1.2, line 1) acted on the world; budget.read (call 1.3, line 2) brought private data; rsvps.list (call 1.4, line 3) brought untrusted content"
            ]
        );
        let mut session = way.pass_into(session, &tools(), approving(), fresh_engine);
        assert_eq!(world.decide(&mut session, "1.5", Decision::Approve).value(), text("sent"));
    }
}

#[test]
fn a_call_that_is_not_in_the_plan_asks() {
    for way in BOTH {
        let world = World::new();
        let mut session = session(&world);
        let source =
            "await tools.echo({ v: 1 }); const t = 'pay'; (await globalThis['to' + 'ols'][t]({ amount: 3 })).n";
        world.run(&mut session, source).waits();
        let mut session = way.pass_into(session, &world.tools(), approving(), fresh_engine);
        let pause = world.decide(&mut session, "1.1", Decision::Approve).paused();
        assert_eq!(shown(&pause), ["1.3 pay { amount: 3 }"]);
        assert_eq!(reasons(&pause.pending[0]), ["not in the plan that was approved"]);
        assert_eq!(world.paid(), [0.0; 0]);
        let mut session = way.pass_into(session, &world.tools(), SessionOptions::default(), fresh_engine);
        assert_eq!(world.decide(&mut session, "1.3", Decision::Approve).value(), Value::from(1));
        assert_eq!(status(&session, "1.3").name(), "completed");
    }
}

#[test]
fn no_module_is_fetched_before() {
    let source = "import { pay } from 'shop';\nawait pay(5)";
    let code = "export const pay = async amount => (await tools.pay({ amount })).n";
    for way in BOTH {
        let world = World::new();
        let fetched = Arc::new(AtomicU32::new(0));
        let options = || {
            let fetched = fetched.clone();
            let mut options = approving();
            options.modules = Modules::resolver(["shop"], move |_| {
                fetched.fetch_add(1, Ordering::Relaxed);
                std::future::ready(Ok(Some(code.to_owned())))
            });
            options
        };
        let mut session = ENGINE.session_with(&world.tools(), options()).unwrap();
        let pause = world.run(&mut session, source).paused();
        assert_eq!(pause.pending[0].argument.get("plan_text"), Some(&text("module, not looked at: shop")));
        assert_eq!(fetched.load(Ordering::Relaxed), 0);
        let mut session = way.pass_into(session, &world.tools(), options(), fresh_engine);
        // Nobody saw what the module does.
        let pause = world.decide(&mut session, "1.1", Decision::Approve).paused();
        assert_eq!(fetched.load(Ordering::Relaxed), 1);
        assert_eq!(shown(&pause), ["1.3 pay { amount: 5 }"]);
        assert_eq!(reasons(&pause.pending[0]), ["not in the plan that was approved"]);
        let place = pause.pending[0].place.clone().unwrap();
        assert_eq!((place.file.as_deref(), place.line), (Some("shop"), 1));
        let mut session = way.pass_into(session, &world.tools(), options(), fresh_engine);
        assert_eq!(world.decide(&mut session, "1.3", Decision::Approve).value(), Value::from(1));
        // A rejected one fetches nothing, an edited one what the edited text imports.
        world.run(&mut session, "import 'shop'; import 'other'").waits();
        let failure = world.decide(&mut session, "2.4", Decision::Reject(None)).failure();
        assert_eq!(failure.kind, FailureKind::Rejected);
        world.run(&mut session, "import { x } from 'missing'; x").waits();
        let edit = Decision::Edit(text("import { pay } from 'shop'; typeof pay"));
        assert_eq!(world.decide(&mut session, "3.5", edit).value(), text("function"));
        assert_eq!(fetched.load(Ordering::Relaxed), 1);
    }
}
