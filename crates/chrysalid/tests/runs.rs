//! What the sessions of one run share beside its counts: a wall clock, and calls at one time.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::{Duration, SystemTime};

use chrysalid::{
    AuditSink, Budget, CallId, CallStatus, Capabilities, Capability, Decision, Engine, FailureKind, Outcome, Restore,
    RunBudget, Session, SessionOptions, Spent, Step, Timer, ToolError, Value,
};

use crate::support::{
    BOTH, ENGINE, Halt, RealTime, World, begin, block_on, fresh_engine, id, record, status, step, step_to_calls, text,
    with_limits,
};

const SECOND: Duration = Duration::from_secs(1);

fn run() -> RunBudget {
    RunBudget::new(Budget::default())
}

fn of_run(run: &RunBudget) -> SessionOptions {
    let mut options = SessionOptions::default();
    options.run = Some(run.clone());
    options
}

fn member(world: &World, run: &RunBudget) -> Session {
    world.session_with(of_run(run))
}

fn used(spent: &Spent) -> Duration {
    Duration::from_secs_f64(spent.wall_millis / 1000.0)
}

#[track_caller]
fn started(session: &mut Session, now: SystemTime) -> CallId {
    match step(session, now) {
        Step::Start(calls) => calls[0].id(),
        other => panic!("starts no call: {other:?}"),
    }
}

/// When a session that can do nothing wants to be stepped again.
#[track_caller]
fn waits(session: &mut Session, now: SystemTime) -> Option<SystemTime> {
    match step(session, now) {
        Step::Wait { wake_at } => wake_at,
        other => panic!("does not wait: {other:?}"),
    }
}

// ---- the wall clock ----

#[test]
fn two_sessions_share_a_wall_clock() {
    for way in BOTH {
        let world = World::new();
        let run = run().wall_time(10 * SECOND);
        let mut parent = member(&world, &run);
        world.run(&mut parent, "await tools.slow({ ms: 6000, v: 1 })").value();
        assert_eq!(used(&run.spent()), 6 * SECOND);
        let mut parent = way.pass_into(parent, &world.tools(), of_run(&run), fresh_engine);

        let mut child = member(&world, &run);
        let before = world.time();
        let failure = world.run(&mut child, "await tools.slow({ ms: 6000, v: 1 })").failure();
        assert_eq!(failure.kind, FailureKind::WallTimeout);
        assert_eq!(failure.message, "the run used more than 10s of wall-clock time");
        assert_eq!((world.time(), used(&run.spent())), (before + 4 * SECOND, 10 * SECOND));
        // Nothing more runs, in any of its sessions.
        assert_eq!(world.run(&mut parent, "1").failure(), failure);
        assert_eq!(used(&parent.ledger().spent), 6 * SECOND);

        // A person gives more.
        let run = run.wall_time(12 * SECOND);
        assert_eq!(world.run(&mut parent, "await tools.slow({ ms: 1500, v: 2 })").value(), Value::from(2));
        assert_eq!(used(&run.spent()), Duration::from_millis(11_500));
    }
}

#[test]
fn the_limit_that_is_reached_first_ends_a_program() {
    let world = World::new();
    for (own, of_all, message) in [(4, 5, "the program used more than 4s"), (5, 4, "the run used more than 4s")] {
        let mut options = with_limits(|limits| limits.wall_time = Some(own * SECOND));
        options.run = Some(run().wall_time(of_all * SECOND));
        let mut session = world.session_with(options);
        let before = world.time();
        let failure = world.run(&mut session, "await new Promise(done => setTimeout(done, 9000))").failure();
        assert_eq!(failure.message, format!("{message} of wall-clock time"));
        assert_eq!(world.time(), before + 4 * SECOND);
    }
}

#[test]
fn sessions_that_overlap_count_once() {
    let world = World::new();
    let run = run();
    let (mut one, mut other) = (member(&world, &run), member(&world, &run));
    let start = begin();
    one.start("await tools.slow()").unwrap();
    let first = started(&mut one, start);
    other.start("await tools.slow()").unwrap();
    let second = started(&mut other, start + 4 * SECOND);
    assert_eq!(used(&run.spent()), 4 * SECOND);

    one.settle(first, Ok(Value::Null)).unwrap();
    let Step::Ended(_) = step(&mut one, start + 6 * SECOND) else { panic!("has not ended") };
    assert_eq!(used(&run.spent()), 6 * SECOND);
    other.settle(second, Ok(Value::Null)).unwrap();
    let Step::Ended(_) = step(&mut other, start + 9 * SECOND) else { panic!("has not ended") };
    assert_eq!(used(&run.spent()), 9 * SECOND);
    assert_eq!([&one, &other].map(|session| used(&session.ledger().spent)), [6 * SECOND, 5 * SECOND]);

    // A step of one that comes late tells nothing that was not counted.
    one.start("await tools.slow()").unwrap();
    started(&mut one, start + 7 * SECOND);
    assert_eq!(used(&run.spent()), 9 * SECOND);
}

#[test]
fn pauses_do_not_count() {
    for way in BOTH {
        let world = World::new();
        let run = run();
        let mut session = member(&world, &run);
        let source = "await tools.slow({ ms: 2000 }); await tools.gate(); await tools.slow({ ms: 3000 })";
        world.run(&mut session, source).waits();
        assert_eq!(used(&run.spent()), 2 * SECOND);
        world.advance(Duration::from_hours(1));
        let mut session = way.pass_into(session, &world.tools(), of_run(&run), fresh_engine);
        // Others go on meanwhile.
        world.run(&mut member(&world, &run), "await tools.slow({ ms: 500 })").value();
        world.advance(Duration::from_hours(1));
        world.decide(&mut session, "1.2", Decision::Approve).value();
        world.advance(Duration::from_hours(1));
        assert_eq!(used(&run.spent()), Duration::from_millis(5500));
    }
}

#[test]
fn the_clock_does_not_run_on_for_a_session_that_is_gone() {
    for interrupted in [false, true] {
        let world = World::new();
        let run = run();
        let mut gone = member(&world, &run);
        gone.start("await tools.slow()").unwrap();
        started(&mut gone, world.time());
        world.advance(SECOND);
        waits(&mut gone, world.time());
        if interrupted {
            gone.interrupt_handle().interrupt();
            let Step::Ended(_) = step(&mut gone, world.time()) else { panic!("has not ended") };
        } else {
            drop(gone);
        }
        world.advance(Duration::from_hours(1));
        world.run(&mut member(&world, &run), "await tools.slow({ ms: 2000 })").value();
        assert_eq!(used(&run.spent()), 3 * SECOND);
    }
}

#[test]
fn an_older_image_gives_no_time_back() {
    let world = World::new();
    let first = run().wall_time(10 * SECOND);
    let mut session = member(&world, &first);
    world.run(&mut session, "await tools.slow({ ms: 3000 })").value();
    let older = session.snapshot().unwrap();
    world.run(&mut session, "await tools.slow({ ms: 4000 })").value();
    let image = session.snapshot().unwrap();
    assert_eq!(used(&first.spent()), 7 * SECOND);

    // In another process all that is known is what the images say.
    let later = run().wall_time(10 * SECOND);
    let tools = world.tools();
    fresh_engine().restore_with(&older, &tools, Restore::Resume, of_run(&later)).unwrap();
    assert_eq!(used(&later.spent()), 3 * SECOND);
    fresh_engine().restore_with(&image, &tools, Restore::Resume, of_run(&later)).unwrap();
    assert_eq!(later.spent(), first.spent());
    let mut session = fresh_engine().restore_with(&older, &tools, Restore::Fork, of_run(&later)).unwrap();
    assert_eq!(later.spent(), first.spent());

    // And what the host kept beside them.
    let kept: Spent = serde_json::from_str(&serde_json::to_string(&later.spent()).unwrap()).unwrap();
    assert_eq!(kept, first.spent());
    later.join(&Spent { wall_millis: 8000.0, ..kept });
    let before = world.time();
    let failure = world.run(&mut session, "await tools.slow({ ms: 4000 })").failure();
    assert_eq!(failure.to_string(), "WallTimeout: the run used more than 10s of wall-clock time");
    assert_eq!(world.time(), before + 2 * SECOND);
}

#[test]
fn the_clock_of_a_run_ends_a_program_in_the_middle_of_a_job() {
    let run = run().wall_time(200 * Duration::from_millis(1));
    let mut session = ENGINE.session_with(&Capabilities::none(), of_run(&run)).unwrap();
    session.start("for (;;);").unwrap();
    let ended = loop {
        match session.step(SystemTime::now()).unwrap() {
            Step::Busy => {}
            Step::Ended(ended) => break ended,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(ended.result.unwrap_err().to_string(), "WallTimeout: the run used more than 200ms of wall-clock time");
    assert_eq!(ended.heap, chrysalid::Heap::Intact);
}

// ---- calls at one time ----

#[test]
fn a_call_waits_until_another_session_of_the_run_leaves_it_room() {
    for way in BOTH {
        let world = World::new();
        let run = run().calls_in_flight(2);
        let (mut one, mut other) = (member(&world, &run), member(&world, &run));
        one.start("const all = await Promise.all([1000, 3000].map(ms => tools.slow({ ms }))); all.length").unwrap();
        let calls = step_to_calls(&mut one, world.time(), 2);
        // The value of the program is known, and its call still has to run.
        other.start("tools.slow({ ms: 500, v: 'done' }); 5").unwrap();
        let poll = Some(world.time() + Duration::from_millis(10));
        assert_eq!(waits(&mut other, world.time()), poll);
        assert_eq!(status(&other, "1.1"), CallStatus::Queued);
        let mut other = way.pass_into(other, &world.tools(), of_run(&run), fresh_engine);
        assert_eq!(waits(&mut other, world.time()), poll);

        one.settle(calls[0].id(), Ok(Value::Null)).unwrap();
        started(&mut other, world.time());
        assert_eq!(waits(&mut one, world.time()), None);
        other.settle(id("1.1"), Ok(Value::Null)).unwrap();
        let Step::Ended(ended) = step(&mut other, world.time()) else { panic!("has not ended") };
        assert_eq!((ended.result.unwrap(), record(&other)), (Value::from(5), vec!["1.1 slow completed".to_owned()]));
    }
}

#[test]
fn no_more_calls_than_the_run_allows_at_one_time() {
    let world = World::new();
    let run = run().calls_in_flight(2);
    let (mut one, mut other) = (member(&world, &run), member(&world, &run));
    let begun = world.time();
    one.start("await Promise.all([tools.slow({ ms: 1000 }), tools.slow({ ms: 2000 })]); 1").unwrap();
    other.start("await tools.slow({ ms: 1500 }); 2").unwrap();
    let values = world.drive_together([&mut one, &mut other]).map(Halt::value);
    assert_eq!(values, [Value::from(1), Value::from(2)]);
    // The third begins when the first has ended.
    assert_eq!((world.peak(), world.time()), (2, begun + Duration::from_millis(2500)));
    assert_eq!(used(&run.spent()), Duration::from_millis(2500));
}

#[test]
fn sessions_take_turns() {
    let world = World::new();
    let run = run().calls_in_flight(1);
    let (mut one, mut other) = (member(&world, &run), member(&world, &run));
    one.start("for (let v = 1; v <= 3; v++) await tools.slow({ ms: 1, v })").unwrap();
    other.start("await Promise.all([4, 5, 6].map(v => tools.slow({ ms: 1, v }))); 0").unwrap();
    for halt in world.drive_together([&mut one, &mut other]) {
        halt.value();
    }
    // One asks for its second when the other has stood in the line for its own already.
    assert_eq!(world.calls(), [1, 4, 5, 2, 6, 3].map(|v| format!("slow {{ ms: 1, v: {v} }}")));
    assert_eq!(world.peak(), 1);
}

#[test]
fn a_session_that_nobody_drives_is_passed_over() {
    let world = World::new();
    let run = run().calls_in_flight(1);
    let (mut one, mut left) = (member(&world, &run), member(&world, &run));
    one.start("await tools.slow(); await tools.slow()").unwrap();
    let first = started(&mut one, world.time());
    left.start("await tools.slow()").unwrap();
    waits(&mut left, world.time());
    one.settle(first, Ok(Value::Null)).unwrap();
    // It is the turn of the other, which does not come.
    for _ in 0..4 {
        waits(&mut one, world.time());
    }
    let second = started(&mut one, world.time());
    // It comes after all.
    waits(&mut left, world.time());
    one.settle(second, Ok(Value::Null)).unwrap();
    started(&mut left, world.time());
}

/// A session whose one call has the only slot of its run.
struct Holder {
    world: World,
    run: RunBudget,
    session: Session,
}

fn tools() -> Capabilities {
    let ask = Capability::raw("ask", |_, _| std::future::pending()).timeout(5 * SECOND);
    Capabilities::new([ask]).unwrap()
}

impl Holder {
    fn new() -> Self {
        let (world, run) = (World::new(), run().calls_in_flight(1));
        let mut session = ENGINE.session_with(&tools(), of_run(&run)).unwrap();
        session.start("await tools.ask().catch(() => 0)").unwrap();
        started(&mut session, world.time());
        let mut other = member(&world, &run);
        other.start("await tools.echo()").unwrap();
        waits(&mut other, world.time());
        Self { world, run, session }
    }

    /// Takes the session through its image; what began the call is gone.
    fn restored(mut self) -> Self {
        let image = self.session.snapshot().unwrap();
        drop(self.session);
        let session = fresh_engine().restore_with(&image, &tools(), Restore::Resume, of_run(&self.run)).unwrap();
        Self { session, ..self }
    }

    #[track_caller]
    fn ends(&mut self) {
        let Step::Ended(_) = step(&mut self.session, self.world.time()) else { panic!("has not ended") };
    }
}

/// That a new session of the run may begin a call at once.
#[track_caller]
fn free(world: &World, run: &RunBudget) {
    let mut other = member(world, run);
    other.start("await tools.echo()").unwrap();
    started(&mut other, world.time());
}

#[test]
fn a_slot_is_free_again_when_its_call_ends() {
    let results = [Ok(Value::Null), Err(ToolError::new("no")), Ok(text(&"x".repeat(5 << 20)))];
    for result in results {
        let mut held = Holder::new();
        held.session.settle(id("1.1"), result).unwrap();
        free(&held.world, &held.run);
    }
    let mut held = Holder::new();
    held.world.advance(6 * SECOND);
    held.ends();
    assert_eq!(record(&held.session), ["1.1 ask failed"]);
    free(&held.world, &held.run);

    let mut held = Holder::new();
    held.session.suspend_call(id("1.1")).unwrap();
    free(&held.world, &held.run);
}

#[test]
fn a_slot_is_free_again_when_its_program_is_stopped() {
    let mut held = Holder::new();
    held.session.interrupt_handle().interrupt();
    held.ends();
    assert_eq!(record(&held.session), ["1.1 ask unknown"]);
    free(&held.world, &held.run);

    let mut held = Holder::new();
    let _ = held.run.clone().wall_time(SECOND);
    held.world.advance(SECOND);
    held.ends();
    assert_eq!(record(&held.session), ["1.1 ask unknown"]);
    let _ = held.run.clone().wall_time(9 * SECOND);
    free(&held.world, &held.run);
}

#[test]
fn a_slot_is_free_again_when_nobody_drives_its_session() {
    let Holder { world, run, session } = Holder::new();
    drop(session);
    free(&world, &run);

    let mut held = Holder::new().restored();
    assert_eq!(record(&held.session), ["1.1 ask unknown"]);
    free(&held.world, &held.run);

    // A driver that begins the call again, and is dropped.
    held.session.decide(id("1.1"), Decision::Approve).unwrap();
    block_on(async {
        let driven = tokio::time::timeout(Duration::ZERO, held.session.resume(&RealTime)).await;
        assert!(driven.is_err(), "{driven:?}");
    });
    assert_eq!(record(&held.session), ["1.1 ask unknown"]);
    free(&held.world, &held.run);
}

#[test]
fn a_queued_call_that_is_withdrawn_keeps_nobody_waiting() {
    let world = World::new();
    let run = run().calls_in_flight(1);
    let (mut one, mut other) = (member(&world, &run), member(&world, &run));
    one.start("await tools.slow(); await tools.slow()").unwrap();
    let first = started(&mut one, world.time());
    other.start("const call = tools.slow(); await new Promise(done => setTimeout(done, 5)); throw 'no'").unwrap();
    waits(&mut other, world.time());
    world.advance(SECOND);
    let Step::Ended(_) = step(&mut other, world.time()) else { panic!("has not ended") };
    assert_eq!(record(&other), ["1.1 slow abandoned"]);
    one.settle(first, Ok(Value::Null)).unwrap();
    started(&mut one, world.time());
}

struct Full;

impl AuditSink for Full {
    fn append(&self, line: &str) -> std::io::Result<()> {
        if line.contains("\"event\":\"started\"") { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

#[test]
fn a_call_that_is_denied_as_it_begins_takes_no_slot() {
    let world = World::new();
    let run = run().calls_in_flight(1);
    let mut options = of_run(&run);
    options.audit = Some(Arc::new(Full));
    let mut session = world.session_with(options);
    let failure = world.run(&mut session, "await tools.echo()").failure();
    assert_eq!(failure.to_string(), "Denied: echo: the audit trail cannot be written");
    free(&world, &run);
}

#[test]
fn more_room_is_given_while_calls_wait() {
    let world = World::new();
    // None at all would never end.
    let run = run().calls_in_flight(0);
    let mut one = member(&world, &run);
    one.start("await Promise.all([tools.slow(), tools.slow()])").unwrap();
    let Step::Start(calls) = step(&mut one, world.time()) else { panic!("starts no calls") };
    assert_eq!(calls.len(), 1);
    let _ = run.calls_in_flight(2);
    assert_eq!(started(&mut one, world.time()), id("1.2"));
}

// ---- the async driver ----

/// Never tells that it is time: whoever waits has to be woken.
struct NoTime;

impl Timer for NoTime {
    fn now(&self) -> SystemTime {
        begin()
    }

    fn sleep_until(&self, _: SystemTime) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(std::future::pending())
    }
}

/// What a tool waits for until the test lets it go on.
#[derive(Clone, Default)]
struct Latch(Arc<Mutex<(bool, Option<Waker>)>>);

impl Latch {
    fn is_waited_for(&self) -> bool {
        self.0.lock().unwrap().1.is_some()
    }

    fn open(&self) {
        let mut latch = self.0.lock().unwrap();
        latch.0 = true;
        latch.1.take().expect("nobody waits").wake();
    }

    async fn opened(&self) {
        std::future::poll_fn(|cx| {
            let mut latch = self.0.lock().unwrap();
            latch.1 = Some(cx.waker().clone());
            if latch.0 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

#[test]
fn the_driver_of_one_session_is_woken_by_the_end_of_a_call_of_another() {
    let run = run().calls_in_flight(1);
    let order = Arc::new(Mutex::new(Vec::new()));
    let latch = Latch::default();
    let (noted, opened) = (order.clone(), latch.clone());
    let gate = Capability::raw("gate", move |_, _| {
        let (noted, opened) = (noted.clone(), opened.clone());
        async move {
            noted.lock().unwrap().push("gate begins");
            opened.opened().await;
            noted.lock().unwrap().push("gate ends");
            Ok(Value::from(1))
        }
    });
    let noted = order.clone();
    let next = Capability::raw("next", move |_, _| {
        noted.lock().unwrap().push("next");
        std::future::ready(Ok(Value::from(2)))
    });
    let session = |tool| ENGINE.session_with(&Capabilities::new([tool]).unwrap(), of_run(&run)).unwrap();
    let (mut one, mut other) = (session(gate), session(next));
    let (first, second, ()) = block_on(async {
        let opens = async {
            while !latch.is_waited_for() {
                tokio::task::yield_now().await;
            }
            // Until the other waits as well.
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            order.lock().unwrap().push("open");
            latch.open();
        };
        tokio::join!(one.run("await tools.gate()", &NoTime), other.run("await tools.next()", &NoTime), opens)
    });
    for (outcome, value) in [(first, 1), (second, 2)] {
        let Outcome::Done(done) = outcome.unwrap() else { panic!("is not done") };
        assert_eq!(done.result.unwrap(), Value::from(value));
    }
    assert_eq!(*order.lock().unwrap(), ["gate begins", "open", "gate ends", "next"]);
}

#[test]
fn a_subagent_gets_the_last_slot_of_its_run() {
    let world = World::new();
    let run = run().calls_in_flight(1);
    let (child_world, child_run) = (world.clone(), run.clone());
    let task = Capability::raw("task", move |_, _| {
        let mut options = of_run(&child_run);
        options.depth = 1;
        let mut child = child_world.session_with(options);
        async move {
            let outcome = child.run("await tools.echo({ v: 'told' })", &NoTime).await.unwrap();
            let Outcome::Done(done) = outcome else { panic!("{outcome:?}") };
            Ok(done.result.unwrap())
        }
    });
    let tools = Capabilities::new([task.subagent(), world.echo()]).unwrap();
    let mut parent = ENGINE.session_with(&tools, of_run(&run)).unwrap();
    let source = "(await Promise.all([tools.task(), tools.task(), tools.echo({ v: 'own' })])).join()";
    let Outcome::Done(done) = block_on(parent.run(source, &NoTime)).unwrap() else { panic!("is not done") };
    assert_eq!(done.result.unwrap(), text("told,told,own"));
}

#[test]
fn many_sessions_on_many_threads_come_to_their_end() {
    let engine: Engine = ENGINE.clone();
    let run = run().calls_in_flight(2);
    let running = Arc::new(Mutex::new((0_u32, 0_u32)));
    let noted = running.clone();
    let tool = Capability::raw("work", move |_, _| {
        let noted = noted.clone();
        async move {
            {
                let mut now = noted.lock().unwrap();
                now.0 += 1;
                now.1 = now.1.max(now.0);
            }
            tokio::task::yield_now().await;
            noted.lock().unwrap().0 -= 1;
            Ok(Value::Null)
        }
    });
    let tools = Capabilities::new([tool]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let mut session = engine.session_with(&tools, of_run(&run)).unwrap();
            scope.spawn(move || {
                let source = "await Promise.all(Array.from({ length: 50 }, () => tools.work())); 1";
                let Outcome::Done(done) = block_on(session.run(source, &NoTime)).unwrap() else { panic!("not done") };
                assert_eq!(done.result.unwrap(), Value::from(1));
            });
        }
    });
    assert_eq!((run.spent().calls, running.lock().unwrap().0), (200, 0));
    assert!(running.lock().unwrap().1 <= 2);
}
