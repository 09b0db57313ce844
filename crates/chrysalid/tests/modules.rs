//! Imports: static and dynamic, from what the host supplies, through snapshots.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use chrysalid::{Capabilities, Decision, FailureKind, Modules, Outcome, Restore, Session, SessionOptions, Step, Value};
use serde_json::json;

use crate::support::{ENGINE, RealTime, World, begin, block_on, json, step, step_to_calls, text};

fn options(modules: Modules) -> SessionOptions {
    let mut options = SessionOptions::default();
    options.modules = modules;
    options
}

fn library() -> Modules {
    Modules::fixed([
        ("stats", "export const mean = xs => xs.reduce((a, b) => a + b, 0) / xs.length; export default 'stats';"),
        ("lib/a.js", "import { b } from './b.js'; import * as deep from './deep/c.js'; export const a = b + deep.c;"),
        ("lib/b.js", "export const b = 'b';"),
        ("lib/deep/c.js", "import { b } from '../b.js'; export const c = b + 'c';"),
        (
            "odd.ts",
            "export interface Row { n: number }\nexport function n(row: Row): number { return row.n as number }",
        ),
        ("ping.js", "import { pong } from './pong.js'; export const ping = n => n ? pong(n - 1) : 'ping';"),
        ("pong.js", "import { ping } from './ping.js'; export const pong = n => n ? ping(n - 1) : 'pong';"),
        ("late.js", "await null; export const late = await new Promise(r => setTimeout(() => r('late'), 20));"),
        (
            "count.js",
            "globalThis.runs = (globalThis.runs ?? 0) + 1; export let n = runs; export const add = () => ++n;",
        ),
        ("bad.js", "export const x = ;"),
        ("throws.js", "throw new RangeError('from within')"),
        ("wants.js", "import 'nowhere'; export const x = 1;"),
    ])
}

fn session(world: &World, modules: Modules) -> Session {
    ENGINE.session_with(&world.tools(), options(modules)).unwrap()
}

fn value(source: &str) -> Value {
    let world = World::new();
    world.run(&mut session(&world, library()), source).value()
}

fn failure(source: &str) -> String {
    let world = World::new();
    world.run(&mut session(&world, library()), source).failure().to_string()
}

#[test]
fn every_form_of_import() {
    assert_eq!(value("import { mean } from 'stats'; mean([1, 2, 6])"), Value::from(3));
    assert_eq!(value("import name, { mean as m } from 'stats'\n[name, m([4])]"), json(json!(["stats", 4])));
    assert_eq!(value("import * as s from 'stats'; Object.keys(s).join()"), text("default,mean"));
    assert_eq!(value("import 'count.js'; runs"), Value::from(1));
    assert_eq!(value("const { a } = await import('./lib/a.js'); a"), text("bbc"));
    assert_eq!(value("(await import('stats')).default"), text("stats"));
    assert_eq!(value("import { n } from 'odd.ts'; n({ n: 7 })"), Value::from(7));
    assert_eq!(value("import { ping } from 'ping.js'; ping(3)"), text("pong"));
    assert_eq!(value("import { late } from 'late.js'; late"), text("late"));
    assert_eq!(value("import('stats').then(m => m.mean([1, 3]))"), Value::from(2));
    let both = "const [x, y] = await Promise.all([import('lib/a.js'), import('lib/b.js')]); x.a + y.b";
    assert_eq!(value(both), text("bbcb"));
}

#[test]
fn a_module_runs_once_a_session_and_keeps_its_state() {
    let world = World::new();
    let mut session = session(&world, library());
    assert_eq!(world.run(&mut session, "import { add } from 'count.js'; add()").value(), Value::from(2));
    let again = "import { add, n } from 'count.js'; const m = await import('./count.js'); [add(), m.n, runs]";
    assert_eq!(world.run(&mut session, again).value(), json(json!([3, 3, 1])));
}

#[test]
fn r10_what_is_not_there_is_refused_before_anything_runs() {
    let world = World::new();
    let mut session = world.session();
    let failure =
        world.run(&mut session, "await tools.pay({ amount: 1 });\nimport fs from 'fs'; fs.readFileSync('x')").failure();
    assert_eq!(
        failure.to_string(),
        "ImportError: module \"fs\" is not available: there are no modules here; call tools.<name>({...})"
    );
    assert_eq!(world.paid(), [0.0; 0]);
    let list =
        "count.js, late.js, lib/a.js, lib/b.js, lib/deep/c.js, odd.ts, ping.js, pong.js, stats, throws.js, wants.js";
    let list = format!("bad.js, {list}");
    assert_eq!(
        self::failure("import fs from 'fs'"),
        format!("ImportError: module \"fs\" is not available; these are: {list}")
    );
    assert_eq!(
        self::failure("import 'wants.js'"),
        format!("ImportError: module \"nowhere\" is not available; these are: {list}")
    );
    for key in ["..", "a/../../x", "lib/../stats"] {
        let source = format!("import({key:?}).catch(e => e.name)");
        assert_eq!(value(&source), text("ImportError"), "{key}");
    }
    let caught = "try { await import('../../etc/passwd') } catch (e) { [e.name, e.code, e.message.slice(0, 46)] }";
    assert_eq!(
        value(caught),
        json(json!(["ImportError", "import_error", "module \"../../etc/passwd\" is not available; th"]))
    );
}

#[test]
fn what_is_wrong_with_a_module_is_said() {
    assert!(
        failure("import 'bad.js'").starts_with("SyntaxError: module \"bad.js\": "),
        "{}",
        failure("import 'bad.js'")
    );
    assert_eq!(failure("import 'throws.js'; 1"), "RangeError: from within");
    assert_eq!(failure("import { nothing } from 'stats'; nothing()"), "TypeError: nothing is not a function");
    let twice = "const why = []; for (const _ of [1, 2]) try { await import('throws.js') } catch (e) { why.push(e.message) } why";
    assert_eq!(value(twice), json(json!(["from within", "from within"])));
}

#[test]
fn the_resolver_is_asked_once_for_a_key_and_may_take_its_time() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = asked.clone();
    let modules = Modules::resolver(["x"], move |key| {
        log.lock().unwrap().push(key.clone());
        async move {
            tokio::task::yield_now().await;
            match key.as_str() {
                "down" => Err("the registry is down".to_owned()),
                "x" => Ok(Some("export default 1".to_owned())),
                _ => Ok(None),
            }
        }
    });
    let run = |session: &mut Session, source: &str| match block_on(session.run(source, &RealTime)).unwrap() {
        Outcome::Done(ended) => ended.result.unwrap(),
        Outcome::Failed(ended) => text(&ended.result.unwrap_err().to_string()),
        Outcome::Paused(_) => panic!("nothing waits"),
    };
    let mut session = ENGINE.session_with(&Capabilities::none(), options(modules)).unwrap();
    assert_eq!(run(&mut session, "import x from 'x'; (await import('x')).default + x"), Value::from(2));
    assert_eq!(run(&mut session, "import x from 'x'; x"), Value::from(1));
    assert_eq!(run(&mut session, "import 'down'"), text("ToolError: module \"down\": the registry is down"));
    assert_eq!(*asked.lock().unwrap(), ["x", "down"]);
}

#[test]
fn imports_are_in_the_record_and_in_the_budget() {
    let world = World::new();
    let mut limits = chrysalid::Limits::default();
    limits.calls = 2;
    let mut with = options(library());
    with.limits = Some(limits);
    let mut session = ENGINE.session_with(&world.tools(), with).unwrap();
    let source = "import { a } from 'lib/a.js'; a";
    assert_eq!(
        world.run(&mut session, source).failure().to_string(),
        "CallBudgetExceeded: module \"lib/deep/c.js\": this program may make 2 calls and has made them"
    );
    let names: Vec<String> =
        session.calls().iter().map(|call| format!("{} {}", call.name, call.status.name())).collect();
    assert_eq!(names, ["$import completed", "$import abandoned"]);
}

#[test]
fn modules_travel_in_the_heap() {
    let world = World::new();
    let mut first = session(&world, library());
    let source = "import { add } from 'count.js';
        const { a } = await import('lib/a.js');
        add();
        const ok = await tools.gate({ q: 'go on?' });
        [add(), a, ok, runs, (await import('count.js')).n]";
    let pause = world.run(&mut first, source).paused();
    let bytes = first.snapshot().unwrap();
    drop(first);
    // Nothing is resolved again: the restored session has no modules at all.
    let mut second = ENGINE.restore(&bytes, &world.tools(), Restore::Resume).unwrap();
    let call = pause.pending[0].id.to_string();
    assert_eq!(world.decide(&mut second, &call, Decision::Approve).value(), json(json!([3, "bbc", "yes", 1, 3])));
    assert_eq!(world.run(&mut second, "import { n } from 'count.js'; n").value(), Value::from(3));
    assert!(world.run(&mut second, "import 'stats'").failure().message.contains("there are no modules here"));
}

#[test]
fn an_import_on_its_way_is_fetched_again_after_a_restore() {
    let fetched = Arc::new(AtomicU32::new(0));
    let count = fetched.clone();
    let modules = Modules::resolver([""; 0], move |_| {
        let first = count.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            if first {
                std::future::pending::<()>().await;
            }
            Ok(Some("export default 'here'".to_owned()))
        }
    });
    let mut first = ENGINE.session_with(&Capabilities::none(), options(modules.clone())).unwrap();
    first.start("const before = 1; const m = await import('m'); [before, m.default]").unwrap();
    let Step::Start(calls) = step(&mut first, begin()) else { panic!("no calls") };
    assert_eq!(calls[0].name(), "$import");
    let bytes = first.snapshot().unwrap();
    let mut second =
        ENGINE.restore_with(&bytes, &Capabilities::none(), Restore::Resume, options(modules.clone())).unwrap();
    drop(first);
    // The first fetch never answers: `run` is dropped, and the next one fetches again.
    let dropped = block_on(async {
        tokio::select! {
            biased;
            _ = second.resume(&RealTime) => false,
            () = tokio::task::yield_now() => true,
        }
    });
    assert!(dropped);
    let Outcome::Done(ended) = block_on(second.resume(&RealTime)).unwrap() else { panic!() };
    assert_eq!(ended.result.unwrap(), json(json!([1, "here"])));
    assert_eq!(fetched.load(Ordering::SeqCst), 2);
}

#[test]
fn a_module_that_was_stopped_is_not_waited_for() {
    let world = World::new();
    let mut limits = chrysalid::Limits::default();
    limits.cpu_time = std::time::Duration::from_millis(100);
    let mut with = options(Modules::fixed([("loop.js", "for (;;) {}"), ("fine.js", "export default 1")]));
    with.limits = Some(limits);
    let mut session = ENGINE.session_with(&world.tools(), with).unwrap();
    assert_eq!(world.run(&mut session, "import 'loop.js'").failure().kind, FailureKind::Timeout);
    let again = world.run(&mut session, "try { await import('loop.js'); 'ran' } catch (e) { e.message }").value();
    assert_eq!(again, text("the module was stopped while it ran; a new session can load it"));
    assert_eq!(world.run(&mut session, "import one from 'fine.js'; one").value(), Value::from(1));
}

#[test]
fn a_program_cannot_take_the_name_of_import() {
    let world = World::new();
    let mut session = session(&world, library());
    let take = "const name = '$imp' + 'ort';
        try { globalThis[name] = () => 1 } catch {}
        try { Object.defineProperty(globalThis, name, { value: 1 }) } catch {}
        delete globalThis[name]";
    assert_eq!(world.run(&mut session, take).value(), Value::from(false));
    assert_eq!(
        world.run(&mut session, "const $import = 1").failure().to_string(),
        "SyntaxError: the name `$import` is taken"
    );
    assert_eq!(world.run(&mut session, "import { mean } from 'stats'; mean([1])").value(), Value::from(1));
}

/// The host joins names to fetch a graph, the guest to find its parts: both must mean the same.
#[test]
fn host_and_guest_join_names_alike() {
    for (from, specifier) in [
        ("https://x.test/lib/a.js", "./b.js"),
        ("https://x.test/lib/a.js", "../b.js"),
        ("https://x.test/lib/a.js", ".././c/./b.js"),
        ("/abs/a.js", "./b.js"),
        ("/abs/deep/a.js", "../../b.js"),
        ("a//b.js", "./c.js"),
        ("a/b/c.js", "./../d.js"),
        ("lib/a.js", "./b//c.js"),
        ("lib/a.js", ".hidden"),
        ("lib/a.js", "..double"),
        ("lib/é.js", "./ü.js"),
    ] {
        let asker = from.to_owned();
        let source = format!("import * as part from {specifier:?}; export default part.default");
        let modules = Modules::resolver([""; 0], move |key| {
            let source = if key == asker { source.clone() } else { format!("export default {key:?}") };
            std::future::ready(Ok(Some(source)))
        });
        let world = World::new();
        let mut session = session(&world, modules);
        let joined = world.run(&mut session, &format!("import part from {from:?}; part")).value();
        let dynamic = format!("(await import({from:?})).default === (await import({joined})).default");
        assert_eq!(world.run(&mut session, &dynamic).value(), Value::from(true), "{specifier} in {from}");
    }
}

#[test]
fn imports_that_fail_spend_calls_too() {
    let world = World::new();
    let mut limits = chrysalid::Limits::default();
    limits.calls = 10;
    let mut with = options(library());
    with.limits = Some(limits);
    let mut session = ENGINE.session_with(&world.tools(), with).unwrap();
    let source = "const why = new Map();
        for (let i = 0; i < 500; i++) await import('none' + i % 3).catch(e => why.set(e.name, (why.get(e.name) ?? 0) + 1));
        [...why].join()";
    assert_eq!(world.run(&mut session, source).value(), text("ImportError,10,CallBudgetExceeded,490"));
    assert_eq!(session.calls().len(), 20, "the record is bounded");
    let long = "import('x'.repeat(5000)).catch(e => e.message.length)";
    assert_eq!(world.run(&mut session, long).value(), Value::from(254));
}

#[test]
fn several_imports_of_what_is_not_there_all_fail() {
    let modules = || {
        Modules::fixed([
            ("a.js", "import './missing.js'"),
            ("b.js", "import './missing.js'"),
            ("broken.js", "import './twice.js'"),
            ("twice.js", "let x; let x;"),
        ])
    };
    let world = World::new();
    let outcome = |source: &str| world.run(&mut session(&world, modules()), source).value();
    let all =
        "(await Promise.allSettled([import('x'), import('x'), import('a.js'), import('b.js'), import('missing.js')]))
        .map(r => r.reason.name).join()";
    assert_eq!(outcome(all), text(&["ImportError"; 5].join(",")));
    let order =
        "(await Promise.allSettled([import('missing.js'), import('a.js'), import('b.js')])).map(r => r.status).join()";
    assert_eq!(outcome(order), text(&["rejected"; 3].join(",")));
    let turns = "const why = [];
        for (const key of ['a.js', 'missing.js', 'a.js', 'b.js']) await import(key).catch(e => why.push(e.name));
        why.join()";
    assert_eq!(outcome(turns), text(&["ImportError"; 4].join(",")));
    // What only the guest refuses keeps its error.
    let broken = "const why = [];
        for (const key of ['broken.js', 'broken.js', 'twice.js']) await import(key).catch(e => why.push(e.name + ': ' + e.message));
        [new Set(why).size, why[0]]";
    assert_eq!(outcome(broken), json(json!([1, "SyntaxError: invalid redefinition of global identifier"])));
    let mut session = session(&world, modules());
    for _ in 0..2 {
        let failure = world.run(&mut session, "import 'broken.js'").failure();
        assert_eq!(failure.to_string(), "SyntaxError: invalid redefinition of global identifier");
    }
}

#[test]
fn a_module_that_arrives_in_the_middle_of_a_job_still_gets_what_it_imports() {
    let world = World::new();
    let mut options = SessionOptions::default();
    options.modules = Modules::fixed([
        ("a.js", "import { b } from './b.js'; export const a = b + 1"),
        ("b.js", "export const b = 1"),
    ]);
    let mut session = ENGINE.session_with(&world.tools(), options).unwrap();
    let source = "const p = import('./a.js'); await tools.echo({}); for (let i = 0; i < 2e7; i++); (await p).a";
    session.start(source).unwrap();
    let calls = step_to_calls(&mut session, begin(), 2);
    let [import, echo] = calls.as_slice() else { panic!("{calls:?}") };
    session.settle(echo.id(), Ok(Value::Null)).unwrap();
    assert!(matches!(session.step(begin()).unwrap(), Step::Busy));
    session.settle(import.id(), block_on(import.invoke())).unwrap();
    assert!(matches!(session.step(begin()).unwrap(), Step::Busy), "the job is too short");
    assert_eq!(world.drive(&mut session).value(), Value::from(2));
}
