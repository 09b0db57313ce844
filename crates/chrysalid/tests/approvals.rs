//! Calls that wait for a person: the cases of kind H, each staying in the session and moved into a fresh engine.

use chrysalid::{
    Approval, CallStatus, Capabilities, Capability, Decision, DecisionKind, ErrorKind, Reason, Restore, ToolError,
    Value,
};
use serde_json::json;

use crate::support::{BOTH, ENGINE, World, eval, fresh_engine, id, json, record, shown, status, text};

#[test]
fn h01_side_effects_before_the_pause_do_not_run_again() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        let source = "await tools.pay({amount: 1});\nconst ok = await tools.gate({q: \"go on?\"});\nawait tools.pay({amount: 2});\nok";
        let pause = world.run(&mut session, source).paused();
        assert_eq!(shown(&pause), ["1.2 gate { q: 'go on?' }"]);
        assert_eq!(world.paid(), [1.0]);

        let mut session = way.pass(session, &world.tools());
        assert_eq!(world.decide(&mut session, "1.2", Decision::Respond(text("yes"))).value(), text("yes"));
        assert_eq!(world.paid(), [1.0, 2.0]);
        assert_eq!(record(&session), ["1.1 pay completed", "1.2 gate completed", "1.3 pay completed"]);
    }
}

#[test]
fn h02_try_and_catch_do_not_walk_past_the_gate() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        let source = "let a;\ntry { a = await tools.gate({q: \"ok?\"}); } catch (e) { a = \"skipped \" + e.name; }\nawait tools.pay({amount: 2});\na";
        let pause = world.run(&mut session, source).paused();
        assert_eq!(shown(&pause), ["1.1 gate { q: 'ok?' }"]);
        assert_eq!(world.paid(), [0.0; 0]);

        let mut session = way.pass(session, &world.tools());
        assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), text("yes"));
        assert_eq!(world.paid(), [2.0]);
    }
}

#[test]
fn h04_all_settled_does_not_see_a_pause() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        let source = "const r = await Promise.allSettled([tools.pay({amount: 7}), tools.gate({q: \"p1\"})]);\nr.map(x => x.status).join()";
        let pause = world.run(&mut session, source).paused();
        assert_eq!(shown(&pause), ["1.2 gate { q: 'p1' }"]);
        assert_eq!(world.paid(), [7.0]);

        let mut session = way.pass(session, &world.tools());
        assert_eq!(world.decide(&mut session, "1.2", Decision::Approve).value(), text("fulfilled,fulfilled"));
        assert_eq!(world.paid(), [7.0]);
    }
}

#[test]
fn h05_top_level_names_survive_the_pause() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        let source = "let k = 0; k++; class K { n = k }\nconst a = await tools.gate({q: \"ok?\"});\nJSON.stringify([k, a, new K().n])";
        world.run(&mut session, source).waits();

        let mut session = way.pass(session, &world.tools());
        assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), text("[1,\"yes\",1]"));
        assert_eq!(eval(&mut session, "[k, a]"), json(json!([1, "yes"])));
    }
}

#[test]
fn h06_global_state_is_changed_once() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        let source = "globalThis.runs = (globalThis.runs || 0) + 1;\nawait tools.gate({q: \"ok?\"});\nruns";
        world.run(&mut session, source).waits();

        let mut session = way.pass(session, &world.tools());
        assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), Value::from(1));
        assert_eq!(eval(&mut session, "runs"), Value::from(1));
    }
}

#[test]
fn h08_a_gate_in_a_validation_loop() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        let source = "let n, tries = 0;\ndo { n = Number(await tools.gate({q: \"age? try \" + (++tries)})); } while (!(n > 0));\n[n, tries].join()";
        let mut halt = world.run(&mut session, source);
        for (number, answer) in [(1, "x"), (2, "0"), (3, "41")] {
            let pause = halt.paused();
            assert_eq!(shown(&pause), [format!("1.{number} gate {{ q: 'age? try {number}' }}")]);
            session = way.pass(session, &world.tools());
            halt = world.decide(&mut session, &format!("1.{number}"), Decision::Respond(text(answer)));
        }
        assert_eq!(halt.value(), text("41,3"));
        assert_eq!(world.calls(), [""; 0], "an answered gate never runs");
    }
}

#[test]
fn h09_two_gates_at_once_and_each_gets_its_own_answer() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        let source = "const xs = await Promise.all([tools.gate({q: \"p1\"}), tools.gate({q: \"p2\"})]);\nxs.join()";
        let pause = world.run(&mut session, source).paused();
        assert_eq!(shown(&pause), ["1.1 gate { q: 'p1' }", "1.2 gate { q: 'p2' }"]);

        let mut session = way.pass(session, &world.tools());
        session.decide(id("1.2"), Decision::Respond(text("B"))).unwrap();
        assert_eq!(world.decide(&mut session, "1.1", Decision::Respond(text("A"))).value(), text("A,B"));
    }
}

#[test]
fn h10_one_of_several_approvals_is_answered() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        let source = "const done = [];\nconst a = tools.gate({q: \"a\"}).then(async v => { await tools.pay({amount: 1}); done.push(\"a\" + v); });\nconst b = tools.gate({q: \"b\"}).then(v => { done.push(\"b\" + v); });\nawait Promise.all([a, b]);\ndone.join()";
        world.run(&mut session, source).waits();

        let mut session = way.pass(session, &world.tools());
        let pause = world.decide(&mut session, "1.1", Decision::Respond(text("Y"))).paused();
        assert_eq!(shown(&pause), ["1.2 gate { q: 'b' }"]);
        assert_eq!(world.paid(), [1.0]);

        let mut session = way.pass(session, &world.tools());
        assert_eq!(world.decide(&mut session, "1.2", Decision::Respond(text("Y"))).value(), text("aY,bY"));
        assert_eq!(world.paid(), [1.0]);
    }
}

#[test]
fn h12_edited_arguments_run_and_the_program_sees_it() {
    for way in BOTH {
        let world = World::new();
        let schema = json!({
            "type": "object",
            "properties": { "amount": { "type": "number", "maximum": 1000 } },
            "required": ["amount"],
        });
        let tools = Capabilities::new([world.pay_gated().input_schema(schema)]).unwrap();
        let mut session = ENGINE.session(&tools).unwrap();
        let pause =
            world.run(&mut session, "const r = await tools.payGated({amount: 500});\nJSON.stringify(r)").paused();
        let first = pause.pending[0].digest;

        let mut session = way.pass(session, &tools);
        let refused = session.decide(id("1.1"), Decision::Edit(json(json!({ "amount": 5000 })))).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidArguments);
        assert_eq!(refused.to_string(), "call 1.1: payGated: \"amount\" must be at most 1000, got 5000");
        assert_eq!(session.pending()[0].digest, first, "a refused edit changes nothing");
        assert!(!session.pending()[0].decided);

        let mut session = way.pass(session, &tools);
        session.decide(id("1.1"), Decision::Edit(json(json!({ "amount": 50 })))).unwrap();
        assert!(session.pending()[0].decided);
        let mut session = way.pass(session, &tools);
        assert_eq!(
            world.drive(&mut session).value(),
            text("{\"ok\":true,\"n\":1,\"amount\":50,\"edited_by_human\":{\"amount\":50}}")
        );
        assert_eq!(world.paid(), [50.0]);
        assert_eq!(session.calls()[0].edited, Some(json(json!({ "amount": 50 }))));
    }
}

#[test]
fn h16_a_tool_that_is_gone_or_changed_at_the_resume() {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, "await tools.gate({q: \"ok?\"}); await tools.echo({v: 1})").waits();
    let bytes = session.snapshot().unwrap();

    // `echo` is gone: the program goes on, and the call is refused.
    let tools = Capabilities::new([world.gate()]).unwrap();
    let mut session = fresh_engine().restore(&bytes, &tools, Restore::Resume).unwrap();
    let failure = world.decide(&mut session, "1.1", Decision::Approve).failure();
    assert_eq!((failure.name.as_str(), failure.message.as_str()), ("ToolUnavailable", "tools.echo does not exist."));
    assert_eq!(record(&session), ["1.1 gate completed", "1.2 echo failed"]);

    // `gate` is gone: refused before anything runs.
    let tools = Capabilities::new([world.echo()]).unwrap();
    let refused = fresh_engine().restore(&bytes, &tools, Restore::Resume).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::MissingCapability);
    assert_eq!(refused.to_string(), "call 1.1 waits for the capability \"gate\", which is not here");

    // `gate` takes other arguments now: refused as well, and the same bytes still work with the right set.
    let strict = world.gate().input_schema(json!({ "type": "object", "required": ["question"] }));
    let tools = Capabilities::new([strict, world.echo()]).unwrap();
    let refused = fresh_engine().restore(&bytes, &tools, Restore::Resume).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::StaleArguments);
    assert_eq!(
        refused.to_string(),
        "arguments of call 1.1 do not fit the schema of \"gate\" any more: gate: missing \"question\" (any value)"
    );
    let mut session = fresh_engine().restore(&bytes, &world.tools(), Restore::Resume).unwrap();
    assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), Value::from(1));
}

#[test]
fn h16_a_changed_definition_is_shown_to_whoever_decides() {
    let world = World::new();
    let mut session = world.session();
    let pause = world.run(&mut session, "await tools.gate({q: 1})").paused();
    assert_eq!(pause.pending[0].reasons, [Reason::Always]);
    let bytes = session.snapshot().unwrap();

    let tools = Capabilities::new([world.gate().description("Now it does more.")]).unwrap();
    let session = fresh_engine().restore(&bytes, &tools, Restore::Resume).unwrap();
    assert_eq!(session.pending()[0].reasons, [Reason::Always, Reason::Changed]);
}

#[test]
fn h16_a_stored_ask_stays_an_ask() {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, "await tools.payGated({amount: 3})").waits();
    let bytes = session.snapshot().unwrap();

    let lax = Capabilities::new([world.pay_gated().approval(Approval::Never)]).unwrap();
    let mut session = fresh_engine().restore(&bytes, &lax, Restore::Resume).unwrap();
    assert_eq!(shown(&world.drive(&mut session).paused()), ["1.1 payGated { amount: 3 }"]);
    assert_eq!(world.paid(), [0.0; 0]);
}

#[test]
fn h24_a_lost_race_withdraws_the_request() {
    let source =
        "const w = await Promise.race([tools.gate({q: \"slow human\"}), tools.slow({ms: 50, v: \"fast\"})]);\nw";
    let world = World::new();
    let mut session = world.session();
    assert_eq!(world.run(&mut session, source).value(), text("fast"));
    assert_eq!(record(&session), ["1.1 gate abandoned", "1.2 slow completed"]);

    let late = session.decide(id("1.1"), Decision::Approve).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::AlreadyDecided);
    assert_eq!(late.to_string(), "call 1.1 was decided already: it is abandoned");
    assert_eq!(world.calls(), ["slow { ms: 50, v: 'fast' }"]);
}

#[test]
fn h24_the_same_with_the_race_moved_while_it_is_open() {
    let world = World::new();
    let mut session = world.session();
    let source = "const w = await Promise.race([tools.gate({q: \"a\"}), tools.gate({q: \"b\"})]);\nw";
    world.run(&mut session, source).waits();
    let mut session = crate::support::moved(session, &world.tools());
    assert_eq!(world.decide(&mut session, "1.2", Decision::Respond(text("B"))).value(), text("B"));
    assert_eq!(record(&session), ["1.1 gate abandoned", "1.2 gate completed"]);
}

#[test]
fn h24_a_request_that_something_open_waits_for_is_kept() {
    let cases = [
        // A handler of the program's own.
        "tools.gate({q: 1}).then(v => console.log(v)); 1",
        // Nobody looked at it.
        "tools.gate({q: 1}); 1",
        // One of two branches is open.
        "const g = tools.gate({q: 1}); g.finally(() => {}); await Promise.race([g, 1]); 1",
        "(async () => { await tools.gate({q: 1}) })(); 1",
    ];
    for source in cases {
        let world = World::new();
        let mut session = world.session();
        assert_eq!(shown(&world.run(&mut session, source).paused()), ["1.1 gate { q: 1 }"], "{source}");
        assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), Value::from(1), "{source}");
        assert_eq!(status(&session, "1.1"), CallStatus::Completed, "{source}");
    }
}

#[test]
fn h24_requests_that_lead_only_to_settled_promises_are_withdrawn() {
    let cases = [
        "await Promise.race([tools.gate({q: 1}), Promise.resolve(2)])",
        "await Promise.any([tools.gate({q: 1}), Promise.resolve(2)])",
        "await Promise.all([tools.gate({q: 1}), Promise.reject(new Error('no'))]).catch(() => 2)",
    ];
    for source in cases {
        let world = World::new();
        let mut session = world.session();
        assert_eq!(world.run(&mut session, source).value(), Value::from(2), "{source}");
        assert_eq!(record(&session), ["1.1 gate abandoned"], "{source}");
    }
}

#[test]
fn h26_a_program_while_the_session_is_paused() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        world.run(&mut session, "await tools.gate({q:\"ok?\"})").waits();

        let mut session = way.pass(session, &world.tools());
        let before = session.pending();
        let refused = session.start("1 + 1").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::SessionPaused);
        assert_eq!(refused.to_string(), "a program of this session waits for: 1.1 gate");
        assert_eq!(session.pending(), before);
        assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), text("yes"));
        assert_eq!(eval(&mut session, "1 + 1"), Value::from(2));
    }
}

#[test]
fn a_rejection_is_an_error_that_the_program_can_read() {
    for (reason, message) in
        [(Some("too dear".to_owned()), "payGated was rejected: too dear"), (None, "payGated was rejected")]
    {
        let world = World::new();
        let mut session = world.session();
        let source = "try { await tools.payGated({amount: 9}) } catch (e) { [e instanceof Error, e.name, e.message, e.code, e.tool, e.retryable] }";
        world.run(&mut session, source).waits();
        assert_eq!(
            world.decide(&mut session, "1.1", Decision::Reject(reason)).value(),
            json(json!([true, "ToolRejected", message, "tool_rejected", "payGated", false]))
        );
        assert_eq!(world.paid(), [0.0; 0]);
        assert_eq!(status(&session, "1.1"), CallStatus::Rejected);
    }
}

#[test]
fn a_decision_is_used_once() {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, "await tools.payGated({amount: 9}); await tools.gate({q: 1})").waits();
    session.decide(id("1.1"), Decision::Approve).unwrap();

    let again = session.decide(id("1.1"), Decision::Approve).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AlreadyDecided);
    let mut session = crate::support::moved(session, &world.tools());
    let again = session.decide(id("1.1"), Decision::Reject(None)).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AlreadyDecided, "the decision travels with the snapshot");

    world.drive(&mut session).waits();
    let again = session.decide(id("1.1"), Decision::Approve).unwrap_err();
    assert_eq!(again.to_string(), "call 1.1 was decided already: it is completed");
    assert_eq!(world.paid(), [9.0]);
}

#[test]
fn forged_ids_and_calls_that_wait_for_nobody_are_refused() {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, "const s = tools.echo({v: 1}); await tools.gate({q: 1}); await s").waits();
    for forged in ["1.3", "2.1", "2.2", "0.2", "1.0", "4294967295.4294967295"] {
        let refused = session.decide(id(forged), Decision::Approve).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::UnknownCall, "{forged}");
        assert_eq!(refused.to_string(), format!("no call {forged} in this session"));
        assert_eq!(session.settle(id(forged), Ok(Value::Null)).unwrap_err().kind(), ErrorKind::UnknownCall);
    }
    assert_eq!(session.decide(id("1.1"), Decision::Approve).unwrap_err().kind(), ErrorKind::AlreadyDecided);
    assert_eq!(
        "1".parse::<chrysalid::CallId>().unwrap_err().to_string(),
        "\"1\" is not a call id, which looks like 1.2"
    );
}

#[test]
fn what_is_approved_is_what_was_asked_for() {
    // The program changes the object after the call, before the approval.
    let world = World::new();
    let mut session = world.session();
    let source =
        "const a = {amount: 5}; const p = tools.payGated(a); a.amount = 500; Object.freeze = null; (await p).amount";
    let pause = world.run(&mut session, source).paused();
    assert_eq!(shown(&pause), ["1.1 payGated { amount: 5 }"]);
    assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), Value::from(5));
    assert_eq!(world.paid(), [5.0]);
}

#[test]
fn the_digest_is_over_the_canonical_argument() {
    let world = World::new();
    let digest = |source: &str| {
        let mut session = world.session();
        world.run(&mut session, source).paused().pending[0].digest
    };
    let first = digest("await tools.gate({a: 1, b: [2n, undefined, -0]})");
    assert_eq!(digest("await tools.gate({b: [2n, undefined, -0], a: 1})"), first, "order of keys does not count");
    for other in ["{a: 1, b: [2, undefined, -0]}", "{a: 1, b: [2n, null, -0]}", "{a: 1, b: [2n, undefined, 0]}"] {
        assert_ne!(digest(&format!("await tools.gate({other})")), first, "{other}");
    }
}

#[test]
fn a_predicate_asks_by_arguments_and_a_panic_of_it_asks() {
    let world = World::new();
    let tools = Capabilities::new([world.pay().ask_when(|argument| {
        let amount = argument.get("amount").and_then(Value::as_f64).expect("an amount");
        amount > 100.0
    })])
    .unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    let source = "await tools.pay({amount: 1}); const p = tools.pay({amount: 101}); const q = tools.pay({}); [(await p).n, (await q).n]";
    let pause = world.run(&mut session, source).paused();
    assert_eq!(shown(&pause), ["1.2 pay { amount: 101 }", "1.3 pay {}"]);
    assert_eq!(world.paid(), [1.0]);
}

#[test]
fn which_decisions_are_allowed() {
    use DecisionKind::{Approve, Edit, Reject, Respond};
    let world = World::new();
    let tools = Capabilities::new([world.gate(), Capability::external("signal")]).unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    let pause =
        world.run(&mut session, "(await Promise.all([tools.gate({q: 1}), tools.signal({n: 1})])).join()").paused();
    let allowed: Vec<_> = pause.pending.iter().map(|call| (call.status, call.allowed.clone())).collect();
    assert_eq!(
        allowed,
        [(CallStatus::Waiting, vec![Approve, Edit, Reject, Respond]), (CallStatus::Outside, vec![Reject, Respond]),]
    );
    for decision in [Decision::Approve, Decision::Edit(Value::Null)] {
        let refused = session.decide(id("1.2"), decision.clone()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::DecisionNotAllowed);
        assert_eq!(refused.to_string(), format!("call 1.2 is outside, and does not take {:?}", decision.kind()));
    }
    session.decide(id("1.2"), Decision::Respond(text("b"))).unwrap();
    assert_eq!(world.decide(&mut session, "1.1", Decision::Respond(text("a"))).value(), text("a,b"));
}

#[test]
fn a_response_that_is_too_large_or_cannot_cross_is_refused_at_once() {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, "await tools.gate({q: 1})").waits();
    let refused = session.decide(id("1.1"), Decision::Respond(text(&"x".repeat(5 << 20)))).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidArguments);
    assert_eq!(refused.to_string(), "call 1.1: value is 5242885 bytes or more, more than 4194304");
    let refused = session.decide(id("1.1"), Decision::Respond(Value::Description("[Function: f]".into()))).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "call 1.1: description of something that cannot be passed to a program: [Function: f]"
    );
    assert_eq!(world.decide(&mut session, "1.1", Decision::Respond(Value::Null)).value(), Value::Null);
}

#[test]
fn a_tool_that_fails_after_approval_fails_in_the_program() {
    let world = World::new();
    let tools = Capabilities::new([Capability::raw("risky", |_, _| {
        std::future::ready(Err(ToolError::retryable("the bank is closed")))
    })
    .approval(Approval::Ask)])
    .unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    world
        .run(&mut session, "try { await tools.risky() } catch (e) { [e.name, e.message, e.code, e.retryable] }")
        .waits();
    assert_eq!(
        world.decide(&mut session, "1.1", Decision::Approve).value(),
        json(json!(["ToolError", "the bank is closed", "tool_error", true]))
    );
}
