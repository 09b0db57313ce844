//! Sessions on threads: moved between them, on small stacks, beside others, dropped in the middle, more than there are slots.

use std::sync::mpsc;
use std::time::Duration;

use chrysalid::{Capabilities, Decision, Engine, FailureKind, Heap, Outcome, Session, Step, Value};

use crate::measure::address_space;
use crate::support::{ENGINE, RealTime, World, begin, block_on, builder, eval, key, run, session, text, with_limits};

#[test]
fn engines_and_sessions_may_change_threads() {
    fn send_and_sync<T: Send + Sync>() {}
    fn send<T: Send>() {}
    send_and_sync::<Engine>();
    send_and_sync::<chrysalid::Interrupt>();
    send_and_sync::<Capabilities>();
    send::<Session>();
}

#[test]
fn a_program_goes_on_on_another_thread_in_the_middle_of_a_job() {
    let mut session = session();
    session.start("let n = 0; for (let i = 0; i < 6e6; i++) n += 1; n").unwrap();
    let mut hops = 0;
    let ended = loop {
        let (back, step) = std::thread::spawn(move || {
            let step = session.step(begin()).unwrap();
            (session, step)
        })
        .join()
        .unwrap();
        session = back;
        match step {
            Step::Busy => hops += 1,
            Step::Ended(ended) => break ended,
            other => panic!("{other:?}"),
        }
    };
    assert!(hops >= 2);
    assert_eq!(ended.result.unwrap(), Value::from(6_000_000));
}

#[test]
fn a_thread_with_a_small_stack_runs_deep_programs() {
    let engine = ENGINE.clone();
    let small = std::thread::Builder::new().stack_size(128 << 10);
    let values = small
        .spawn(move || {
            let world = World::new();
            let mut session = engine.session(&world.tools()).unwrap();
            let sources = [
                "1 + 1",
                "function f() { f() } try { f() } catch (e) { e.name }",
                "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; try { JSON.stringify(o) } catch (e) { e.name }",
                "try { eval('('.repeat(50000)) } catch (e) { 'parser' }",
                "let d = {}; for (let i = 0; i < 400; i++) d = { d }; await tools.mirror({ d }); 'values'",
                "let d = {}; for (let i = 0; i < 400; i++) d = { d }; console.log(d); 'console'",
            ];
            sources.map(|source| world.run(&mut session, source).value().to_string())
        })
        .unwrap()
        .join()
        .unwrap();
    assert_eq!(values, ["2", "'RangeError'", "'RangeError'", "'parser'", "'values'", "'console'"]);
}

#[test]
fn a_snapshot_is_taken_and_restored_on_a_small_stack() {
    let small = std::thread::Builder::new().stack_size(128 << 10);
    let value = small
        .spawn(|| {
            let world = World::new();
            let mut session = world.session();
            world
                .run(
                    &mut session,
                    "let d = {}; for (let i = 0; i < 400; i++) d = { d }; await tools.gate({ d }); 'back'",
                )
                .waits();
            let mut session = crate::support::moved(session, &world.tools());
            world.decide(&mut session, "1.1", Decision::Approve).value()
        })
        .unwrap()
        .join()
        .unwrap();
    assert_eq!(value, text("back"));
}

#[test]
fn an_endless_loop_leaves_the_thread_to_others() {
    let mut endless = session();
    let mut other = session();
    let stop = endless.interrupt_handle();
    let (outcome, value) = block_on(async {
        let first = endless.run("while (true) {}", &RealTime);
        let second = async {
            let Outcome::Done(done) = other
                .run(
                    "let n = 0; for (let i = 0; i < 10; i++) { await new Promise(r => setTimeout(r, 1)); n++ } n",
                    &RealTime,
                )
                .await
                .unwrap()
            else {
                panic!()
            };
            stop.interrupt();
            done.result.unwrap()
        };
        tokio::join!(first, second)
    });
    assert_eq!(value, Value::from(10));
    let Outcome::Failed(ended) = outcome.unwrap() else { panic!() };
    assert_eq!(ended.result.unwrap_err().kind, FailureKind::Cancelled);
}

#[test]
fn sessions_of_two_threads_run_side_by_side() {
    let threads: Vec<_> = (0..4u32)
        .map(|number| {
            std::thread::spawn(move || {
                let world = World::new();
                let mut session = world.session();
                for round in 0..20u32 {
                    let source = format!("globalThis.sum = (globalThis.sum ?? 0) + {number}; (await tools.echo({{v: sum}})) + {round} * 0");
                    let expected = Value::from(number * (round + 1));
                    assert_eq!(world.run(&mut session, &source).value(), expected);
                    if round % 5 == 0 {
                        session = crate::support::Way::Move.pass(session, &world.tools());
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn an_interrupt_reaches_a_step_that_runs_on_another_thread() {
    let (tell, told) = mpsc::channel();
    let runner = std::thread::spawn(move || {
        let mut session = session();
        tell.send(session.interrupt_handle()).unwrap();
        session.start("while (true) {}").unwrap();
        loop {
            if let Step::Ended(ended) = session.step(begin()).unwrap() {
                return (ended, eval(&mut session, "'alive'"));
            }
        }
    });
    told.recv().unwrap().interrupt();
    let (ended, alive) = runner.join().unwrap();
    assert_eq!(ended.result.unwrap_err().kind, FailureKind::Cancelled);
    assert_eq!((ended.heap, alive), (Heap::Intact, text("alive")));
}

// ---- slots ----

/// Runs in a process of its own, where nothing else takes address space.
pub(crate) fn one_slot_is_enough() -> Vec<u8> {
    const GIBIBYTE: u64 = 1 << 30;
    let engine = builder().pool_slots(1).build().unwrap();
    let none = Capabilities::none();
    drop(engine.session(&none).unwrap());
    let before = address_space();
    let on_demand = || address_space() > before + GIBIBYTE;

    // Dropped in the middle of a job.
    for _ in 0..20 {
        let mut busy = engine.session(&none).unwrap();
        busy.start("while (true) {}").unwrap();
        assert!(matches!(busy.step(begin()).unwrap(), Step::Busy));
        assert!(!on_demand(), "a busy session that was dropped keeps its slot");
    }
    // A hundred traps, each with a fresh store.
    let options = with_limits(|limits| limits.cpu_time = Duration::from_millis(5));
    let mut session = engine.session_with(&none, options).unwrap();
    for _ in 0..100 {
        let ended = run(&mut session, "new Array(1e9).join()");
        assert_eq!((ended.result.unwrap_err().kind, ended.heap), (FailureKind::Timeout, Heap::Reset));
        assert!(!on_demand(), "a trap leaks a slot");
    }
    drop(session);
    // Deep programs move to a fresh store, too.
    let mut session = engine.session(&none).unwrap();
    for _ in 0..20 {
        eval(&mut session, "function f() { f() } try { f() } catch {} 1");
        assert!(!on_demand(), "a deep program leaks a slot");
    }
    // Restored and dropped.
    let image = session.snapshot().unwrap();
    drop(session);
    for _ in 0..20 {
        drop(engine.restore(&image, &none, chrysalid::Restore::Resume).unwrap());
        assert!(!on_demand(), "a restored session leaks a slot");
    }
    let _first = engine.session(&none).unwrap();
    assert!(!on_demand());
    let _second = engine.session(&none).unwrap();
    assert!(on_demand(), "a second session is made on demand");
    Vec::new()
}

#[test]
fn a_dropped_or_trapped_session_gives_its_slot_back() {
    crate::worker::in_fresh_process("slots", &[]);
}

#[test]
fn more_sessions_than_slots_work() {
    let engine = builder().pool_slots(1).build().unwrap();
    let mut sessions: Vec<_> = (0..5).map(|_| engine.session(&Capabilities::none()).unwrap()).collect();
    for (number, session) in sessions.iter_mut().enumerate() {
        assert_eq!(eval(session, &format!("let n = {number}; n")), Value::from(u32::try_from(number).unwrap()));
    }
    let images: Vec<_> = sessions.iter_mut().map(|session| session.snapshot().unwrap()).collect();
    drop(sessions);
    for (number, image) in images.iter().enumerate() {
        let mut session = engine.restore(image, &Capabilities::none(), chrysalid::Restore::Resume).unwrap();
        assert_eq!(eval(&mut session, "n"), Value::from(u32::try_from(number).unwrap()));
    }
}

#[test]
fn an_image_moves_between_a_pool_and_none() {
    let pooled = Engine::builder().pool_slots(2).key(key()).build().unwrap();
    let bare = builder().build().unwrap();
    let mut session = pooled.session(&Capabilities::none()).unwrap();
    eval(&mut session, "let n = 0");
    for engine in [&bare, &pooled, &bare, &pooled] {
        eval(&mut session, "n++");
        let image = session.snapshot().unwrap();
        session = engine.restore(&image, &Capabilities::none(), chrysalid::Restore::Resume).unwrap();
    }
    assert_eq!(eval(&mut session, "n"), Value::from(4));
}
