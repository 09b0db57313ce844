//! Ways in which something of a program that is over came to run later, or held on to what is not its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chrysalid::{
    Capabilities, Capability, Event, EventSink, FailureKind, Heap, Modules, Restore, SessionOptions, ToolError, Value,
};

use crate::support::{ENGINE, RealTime, World, block_on, eval, run, text, with_limits};

const LIMIT: Duration = Duration::from_millis(200);

fn short(modules: Modules) -> SessionOptions {
    let mut options = with_limits(|limits| limits.cpu_time = LIMIT);
    options.modules = modules;
    options
}

/// Runs a program that does not end well, and then looks whether anything of it runs during the next.
#[track_caller]
fn nothing_comes_after(modules: Modules, source: &str) {
    let world = World::new();
    let mut session = ENGINE.session_with(&world.tools(), short(modules)).unwrap();
    let setup = "globalThis.late = 'no'; globalThis.ran = what => { late = what; tools.pay({ amount: 1 }) }";
    world.run(&mut session, setup).value();
    let ended = world.run(&mut session, source).ended();
    assert!(ended.result.is_err(), "{source}");
    let next =
        world.run(&mut session, "await null; await null; await new Promise(r => setTimeout(r, 5)); late").ended();
    assert_eq!((next.result, next.logs), (Ok(text("no")), Vec::new()), "{source}");
    assert_eq!(world.paid(), [0.0; 0], "{source}");
}

#[test]
fn finalizers_of_what_a_program_held_do_not_run_in_the_next() {
    for end in ["for (;;);", "throw 1"] {
        for held in
            ["setTimeout(() => o, 1e6)", "globalThis.p = new Promise(r => tools.slow({ ms: 1e6 }).then(() => r(o)))"]
        {
            let source = format!(
                "globalThis.reg = new FinalizationRegistry(() => ran('finalizer')); {{ const o = {{}}; o.self = o; reg.register(o, 1); {held} }} {end}"
            );
            nothing_comes_after(Modules::none(), &source);
        }
    }
}

#[test]
fn reactions_to_a_module_that_hangs_do_not_run_in_the_next() {
    for end in ["for (;;);", "throw 1"] {
        let modules = Modules::fixed([("hang.js", "await new Promise(() => {}); export const a = 1")]);
        let source =
            format!("import('hang.js').catch(() => ran('reaction')); await new Promise(r => setTimeout(r, 50)); {end}");
        nothing_comes_after(modules, &source);
    }
}

#[test]
fn no_other_module_runs_after_the_stop() {
    let modules = Modules::fixed([("a.js", "for (;;);"), ("b.js", "ran('module')")]);
    nothing_comes_after(modules, "import('a.js'); import('b.js'); await new Promise(() => {})");
}

#[test]
fn no_line_is_written_after_the_stop() {
    let mut session = ENGINE.session_with(&Capabilities::none(), short(Modules::none())).unwrap();
    let ended = run(&mut session, "console.log('before'); new Promise(() => { for (;;); }); console.log('after')");
    assert_eq!(ended.logs.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["before"]);
}

#[test]
fn the_wall_clock_ends_a_program_in_the_middle_of_a_job() {
    for (source, heap) in [("for (;;);", Heap::Intact), ("new Array(1e9).join()", Heap::Reset)] {
        let options = with_limits(|limits| {
            limits.wall_time = Some(LIMIT);
            limits.cpu_time = Duration::from_secs(20);
        });
        let mut session = ENGINE.session_with(&Capabilities::none(), options).unwrap();
        let begun = Instant::now();
        let outcome = block_on(session.run(source, &RealTime)).unwrap();
        let chrysalid::Outcome::Failed(ended) = outcome else { panic!("{outcome:?}") };
        assert_eq!(
            ended.result.unwrap_err().to_string(),
            "WallTimeout: the program used more than 200ms of wall-clock time"
        );
        assert_eq!(ended.heap, heap);
        assert!(begun.elapsed() < Duration::from_secs(5));
        assert_eq!(eval(&mut session, "1"), Value::from(1));
    }
}

#[test]
fn answers_that_are_more_than_the_guest_has_room_for_go_in_one_after_the_other() {
    let world = World::new();
    let mut session = world.session();
    let source = "let n = 0; await Promise.all(Array.from({ length: 32 }, async () => { const r = await tools.big({ n: 1.5e6 }); n += r.length })); n";
    assert_eq!(world.run(&mut session, source).value(), Value::from(48_000_000));
}

#[test]
fn a_program_from_a_pause_that_fills_the_heap_leaves_no_session_that_can_do_nothing() {
    let world = World::new();
    let options = || with_limits(|limits| limits.memory = 16 << 20);
    let mut session = world.session_with(options());
    let source = "await tools.gate({}); globalThis.all = []; for (;;) all.push(String(all.length).padEnd(40))";
    world.run(&mut session, source).waits();
    let bytes = session.snapshot().unwrap();
    let mut session = ENGINE.restore_with(&bytes, &world.tools(), Restore::Resume, options()).unwrap();
    let ended = world.decide(&mut session, "1.1", chrysalid::Decision::Approve).ended();
    assert_eq!((ended.result.unwrap_err().kind, ended.heap), (FailureKind::OutOfMemory, Heap::Lost));
    assert!(session.is_lost());
}

// ---- panics of the operator's code ----

#[derive(serde::Deserialize)]
#[serde(from = "Unread")]
struct Read;

#[derive(serde::Deserialize)]
struct Unread {}

impl From<Unread> for Read {
    fn from(_: Unread) -> Self {
        panic!("while it is read")
    }
}

#[test]
fn a_tool_whose_argument_panics_while_it_is_read_has_failed() {
    let tool = Capability::new("tool", |_: Read| async { Ok::<_, ToolError>(1) });
    let mut session = ENGINE.session(&Capabilities::new([tool]).unwrap()).unwrap();
    let source = "try { await tools.tool({}) } catch (e) { `${e.name}: ${e.message}` }";
    assert_eq!(World::new().run(&mut session, source).value(), text("ToolError: the tool panicked"));
}

struct Panics;

impl EventSink for Panics {
    fn event(&self, _: Event<'_>) {
        panic!("in the sink")
    }
}

#[test]
fn a_sink_that_panics_loses_neither_lines_nor_calls() {
    let world = World::new();
    let mut options = SessionOptions::default();
    options.events = Some(Arc::new(Panics));
    let mut session = world.session_with(options);
    let ended =
        world.run(&mut session, "console.log(1); console.log(2); await tools.pay({ amount: 1 }); 'done'").ended();
    assert_eq!((ended.result.unwrap(), ended.logs.len()), (text("done"), 2));
    assert_eq!(world.paid(), [1.0]);
}
