//! Budgets over more than one program: of a session, of a run that several sessions share, and of subagents.

use std::time::Duration;

use chrysalid::{
    Budget, Capabilities, Capability, Decision, Effects, Limits, Restore, Reviewer, RunBudget, Session, SessionOptions,
    Spent, Value, WhenSpent,
};

use crate::support::{BOTH, ENGINE, World, fresh_engine, met, reasons, record, shown, text, with_limits};

fn session_budget(budget: Budget) -> SessionOptions {
    with_limits(|limits| limits.session = budget)
}

/// A program that gives `name: message` of what is refused.
fn caught(call: &str) -> String {
    format!("try {{ await {call} }} catch (e) {{ `${{e.name}}: ${{e.message}}` }}")
}

#[track_caller]
fn refused(world: &World, session: &mut Session, call: &str, message: &str) {
    let end = text(&format!("CallBudgetExceeded: {message}"));
    assert_eq!(world.run(session, &caught(call)).value(), end);
}

fn calls(calls: u32) -> Budget {
    Budget { calls: Some(calls), ..Budget::default() }
}

#[test]
fn calls_of_a_session() {
    for way in BOTH {
        let world = World::new();
        let options = || session_budget(calls(2));
        let mut session = world.session_with(options());
        world.run(&mut session, "await tools.pay({ amount: 1 })").value();
        let mut session = way.pass_into(session, &world.tools(), options(), fresh_engine);
        world.run(&mut session, "await tools.pay({ amount: 2 })").value();
        let mut session = way.pass_into(session, &world.tools(), options(), fresh_engine);
        refused(
            &world,
            &mut session,
            "tools.pay({ amount: 3 })",
            "pay: this session may make 2 calls and has made them",
        );
        assert_eq!(world.paid(), [1.0, 2.0]);
        assert_eq!(record(&session), ["1.1 pay completed", "2.2 pay completed", "3.3 pay failed"]);
        // A fork has had them too.
        let image = session.snapshot().unwrap();
        let mut fork = fresh_engine().restore_with(&image, &world.tools(), Restore::Fork, options()).unwrap();
        refused(&world, &mut fork, "tools.echo()", "echo: this session may make 2 calls and has made them");
    }
}

#[test]
fn calls_of_one_capability_in_a_session() {
    for way in BOTH {
        let world = World::new();
        let tools = Capabilities::new([world.pay().max_calls_per_session(1), world.echo()]).unwrap();
        let mut session = ENGINE.session(&tools).unwrap();
        world.run(&mut session, "await tools.pay({ amount: 1 }); await tools.echo({ v: 1 })").value();
        let mut session = way.pass(session, &tools);
        refused(
            &world,
            &mut session,
            "tools.pay({ amount: 2 })",
            "pay: this session may call pay 1 time and has done so",
        );
        let mut more = Budget::default();
        more.calls_by_name.insert("pay".to_owned(), 1);
        session.raise_budget(&more, &Reviewer::new()).unwrap();
        let mut session = way.pass(session, &tools);
        world.run(&mut session, "await tools.pay({ amount: 3 })").value();
        refused(
            &world,
            &mut session,
            "tools.pay({ amount: 4 })",
            "pay: this session may call pay 2 times and has done so",
        );
        assert_eq!(world.paid(), [1.0, 3.0]);
    }
    // The same as part of the session's own budget.
    let world = World::new();
    let mut budget = Budget::default();
    budget.calls_by_name.insert("pay".to_owned(), 0);
    let mut session = world.session_with(session_budget(budget));
    refused(&world, &mut session, "tools.pay()", "pay: this session may call pay 0 times and has done so");
}

#[test]
fn bytes_of_a_session() {
    for way in BOTH {
        let world = World::new();
        let options = || session_budget(Budget { bytes: Some(2000), ..Budget::default() });
        let mut session = world.session_with(options());
        world.run(&mut session, "(await tools.big({ n: 1990 })).length").value();
        let spent = session.ledger().spent.bytes;
        assert!((2000..2020).contains(&spent), "{spent}: argument and result");
        let mut session = way.pass_into(session, &world.tools(), options(), fresh_engine);
        let message = format!("echo: this session may exchange 2000 bytes, of which {spent} are used");
        refused(&world, &mut session, "tools.echo({ v: 1 })", &message);
        let more = Budget { bytes: Some(100), ..Budget::default() };
        session.raise_budget(&more, &Reviewer::new()).unwrap();
        assert_eq!(world.run(&mut session, "await tools.echo({ v: 1 })").value(), Value::from(1));
    }
}

fn spawning(world: &World) -> Capabilities {
    Capabilities::new([world.answering("ask", text("told")).subagent(), world.echo()]).unwrap()
}

#[test]
fn subagents_of_a_program_and_of_a_session() {
    for way in BOTH {
        let world = World::new();
        let options = || {
            with_limits(|limits| {
                limits.spawns = Some(2);
                limits.session = Budget { spawns: Some(3), ..Budget::default() };
            })
        };
        let tools = spawning(&world);
        let mut session = ENGINE.session_with(&tools, options()).unwrap();
        let three = "tools.ask(), await tools.ask(), await tools.echo(), await tools.ask()";
        refused(&world, &mut session, three, "ask: this program may spawn 2 subagents and has spawned 2");
        let mut session = way.pass_into(session, &tools, options(), fresh_engine);
        let two = "tools.ask(), await tools.ask()";
        refused(&world, &mut session, two, "ask: this session may spawn 3 subagents and has spawned 3");
        assert_eq!(session.ledger().spent.spawns, 3);
    }
}

#[test]
fn how_deep_subagents_may_be_nested() {
    let world = World::new();
    for (depth, allowed) in [(0, true), (1, true), (2, false)] {
        let mut options = session_budget(Budget { depth: Some(2), ..Budget::default() });
        options.depth = depth;
        let mut session = ENGINE.session_with(&spawning(&world), options).unwrap();
        if allowed {
            assert_eq!(world.run(&mut session, "await tools.ask()").value(), text("told"), "{depth}");
        } else {
            refused(&world, &mut session, "tools.ask()", "ask: subagents may be nested 2 levels deep");
            world.run(&mut session, "await tools.echo()").value();
        }
    }
    // Not even a person lets one be nested deeper.
    let mut options = with_limits(|limits| {
        limits.when_spent = WhenSpent::Ask;
        limits.session = Budget { depth: Some(0), ..Budget::default() };
    });
    options.depth = 0;
    let mut session = ENGINE.session_with(&spawning(&world), options).unwrap();
    refused(&world, &mut session, "tools.ask()", "ask: subagents may be nested 0 levels deep");
}

#[test]
fn two_sessions_share_the_budget_of_a_run() {
    let world = World::new();
    let run = RunBudget::new(calls(3));
    let options = |run: &RunBudget| {
        let mut options = SessionOptions::default();
        options.run = Some(run.clone());
        options
    };
    let mut parent = world.session_with(options(&run));
    let mut child = world.session_with(options(&run));
    world.run(&mut parent, "await tools.echo({ v: 1 })").value();
    world.run(&mut child, "await tools.echo({ v: 2 }); await tools.echo({ v: 3 })").value();
    refused(&world, &mut parent, "tools.echo()", "echo: this run may make 3 calls and has made them");
    refused(&world, &mut child, "tools.echo()", "echo: this run may make 3 calls and has made them");
    assert_eq!((run.spent().calls, run.spent().calls_of("echo")), (3, 3));
    assert_eq!(parent.ledger().spent.calls, 1);

    // A snapshot of one of them knows what the run had used, in a process that has only the snapshot.
    let image = child.snapshot().unwrap();
    let known = RunBudget::new(calls(3));
    let mut later = fresh_engine().restore_with(&image, &world.tools(), Restore::Resume, options(&known)).unwrap();
    assert_eq!(known.spent(), run.spent());
    refused(&world, &mut later, "tools.echo()", "echo: this run may make 3 calls and has made them");
    known.join(&Spent { calls: 7, ..Spent::default() });
    assert_eq!((known.spent().calls, known.spent().calls_of("echo")), (7, 3));
}

fn asking(change: impl FnOnce(&mut Limits)) -> SessionOptions {
    with_limits(|limits| {
        limits.when_spent = WhenSpent::Ask;
        change(limits);
    })
}

#[test]
fn a_person_lets_one_call_pass_or_raises_the_budget() {
    for way in BOTH {
        let world = World::new();
        let options = || asking(|limits| limits.session = calls(1));
        let mut session = world.session_with(options());
        let source = "for (let amount = 1; amount <= 5; amount++) await tools.pay({ amount }); 'end'";
        let pause = world.run(&mut session, source).paused();
        assert_eq!(shown(&pause), ["1.2 pay { amount: 2 }"]);
        assert_eq!(reasons(&pause.pending[0]), ["no calls of the session left of 1"]);
        let mut session = way.pass_into(session, &world.tools(), options(), fresh_engine);
        let pause = world.decide(&mut session, "1.2", Decision::Approve).paused();
        assert_eq!(shown(&pause), ["1.3 pay { amount: 3 }"], "for that call only");
        assert_eq!(reasons(&pause.pending[0]), ["no calls of the session left of 1"]);

        // Three have been counted, the one that waits included: two more are of use.
        session.raise_budget(&calls(4), &Reviewer::named("ann")).unwrap();
        let mut session = way.pass_into(session, &world.tools(), options(), fresh_engine);
        assert_eq!(world.decide(&mut session, "1.3", Decision::Approve).value(), text("end"));
        assert_eq!(world.paid(), [1.0, 2.0, 3.0, 4.0, 5.0]);
        let pause = world.run(&mut session, "await tools.pay({ amount: 6 })").paused();
        assert_eq!(reasons(&pause.pending[0]), ["no calls of the session left of 5"]);
        let failure = world.decide(&mut session, "2.6", Decision::Reject(None)).failure();
        assert_eq!(failure.to_string(), "ToolRejected: pay was rejected");
    }
}

#[test]
fn each_budget_may_ask() {
    let world = World::new();
    let run = RunBudget::new(calls(1));
    let cases = [
        (asking(|limits| limits.calls = 1), "no calls of the program left of 1"),
        (asking(|limits| limits.session.bytes = Some(40)), "no bytes of the session left of 40"),
        (asking(|limits| limits.spawns = Some(1)), "no subagents of the program left of 1"),
        (
            {
                let mut options = asking(|_| {});
                options.run = Some(run.clone());
                options
            },
            "no calls of the run left of 1",
        ),
    ];
    for (options, reason) in cases {
        let mut session = ENGINE.session_with(&spawning(&world), options).unwrap();
        let pause = world
            .run(
                &mut session,
                "await tools.ask({ text: 'twenty bytes or more' }); await tools.ask({ text: 'twenty bytes or more' })",
            )
            .paused();
        assert_eq!(reasons(&pause.pending[0]), [reason]);
        assert_eq!(world.decide(&mut session, "1.2", Decision::Approve).value(), text("told"));
    }
    assert_eq!(run.spent().calls, 2);
    let tools = Capabilities::new([world.echo().max_calls(1), world.pay().max_calls_per_session(1)]).unwrap();
    for (name, reason) in
        [("echo", "no calls of echo of the program left of 1"), ("pay", "no calls of pay of the session left of 1")]
    {
        let mut session = ENGINE.session_with(&tools, asking(|_| {})).unwrap();
        let pause = world.run(&mut session, &format!("await tools.{name}(); await tools.{name}()")).paused();
        assert_eq!(reasons(&pause.pending[0]), [reason]);
    }
}

#[test]
fn wall_clock_of_a_session() {
    for way in BOTH {
        let world = World::new();
        let options = || with_limits(|limits| limits.session_wall_time = Some(Duration::from_secs(10)));
        let mut session = world.session_with(options());
        world.run(&mut session, "await tools.slow({ ms: 6000, v: 1 })").value();
        // What passes between programs, and at a pause, does not count.
        world.advance(Duration::from_hours(1));
        let mut session = way.pass_into(session, &world.tools(), options(), fresh_engine);
        world.run(&mut session, "await tools.gate({ q: 1 }); await tools.slow({ ms: 3000, v: 1 })").waits();
        world.advance(Duration::from_hours(1));
        let mut session = way.pass_into(session, &world.tools(), options(), fresh_engine);
        world.decide(&mut session, "2.2", Decision::Approve).value();
        let mut session = way.pass_into(session, &world.tools(), options(), fresh_engine);
        let before = world.time();
        let failure = world.run(&mut session, "await tools.slow({ ms: 6000, v: 1 })").failure();
        assert_eq!(failure.to_string(), "WallTimeout: the session used more than 10s of wall-clock time");
        assert_eq!(world.time(), before + Duration::from_secs(1), "{way:?}");
    }
}

#[test]
fn an_older_image_gives_nothing_back() {
    let world = World::new();
    let tools = || {
        let read = world.answering("read", Value::Null).effects(Effects::PRIVATE);
        let spend: Capability = world.pay().effects(Effects::ACTS);
        Capabilities::new([read, spend]).unwrap()
    };
    let options = || session_budget(calls(3));
    let mut session = ENGINE.session_with(&tools(), options()).unwrap();
    world.run(&mut session, "await tools.pay({ amount: 1 })").value();
    let older = session.snapshot().unwrap();
    world.run(&mut session, "await tools.read(); await tools.pay({ amount: 2 })").value();
    let ledger = session.ledger();
    assert_eq!(ledger.spent.calls, 3);
    // As a host keeps it.
    let kept: chrysalid::Ledger = serde_json::from_str(&serde_json::to_string(&ledger).unwrap()).unwrap();
    assert_eq!(kept, ledger);
    for restore in [Restore::Resume, Restore::Fork] {
        let mut options = options();
        options.ledger = Some(kept.clone());
        let mut session = fresh_engine().restore_with(&older, &tools(), restore, options).unwrap();
        assert_eq!(session.ledger(), ledger);
        assert_eq!(met(&session), ["acts by pay (call 1.1, line 1)", "private by read (call 2.2, line 1)"]);
        refused(&world, &mut session, "tools.pay()", "pay: this session may make 3 calls and has made them");
    }
    // Without it, the image is all that is known.
    let session = fresh_engine().restore_with(&older, &tools(), Restore::Resume, options()).unwrap();
    assert_eq!(session.ledger().spent.calls, 1);
    let told = fresh_engine().inspect(&older).unwrap().sealed.unwrap();
    assert_eq!(told.ledger, session.ledger());
}
