//! Promises, calls and their ends: each row's exact outcome.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrysalid::{
    CallStatus, CancelSignal, Capabilities, Capability, FailureKind, Session, SessionOptions, Step, Value,
};
use serde_json::json;

use crate::cases_o::report;
use crate::support::{ENGINE, World, begin, eval, record, run, session, status, step, text, with_limits};

/// A tool that never answers, and the signals of its calls.
fn never(name: &str) -> (Capability, Arc<Mutex<Vec<CancelSignal>>>) {
    let signals = Arc::new(Mutex::new(Vec::new()));
    let kept = signals.clone();
    let tool = Capability::raw(name, move |context, _| {
        kept.lock().unwrap().push(context.cancel);
        std::future::pending()
    });
    (tool, signals)
}

fn are_cancelled(signals: &Mutex<Vec<CancelSignal>>) -> Vec<bool> {
    signals.lock().unwrap().iter().map(CancelSignal::is_cancelled).collect()
}

fn session_of(world: &World, slow: Capability, options: SessionOptions) -> Session {
    ENGINE.session_with(&Capabilities::new([slow, world.pay()]).unwrap(), options).unwrap()
}

#[test]
fn a01_a_rejection_nobody_looked_at_is_no_success() {
    let world = World::new();
    let mut session = world.session();
    assert_eq!(
        report(world.run(&mut session, "tools.fail({msg: \"disk full\"}); \"all saved\"")),
        "<error>\nToolError: disk full\n</error>\n<calls>\n1 failed\nfailed: 1.1 fail\n</calls>\n<notes>\nthe error came \
         from a promise that nobody awaited\n</notes>"
    );
    let source = "(async () => { throw new TypeError(\"lost\"); })(); \"ok\"";
    assert_eq!(
        report(world.run(&mut session, source)),
        format!(
            "<error>\nTypeError: lost\nat line 1, column 26\n  {source}\n  {:25}^\n</error>\n<notes>\nthe error came from a \
             promise that nobody awaited\n</notes>",
            ""
        )
    );
}

#[test]
fn a02_handled_rejections_are_not_reported() {
    let world = World::new();
    let source = "const p = Promise.reject(new Error(\"h\")); await null; p.catch(() => {});\nconst q = (async () => { throw new Error(\"k\"); })(); await tools.slow({ms: 30}); try { await q; } catch {}\nconst r = await Promise.allSettled([tools.fail({})]); await Promise.race([tools.slow({ms: 5, v: 1}), tools.slow({ms: 20}).then(() => { throw new Error(\"loser\"); })]);\n\"fine\"";
    let ended = world.run(&mut world.session(), source).ended();
    assert_eq!((ended.result, ended.notes), (Ok(text("fine")), vec![]));
}

#[test]
fn a04_a_long_chain_is_no_deadlock_and_a_result_that_cannot_cross_is_an_error() {
    let source = "let p = Promise.resolve(0); for (let i = 0; i < 100000; i++) p = p.then(v => v + 1); await p";
    assert_eq!(eval(&mut session(), source), Value::from(100_000));
    let deep = Capability::raw("deep", |_, _| {
        let deep = (0..600).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        std::future::ready(Ok(deep))
    });
    let world = World::new();
    let mut session = session_of(&world, deep, SessionOptions::default());
    let failure = world.run(&mut session, "await tools.deep()     // result cannot be converted").failure();
    assert_eq!(failure.kind, FailureKind::Exception);
    assert_eq!(failure.to_string(), "ResultTooLarge: result of deep: value is 513 levels deep, more than 512");
    let source = "try { await tools.deep() } catch (e) { `caught ${e.name}` }";
    assert_eq!(world.run(&mut session, source).value(), text("caught ResultTooLarge"), "at that await");
}

#[test]
fn a06_fan_out_keeps_order_and_shape() {
    let world = World::new();
    let mut session = world.session();
    let source = "const all = await Promise.all([3, 1, 2].map(i => tools.slow({ms: i * 20, v: i})));\nconst any = await Promise.any([tools.fail({}), tools.slow({ms: 10, v: \"s\"})]);\nconst st = (await Promise.allSettled([tools.fail({msg: \"m\"}), tools.echo({v: 1})])).map(x => x.status).join(\"/\");\n[all.join(\"\"), any, st].join()";
    assert_eq!(world.run(&mut session, source).value(), text("312,s,rejected/fulfilled"));
    assert_eq!(world.peak(), 3, "the slow ones ran at one time");
    let took = world.time().duration_since(begin()).unwrap();
    assert!(took >= Duration::from_millis(70) && took < Duration::from_millis(90), "{took:?}");
}

#[test]
fn a08_an_uncaught_tool_error_ends_the_program_only() {
    let world = World::new();
    let mut session = world.session();
    let source = "console.log(\"step 1 done\"); await tools.fail({msg: \"x\"}); \"never\"";
    assert_eq!(
        report(world.run(&mut session, source)),
        "<stdout>\nstep 1 done\n</stdout>\n<error>\nToolError: x\n</error>\n<calls>\n1 failed\nfailed: 1.1 fail\n</calls>"
    );
    assert_eq!(world.run(&mut session, "1").value(), Value::from(1));
}

#[test]
fn a09_bad_arguments_name_the_field() {
    let world = World::new();
    let schema = json!({ "type": "object", "properties": { "amount": { "type": "number" } }, "required": ["amount"] });
    let tools = Capabilities::new([world.pay().input_schema(schema).max_calls(1)]).unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    let source = "try { await tools.pay({amt: 1}); } catch (e) { e.name + \": \" + e.message }";
    let message = "ToolInputError: pay: missing \"amount\" (number); unknown \"amt\" (did you mean \"amount\"?)";
    for _ in 0..3 {
        assert_eq!(world.run(&mut session, source).value(), text(message));
    }
    assert_eq!((world.paid(), session.calls().len()), (vec![], 0), "not called, and no budget spent");
    let source = "try { await tools.pay({amt: 1}) } catch {} (await tools.pay({amount: 2})).amount";
    assert_eq!(world.run(&mut session, source).value(), Value::from(2));
}

#[test]
fn a10_an_unknown_tool() {
    let world = World::new();
    let tools = Capabilities::new([Capability::external("searchWeb"), world.pay()]).unwrap();
    let mut session = ENGINE.session(&tools).unwrap();
    let source = "try { await tools.serchWeb({q: 1}); } catch (e) { e.message }";
    let message = "tools.serchWeb does not exist. Did you mean tools.searchWeb?";
    assert_eq!(world.run(&mut session, source).value(), text(message));
    let source = "[typeof tools.nope === \"undefined\", \"nope\" in tools].join()";
    assert_eq!(world.run(&mut session, source).value(), text("true,false"));
}

#[test]
fn a12_the_limit_of_a_call_is_not_that_of_the_program() {
    let world = World::new();
    let source = "let r; try { r = await tools.slow({ms: 5000, v: 1}); } catch (e) { r = e.name; }\nr";
    let (slow, signals) = never("slow");
    let mut session = session_of(&world, slow.timeout(Duration::from_millis(300)), SessionOptions::default());
    assert_eq!(world.run(&mut session, source).value(), text("ToolTimeout"));
    let took = world.time().duration_since(begin()).unwrap();
    assert!(took >= Duration::from_millis(300) && took < Duration::from_millis(310), "{took:?}");
    assert_eq!((are_cancelled(&signals), status(&session, "1.1")), (vec![true], CallStatus::Failed));

    let world = World::new();
    let (slow, signals) = never("slow");
    let options = with_limits(|limits| limits.wall_time = Some(Duration::from_secs(1)));
    let mut session = session_of(&world, slow.timeout(Duration::from_millis(300)), options);
    let source = "for (;;) { try { await tools.slow({ms: 5000}) } catch {} }";
    let failure = world.run(&mut session, source).failure();
    assert_eq!(failure.kind, FailureKind::WallTimeout);
    let took = world.time().duration_since(begin()).unwrap();
    assert!(took >= Duration::from_secs(1) && took < Duration::from_millis(1010), "{took:?}");
    assert_eq!(are_cancelled(&signals), [true; 4]);
}

#[test]
fn a13_the_time_of_a_call_that_failed_late_is_not_charged() {
    let world = World::new();
    let options = with_limits(|limits| limits.cpu_time = Duration::from_secs(1));
    let mut session = world.session_with(options);
    let source = "try { await tools.slowFail({ms: 1500}); } catch (e) { let s = 0; for (let i = 0; i < 2e5; i++) s += i; \"cleaned\" }";
    assert_eq!(world.run(&mut session, source).value(), text("cleaned"));
}

#[test]
fn a14_a_cancel_from_outside() {
    let world = World::new();
    let (slow, signals) = never("slow");
    let mut session = session_of(&world, slow, SessionOptions::default());
    let interrupt = session.interrupt_handle();
    session
        .start("try { await tools.slow({ms: 60000}); } catch (e) { await tools.pay({amount: 1}); for(;;) {} }")
        .unwrap();
    let Step::Start(calls) = step(&mut session, world.time()) else { panic!("no call") };
    let _future = calls[0].invoke();
    assert!(matches!(step(&mut session, world.time()), Step::Wait { .. }));
    world.advance(Duration::from_millis(100));
    interrupt.interrupt();
    let Step::Ended(ended) = step(&mut session, world.time()) else { panic!("goes on") };
    assert_eq!(ended.result.unwrap_err().kind, FailureKind::Cancelled);
    assert_eq!((are_cancelled(&signals), world.paid()), (vec![true], vec![]));
    assert_eq!(record(&session), ["1.1 slow unknown"]);
    assert_eq!(world.run(&mut session, "1 + 1").value(), Value::from(2), "the session goes on");
}

#[test]
fn a17_calls_that_end_at_one_time_answer_in_the_order_they_were_made() {
    let source = "const log = []; await Promise.all([\"a\", \"b\", \"c\"].map((n, i) => tools.slow({ms: 10, v: n}).then(v => log.push(v)))); log.join(\"\")";
    for _ in 0..100 {
        let world = World::new();
        let mut session = world.session();
        assert_eq!(world.run(&mut session, source).value(), text("abc"));
        assert_eq!(record(&session), ["1.1 slow completed", "1.2 slow completed", "1.3 slow completed"]);
    }
}

#[test]
fn a18_an_async_generator_over_calls() {
    let world = World::new();
    let mut session = world.session();
    let source = "async function* pages(){ for (let i = 0; i < 3; i++) yield await tools.echo({v: i}); }\nconst out = []; for await (const p of pages()) { if (p === 2) break; out.push(p); } out.join()";
    assert_eq!(world.run(&mut session, source).value(), text("0,1"));
    let source = "let closed = 0; async function* all() { try { yield await tools.echo({v: 1}); yield 2 } finally { closed++ } }
        for await (const p of all()) break; closed";
    assert_eq!(world.run(&mut session, source).value(), Value::from(1));
}

#[test]
fn a20_the_namespace_of_tools_is_a_plain_object() {
    let world = World::new();
    let mut session = world.session();
    let source = "const t = await tools; [typeof t, Object.keys(tools).includes(\"echo\"), typeof tools.then, JSON.stringify(tools) !== undefined].join()";
    assert_eq!(world.run(&mut session, source).value(), text("object,true,undefined,true"));
    assert_eq!(world.run(&mut session, "for (const name in tools) `${name}`; tools === t").value(), Value::from(true));
    assert_eq!((world.calls(), session.calls()), (vec![], vec![]));
    let ended = run(&mut session, "tools");
    assert!(ended.result.is_ok(), "{ended:?}");
}
