//! Tools that are global functions: there for every program, and nobody's to change.

use chrysalid::{
    Capabilities, Capability, CatalogueBudget, Delivery, Engine, ErrorKind, Limits, Plan, PlanUsage, Value,
};

use crate::support::{BOTH, ENGINE, World, builder, text};

/// Gives back its argument's `of`.
fn task() -> Capability {
    Capability::raw("task", |_, argument| async move { Ok(argument.get("of").cloned().unwrap_or_default()) })
        .description("Does it.")
        .global()
}

fn tools(world: &World) -> Capabilities {
    Capabilities::new([task(), world.echo()]).unwrap()
}

#[test]
fn a_program_calls_it_by_its_bare_name() {
    for way in BOTH {
        let world = World::new();
        let tools = tools(&world);
        let mut session = ENGINE.session(&tools).unwrap();
        let call =
            "[await task({ of: 'a' }), await globalThis.task({ of: 'b' }), await tools.task({ of: 'c' })].join()";
        assert_eq!(world.run(&mut session, call).value(), text("a,b,c"));
        let mut session = way.pass(session, &tools);
        assert_eq!(world.run(&mut session, "await task({ of: 'd' })").value(), text("d"));
    }
}

#[test]
fn it_is_not_listed_under_tools() {
    let world = World::new();
    let mut session = ENGINE.session(&tools(&world)).unwrap();
    assert_eq!(world.run(&mut session, "Object.keys(tools).join()").value(), text("echo"));
    assert_eq!(world.run(&mut session, "typeof task + Object.keys(task).length").value(), text("function0"));
}

#[test]
fn no_program_changes_it() {
    let world = World::new();
    let mut session = ENGINE.session(&tools(&world)).unwrap();
    for (attempt, error) in [
        ("'use strict'; task = 1", "TypeError: 'task' is read-only"),
        ("'use strict'; globalThis.task = 1", "TypeError: 'task' is read-only"),
        ("'use strict'; delete globalThis.task", "TypeError: could not delete property"),
        ("Object.defineProperty(globalThis, 'task', { value: 1 })", "TypeError: property is not configurable"),
        ("'use strict'; task.call = 1", "TypeError: object is not extensible"),
        ("Object.setPrototypeOf(task, {}); 0", "TypeError: object is not extensible"),
    ] {
        assert_eq!(world.run(&mut session, attempt).failure().to_string(), error, "{attempt}");
        assert_eq!(world.run(&mut session, "await task({ of: 'x' })").value(), text("x"), "after {attempt}");
    }
    for declaration in ["let task = 1", "const task = 1", "class task {}"] {
        assert!(!world.run(&mut session, declaration).failure().message.is_empty(), "{declaration}");
        assert_eq!(world.run(&mut session, "await task({ of: 'x' })").value(), text("x"), "after {declaration}");
    }
}

#[test]
fn a_set_without_it_takes_it_away_and_one_with_it_brings_it_back() {
    let world = World::new();
    let mut session = ENGINE.session(&tools(&world)).unwrap();
    let keep = "globalThis.kept = () => task({ of: 'late' }); await kept()";
    assert_eq!(world.run(&mut session, keep).value(), text("late"));
    session.set_capabilities(&Capabilities::new([world.echo()]).unwrap());
    assert_eq!(world.run(&mut session, "typeof task").value(), text("undefined"));
    assert_eq!(world.run(&mut session, "let task = 'mine'; task").value(), text("mine"));
    session.set_capabilities(&tools(&world));
    assert_eq!(world.run(&mut session, "await kept()").value(), text("late"));
}

#[test]
fn a_name_that_means_something_is_refused() {
    let refusal = |name: &str| {
        let error = Capabilities::new([Capability::external(name).global()]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Capability);
        error.to_string()
    };
    for name in ["Array", "eval", "delete", "reveal", "tools", "a-b", "a.b", "undefined", "await", "globalThis", "Math"]
    {
        let expected =
            format!("tool name {name:?} cannot be a global function: it is no identifier, or means something else");
        assert_eq!(refusal(name), expected);
    }
}

/// So that none of the language's own can be taken from programs.
#[test]
fn every_global_of_a_fresh_session_is_refused() {
    let world = World::new();
    let mut session = ENGINE.session(&Capabilities::none()).unwrap();
    let value = world.run(&mut session, "Object.getOwnPropertyNames(globalThis)").value();
    let names: Vec<&str> = value.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(names.len() > 60, "{names:?}");
    for name in names {
        assert!(Capabilities::new([Capability::external(name).global()]).is_err(), "{name} can be taken");
    }
}

#[test]
fn plans_know_it() {
    let world = World::new();
    let tools = tools(&world);
    let plan = |source: &str| Plan::of(source, &tools).unwrap();
    let called = plan("await task({ of: 1 })");
    assert_eq!((called.is_complete(), called.tools[0].path.as_str()), (true, "task"));
    assert_eq!(called.tools[0].usage, PlanUsage::Called);
    assert!(plan("const f = globalThis.task; f()").reaches("task"));
    assert!(plan("var task = 1; task").reaches("task"), "a var does not replace it");
    assert!(!plan("function f(task) { return task } f(1)").reaches("task"));
    assert!(!plan("tools.echo({})").reaches("task"));
}

#[test]
fn the_catalogue_declares_it_as_a_function() {
    let world = World::new();
    let catalogue = Capabilities::new([task(), world.echo()]).unwrap();
    assert_eq!(catalogue.catalogue().expression("task").as_deref(), Some("task"));
    let declared = catalogue.catalogue().text(&CatalogueBudget::default());
    let first = "/** Does it. */\ndeclare function task(input?: unknown): Promise<unknown>;\ndeclare const tools: {\n";
    assert!(declared.starts_with(first), "{declared}");
    let alone = Capabilities::new([task()]).unwrap().catalogue().text(&CatalogueBudget::default());
    assert_eq!(alone, "/** Does it. */\ndeclare function task(input?: unknown): Promise<unknown>;\n");
}

#[test]
fn limits_and_handles_are_those_of_any_tool() {
    let world = World::new();
    let mut limits = Limits::default();
    limits.calls = 1;
    let engine: Engine = builder().limits(limits).pool_slots(0).build().unwrap();
    let tools = Capabilities::new([task().delivery(Delivery::Handle)]).unwrap();
    let mut session = engine.session(&tools).unwrap();
    let run = "const h = await task({ of: 7 }); try { await task({}) } catch (error) { error.name }";
    assert_eq!(world.run(&mut session, run).value(), text("CallBudgetExceeded"));
}
