//! Garbage that only a collection finds: it is not saved, and no program can tell.

use chrysalid::{Capabilities, Session, Value};

use crate::support::{BOTH, ENGINE, World, session, text};

/// Cycles of garbage, half a megabyte of text that hardly compresses.
const GARBAGE: &str = "
let seed = 1;
const noise = () => Array.from({ length: 64 }, () => (seed = (seed * 48271) % 2147483647).toString(36)).join('');
for (let i = 0; i < 1500; i++) { const one = { noise: noise() }; one.self = one }
";

fn tools(world: &World) -> Capabilities {
    Capabilities::new([world.gate()]).unwrap()
}

/// A session whose program waits at the gate.
fn waiting(world: &World, source: &str) -> Session {
    let mut session = ENGINE.session(&tools(world)).unwrap();
    session.start(source).unwrap();
    world.drive(&mut session).waits();
    session
}

#[test]
fn a_pause_saves_no_cycles_of_garbage() {
    let world = World::new();
    let kept = GARBAGE.replace("one.self = one", "one.self = one; all.push(one)");
    let kept = waiting(&world, &format!("const all = []; {kept}; await tools.gate({{}}); all.length"));
    let freed = waiting(&world, &format!("{GARBAGE}; await tools.gate({{}}); seed"));
    let [kept, freed] = [kept, freed].map(|mut session| session.snapshot().unwrap().len());
    assert!(kept > 300_000, "{kept} bytes with all of it");
    assert!(freed < 20_000, "{freed} bytes without the garbage");
}

#[test]
fn the_end_of_a_program_leaves_no_cycles_of_garbage() {
    let mut session = session();
    World::new().run(&mut session, &format!("globalThis.keep = 42; {{ {GARBAGE} }} 0"));
    let bytes = session.snapshot().unwrap().len();
    assert!(bytes < 20_000, "{bytes} bytes");
    assert_eq!(World::new().run(&mut session, "keep").value(), Value::from(42));
}

#[test]
fn a_weak_reference_does_not_tell_of_a_pause() {
    for way in BOTH {
        let world = World::new();
        let source = format!(
            "let weak; {{ const cycle = {{ n: 1 }}; cycle.self = cycle; weak = new WeakRef(cycle) }}
            await null; {GARBAGE}; const before = weak.deref()?.n; await tools.gate({{}});
            `${{before}} ${{weak.deref()?.n}}`"
        );
        let mut session = way.pass(waiting(&world, &source), &tools(&world));
        let call = session.pending()[0].id;
        session.decide(call, chrysalid::Decision::Approve).unwrap();
        let value = world.drive(&mut session).value();
        let told = value.as_str().unwrap();
        let (before, after) = told.split_once(' ').unwrap();
        assert_eq!(before, after, "{way:?}");
    }
}

#[test]
fn messages_of_any_length_come_through() {
    // The guest's small inbox holds 1,024 bytes.
    let mut session = session();
    for length in [0, 1, 2, 1022, 1023, 1024, 1025, 1026, 5000] {
        let source = format!("'{}'", "a".repeat(length));
        assert_eq!(World::new().run(&mut session, &source).value(), text(&"a".repeat(length)), "{length}");
    }
    assert_eq!(World::new().run(&mut session, "").value(), Value::Undefined);
}
