//! Cases of snapshots, each named by its id: what images take, on disk and in memory. Others are in `snapshots.rs` and
//! `tamper.rs`.

use chrysalid::{Capabilities, Decision, Engine, Restore, SessionOptions, Value};

use crate::measure::{best_of_three, forget_peak, peak, resident};
use crate::support::{ENGINE, World, builder, eval};
use crate::worker::in_fresh_process;

// ---- turns ----

/// The images of fifty turns, each with how many links it has.
fn fifty_turns(chain: u32) -> Vec<(Vec<u8>, u32)> {
    let mut options = SessionOptions::default();
    options.chain = chain;
    let mut session = ENGINE.session_with(&Capabilities::none(), options).unwrap();
    (0..50)
        .map(|turn| {
            let source = format!("globalThis[\"x\" + {turn}] = \"y\".repeat(10); {turn}");
            assert_eq!(eval(&mut session, &source), Value::from(turn));
            let image = session.snapshot().unwrap();
            let links = ENGINE.inspect(&image).unwrap().links;
            (image, links)
        })
        .collect()
}

/// What a turn needs: its image and those before it, back to a full one.
fn chain_of(images: &[(Vec<u8>, u32)], turn: usize) -> Vec<Vec<u8>> {
    let links = usize::try_from(images[turn].1).unwrap();
    images[turn - links..=turn].iter().map(|(image, _)| image.clone()).collect()
}

/// Runs in a process of its own: how many turns each chain knows of, and the last one's value.
pub(crate) fn old_turns(input: &[u8]) -> Vec<u8> {
    let chains: Vec<Vec<Vec<u8>>> = postcard::from_bytes(input).unwrap();
    let engine = builder().build().unwrap();
    let seen = chains.iter().map(|chain| {
        let images: Vec<&[u8]> = chain.iter().map(Vec::as_slice).collect();
        let mut session = engine.restore_chain(&images, &Capabilities::none(), Restore::Resume).unwrap();
        let source = "const turns = Object.keys(globalThis).filter(name => /^x[0-9]+$/.test(name));
            [turns.length, turns.at(-1), globalThis[turns.at(-1)]].join()";
        eval(&mut session, source).as_str().unwrap().to_owned()
    });
    seen.collect::<Vec<_>>().join("\n").into_bytes()
}

#[test]
fn s06_idle_turns_cost_almost_nothing() {
    let mut totals = Vec::new();
    for bound in [0, 16, 64] {
        let images = fifty_turns(bound);
        let total: usize = images.iter().map(|(image, _)| image.len()).sum();
        assert!(total <= images[0].0.len() + 50 * (16 << 10), "{total} bytes with {bound} links");
        totals.push(total);
        let turns = [0, 1, 15, 16, 17, 33, 49];
        let chains: Vec<_> = turns.iter().map(|turn| chain_of(&images, *turn)).collect();
        let output = in_fresh_process("old_turns", &postcard::to_allocvec(&chains).unwrap());
        let expected = turns.map(|turn| format!("{},x{turn},yyyyyyyyyy", turn + 1)).join("\n");
        assert_eq!(String::from_utf8(output).unwrap(), expected, "{bound} links");
    }
    assert!(totals[0] > totals[1] && totals[1] > totals[2], "{totals:?} bytes with none, 16 and 64 links");
}

// ---- memory of a resume ----

/// Runs in a process of its own, with the name of a file: a resume from it. How much the process had grown at most, and what
/// was left of that with the bytes gone, both from before the resume and in bytes.
pub(crate) fn resume(input: &[u8]) -> Vec<u8> {
    let world = World::new();
    let engine = builder().build().unwrap();
    warmed(&engine, &world);
    let before_bytes = resident();
    let bytes = std::fs::read(std::str::from_utf8(input).unwrap()).unwrap();
    forget_peak();
    let before = resident();
    let mut session = engine.restore(&bytes, &world.tools(), Restore::Resume).unwrap();
    drop(bytes);
    let value = world.decide(&mut session, "1.1", Decision::Approve).value();
    assert_eq!(value, Value::from(24 << 20));
    let (most, left) = (peak().saturating_sub(before), resident().saturating_sub(before_bytes));
    format!("{most} {left}").into_bytes()
}

/// All that an engine makes once is made.
fn warmed(engine: &Engine, world: &World) {
    let mut session = engine.session(&world.tools()).unwrap();
    world.run(&mut session, "await tools.gate({q: \"?\"}); 1").waits();
    let bytes = session.snapshot().unwrap();
    let mut session = engine.restore(&bytes, &world.tools(), Restore::Resume).unwrap();
    assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), Value::from(1));
}

/// Stores a program that waits, and resumes it in a process of its own: growth at most and in the end, and guest memory.
fn resumed(source: &str) -> (u64, u64, u64) {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, source).waits();
    let bytes = session.snapshot().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &bytes).unwrap();
    let output = String::from_utf8(in_fresh_process("resume", file.path().to_str().unwrap().as_bytes())).unwrap();
    let (most, left) = output.split_once(' ').unwrap();
    (most.parse().unwrap(), left.parse().unwrap(), ENGINE.inspect(&bytes).unwrap().memory)
}

#[test]
fn s16_resume_does_not_double_memory() {
    let source = "globalThis.keep = \"q\".repeat(24 << 20); await tools.gate({q: \"?\"}); keep.length";
    best_of_three(|| {
        let (most, left, memory) = resumed(source);
        assert!(memory > 24 << 20);
        (most * 10 <= memory * 13 && left * 10 <= memory * 11).then_some(()).ok_or((most, left, memory))
    });
    // Bytes that do not pack are as many as the heap: they are gone as well.
    let source = "globalThis.keep = crypto.getRandomValues(new Uint8Array(65536));
        globalThis.all = new Uint8Array(24 << 20);
        for (let at = 0; at < all.length; at += 65536) { crypto.getRandomValues(keep); all.set(keep, at) }
        await tools.gate({q: \"?\"}); all.length";
    best_of_three(|| {
        let (most, left, memory) = resumed(source);
        (left * 10 <= memory * 11).then_some(()).ok_or((most, left, memory))
    });
}
