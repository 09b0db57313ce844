//! Chains: snapshots that hold what changed since the one before, and what is refused of them.

use std::time::Duration;

use chrysalid::{
    Capabilities, Decision, Effects, Engine, ErrorKind, FailureKind, Heap, Key, Restore, Session, SessionOptions,
    Value, fuzzing, image_id,
};

use crate::support::{ENGINE, World, builder, eval, fresh_engine, key, run, text, with_limits};

fn chained(most: u32) -> SessionOptions {
    let mut options = SessionOptions::default();
    options.chain = most;
    options
}

fn session(most: u32) -> Session {
    ENGINE.session_with(&Capabilities::none(), chained(most)).unwrap()
}

/// A heap large enough that a link is smaller than a full image, and some turns of it, each with its image.
fn turns(session: &mut Session, turns: std::ops::Range<u32>) -> Vec<Vec<u8>> {
    if turns.start == 0 {
        eval(session, "globalThis.rows = Array.from({ length: 2000 }, (_, i) => ({ i, name: 'row ' + i })); 0");
    }
    turns
        .map(|turn| {
            eval(session, &format!("globalThis.turn{turn} = 'turn ' + {turn}; rows[{turn}].seen = true; 0"));
            session.snapshot().unwrap()
        })
        .collect()
}

fn restore(images: &[Vec<u8>]) -> chrysalid::Result<Session> {
    restore_with(&ENGINE, images, chained(0))
}

fn restore_with(engine: &Engine, images: &[Vec<u8>], options: SessionOptions) -> chrysalid::Result<Session> {
    let images: Vec<&[u8]> = images.iter().map(Vec::as_slice).collect();
    engine.restore_chain_with(&images, &Capabilities::none(), Restore::Resume, options)
}

#[track_caller]
fn refused(images: &[Vec<u8>]) -> (ErrorKind, String) {
    let error = restore(images).unwrap_err();
    (error.kind(), error.to_string())
}

#[track_caller]
fn links(images: &[Vec<u8>]) -> Vec<u32> {
    images.iter().map(|image| ENGINE.inspect(image).unwrap().links).collect()
}

fn hex(id: [u8; 32]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

fn id(image: &[u8]) -> String {
    hex(image_id(image).unwrap())
}

// ---- writing ----

#[test]
fn links_follow_up_to_the_bound_and_then_a_full_image() {
    let images = turns(&mut session(3), 0..9);
    assert_eq!(links(&images), [0, 1, 2, 3, 0, 1, 2, 3, 0]);
    for pair in images.windows(2) {
        let link = ENGINE.inspect(&pair[1]).unwrap();
        assert_eq!(link.follows, (link.links > 0).then(|| image_id(&pair[0]).unwrap()));
        assert!(link.links == 0 || link.size * 4 < images[0].len(), "{} and {}", link.size, images[0].len());
    }
    // Any of them, with what comes before it.
    for (at, from) in [(0, 0), (2, 0), (3, 0), (4, 4), (7, 4), (8, 8)] {
        let mut session = restore(&images[from..=at]).unwrap();
        let seen = eval(&mut session, "[rows.filter(row => row.seen).length, Object.keys(globalThis).at(-1)].join()");
        assert_eq!(seen, text(&format!("{},turn{at}", at + 1)));
    }
}

#[test]
fn without_the_option_each_image_is_full() {
    assert_eq!(links(&turns(&mut session(0), 0..4)), [0; 4]);
    let images = turns(&mut session(5), 0..3);
    let mut session = restore(&images).unwrap();
    assert_eq!(links(&turns(&mut session, 3..5)), [0, 0], "what restores a chain need not go on with it");
}

#[test]
fn a_chain_has_a_bound() {
    let error = ENGINE.session_with(&Capabilities::none(), chained(65)).unwrap_err();
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::Config, "chain of 65 links is more than 64".into()));
    let images = turns(&mut session(64), 0..66);
    assert_eq!(links(&images), (0..65).chain([0]).collect::<Vec<_>>());
    let mut session = restore(&images[..65]).unwrap();
    assert_eq!(eval(&mut session, "[turn0, turn64].join()"), text("turn 0,turn 64"));
    let (kind, message) = refused(&images);
    assert_eq!((kind, message.as_str()), (ErrorKind::BrokenChain, "a chain of 66 images is over 65"));
}

#[test]
fn a_restored_session_goes_on_with_its_chain() {
    let mut images = turns(&mut session(8), 0..3);
    for turn in 3..7 {
        let mut session = restore_with(&fresh_engine(), &images, chained(8)).unwrap();
        images.extend(turns(&mut session, turn..turn + 1));
    }
    assert_eq!(links(&images), [0, 1, 2, 3, 4, 5, 6]);
    let mut session = restore(&images).unwrap();
    assert_eq!(eval(&mut session, "rows.filter(row => row.seen).length"), Value::from(7));
    // A shorter bound ends it.
    let mut session = restore_with(&ENGINE, &images, chained(6)).unwrap();
    assert_eq!(links(&turns(&mut session, 7..9)), [0, 1]);
}

#[test]
fn an_image_that_was_not_kept_ends_the_chain() {
    let mut session = session(8);
    let mut images = turns(&mut session, 0..2);
    turns(&mut session, 2..3);
    session.end_chain();
    images.extend(turns(&mut session, 3..5));
    assert_eq!(links(&images), [0, 1, 0, 1]);
    assert_eq!(eval(&mut restore(&images[2..]).unwrap(), "turn2"), text("turn 2"));
}

#[test]
fn an_image_that_is_too_large_is_no_part_of_the_chain() {
    let mut options = with_limits(|limits| limits.snapshot_size = Some(60_000));
    options.chain = 8;
    let mut session = ENGINE.session_with(&Capabilities::none(), options).unwrap();
    let mut images = turns(&mut session, 0..2);
    eval(&mut session, "globalThis.noise = crypto.getRandomValues(new Uint8Array(65536)); 0");
    assert_eq!(session.snapshot().map(|image| image.len()).map_err(|error| error.kind()), Err(ErrorKind::TooLarge));
    eval(&mut session, "noise = undefined; 0");
    images.extend(turns(&mut session, 2..3));
    assert_eq!(links(&images), [0, 1, 2]);
    assert_eq!(eval(&mut restore(&images).unwrap(), "[turn2, typeof noise].join()"), text("turn 2,undefined"));
}

#[test]
fn a_heap_that_changes_altogether_costs_no_more_than_a_full_image() {
    let mut session = session(8);
    let mut images = turns(&mut session, 0..2);
    for _ in 0..2 {
        eval(&mut session, "globalThis.noise = crypto.getRandomValues(new Uint8Array(65536)); 0");
        images.push(session.snapshot().unwrap());
    }
    eval(&mut session, "delete globalThis.noise; delete globalThis.rows; 0");
    images.push(session.snapshot().unwrap());
    let sizes: Vec<_> = images.iter().map(Vec::len).collect();
    // Noise in the place of noise is told once and not as a difference, and what was freed costs next to nothing.
    assert!(sizes[2] > 65_536 && sizes[3] < 80_000 && sizes[4] < 10_000, "{sizes:?}");
    let from = images.iter().rposition(|image| ENGINE.inspect(image).unwrap().links == 0).unwrap();
    let mut session = restore(&images[from..]).unwrap();
    assert_eq!(eval(&mut session, "[typeof noise, typeof rows, turn1].join()"), text("undefined,undefined,turn 1"));
}

#[test]
fn memory_that_is_shorter_than_the_last_images_gets_a_full_image() {
    let world = World::new();
    let mut options = with_limits(|limits| limits.cpu_time = Duration::from_millis(300));
    options.chain = 8;
    let mut session = ENGINE.session_with(&world.tools(), options).unwrap();
    let mut images = turns(&mut session, 0..2);
    // The image of the pause holds the heap that has grown; the failure takes it back to before the program.
    let source = "globalThis.big = new Uint8Array(16 << 20).fill(1); await tools.gate({ q: 1 }); new Array(1e9).join()";
    world.run(&mut session, source).waits();
    images.push(session.snapshot().unwrap());
    let ended = world.decide(&mut session, "4.1", Decision::Approve).ended();
    assert_eq!((ended.result.unwrap_err().kind, ended.heap), (FailureKind::Timeout, Heap::Reset));
    images.extend(turns(&mut session, 2..4));
    let memory: Vec<_> = images.iter().map(|image| ENGINE.inspect(image).unwrap().memory).collect();
    assert!(memory[2] > memory[0] + (8 << 20) && memory[3] == memory[0], "{memory:?}");
    assert_eq!(links(&images), [0, 1, 2, 0, 1]);
    let mut session = restore(&images[3..]).unwrap();
    assert_eq!(eval(&mut session, "[turn0, turn3, typeof big].join()"), text("turn 0,turn 3,undefined"));
}

#[test]
fn deep_programs_and_checkpoints_go_on_as_without() {
    let mut session = session(8);
    let mut images = turns(&mut session, 0..2);
    eval(&mut session, "function down(k) { return k ? down(k - 1) + 1 : 0 } down(1000)");
    images.extend(turns(&mut session, 2..4));
    assert_eq!(links(&images), [0, 1, 2, 3]);
    // Back to the copy from before the program, which is that of the last image.
    let failure = run(&mut session, "globalThis.gone = 1; const a = []; for (;;) a.push(new Uint8Array(1 << 16))");
    assert!(failure.result.is_err());
    images.extend(turns(&mut session, 4..5));
    let from = images.iter().rposition(|image| ENGINE.inspect(image).unwrap().links == 0).unwrap();
    let mut session = restore(&images[from..]).unwrap();
    assert_eq!(eval(&mut session, "[down(2), turn1, turn4].join()"), text("2,turn 1,turn 4"));
}

#[test]
fn a_pause_is_a_link_as_well_and_its_state_is_the_last_images() {
    let world = World::new();
    let mut session = ENGINE.session_with(&world.tools(), chained(8)).unwrap();
    world.run(&mut session, "globalThis.kept = Array.from({ length: 3000 }, (_, i) => 'item ' + i); 0").value();
    let mut images = vec![session.snapshot().unwrap()];
    world.run(&mut session, "(await tools.gate({ q: 1 })) + kept.length").waits();
    images.push(session.snapshot().unwrap());
    assert_eq!(links(&images), [0, 1]);
    let [full, link] = [&images[0], &images[1]].map(Vec::as_slice);
    assert!(!ENGINE.inspect(full).unwrap().sealed.unwrap().paused);
    assert!(ENGINE.inspect(link).unwrap().sealed.unwrap().paused);
    let mut session = fresh_engine().restore_chain(&[full, link], &world.tools(), Restore::Resume).unwrap();
    assert_eq!(world.decide(&mut session, "2.1", Decision::Approve).value(), text("yes3000"));
}

// ---- every way gives the same memory ----

#[test]
fn pages_of_the_kernel_by_comparing_and_of_a_chain_restore_to_the_same_memory() {
    let mut session = session(16);
    let mut chain = Vec::new();
    let programs = [
        "globalThis.rows = Array.from({ length: 2000 }, (_, i) => ({ i, name: 'row ' + i })); 0",
        "rows.splice(500, 1000); globalThis.text = 'long '.repeat(50000); 0",
        "delete globalThis.text; globalThis.bytes = new Uint8Array(1 << 20).map((_, i) => i); 0",
        "function down(k) { return k ? down(k - 1) + 1 : 0 } down(900)",
        "bytes = null; rows.length = 10; 0",
    ];
    for (number, program) in programs.into_iter().enumerate() {
        eval(&mut session, program);
        let image = session.snapshot().unwrap();
        let live = fuzzing::memory(&mut session);
        chain.push(image);
        let from = chain.iter().rposition(|image| ENGINE.inspect(image).unwrap().links == 0).unwrap();

        let mut chained = restore_with(&ENGINE, &chain[from..], self::chained(16)).unwrap();
        assert!(fuzzing::memory(&mut chained) == live, "chain, program {number}");
        let mut other = restore(&chain[from..]).unwrap();
        let by_kernel = other.snapshot().unwrap();
        let by_comparing = fuzzing::comparing_pages(|| other.snapshot().unwrap());
        for image in [by_kernel, by_comparing] {
            assert_eq!(ENGINE.inspect(&image).unwrap().links, 0);
            assert!(fuzzing::memory(&mut restore(&[image]).unwrap()) == live, "full, program {number}");
        }
        if number % 2 == 1 {
            session = chained;
        }
    }
    assert!(links(&chain).iter().any(|links| *links > 1), "{:?}", links(&chain));
}

#[test]
fn links_of_pages_that_were_compared_are_the_same() {
    let mut session = session(16);
    let images = fuzzing::comparing_pages(|| turns(&mut session, 0..4));
    assert_eq!(links(&images), [0, 1, 2, 3]);
    let live = fuzzing::memory(&mut session);
    assert!(fuzzing::memory(&mut restore(&images).unwrap()) == live);
    let mut restored = fuzzing::comparing_pages(|| restore_with(&ENGINE, &images, chained(16)).unwrap());
    // And the other way from there.
    let more = turns(&mut restored, 4..6);
    assert_eq!(links(&more), [4, 5]);
    let live = fuzzing::memory(&mut restored);
    assert!(fuzzing::memory(&mut restore(&[images, more].concat()).unwrap()) == live);
}

// ---- what is refused ----

#[test]
fn a_link_alone_names_the_image_that_it_needs() {
    let images = turns(&mut session(8), 0..3);
    let link = &images[1];
    let wanted = format!("snapshot is a link that needs the image {} before it", id(&images[0]));
    assert_eq!(refused(&images[1..2]), (ErrorKind::BrokenChain, wanted.clone()));
    let error = ENGINE.restore(link, &Capabilities::none(), Restore::Resume).unwrap_err();
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::BrokenChain, wanted.clone()));
    assert_eq!(refused(&images[1..]), (ErrorKind::BrokenChain, format!("image 1 of 2: {wanted}")));
    assert_eq!(refused(&[]), (ErrorKind::BrokenChain, "a chain of no images".into()));
}

#[test]
fn links_that_are_missing_doubled_or_out_of_order() {
    let images = turns(&mut session(8), 0..5);
    let pick = |places: &[usize]| places.iter().map(|at| images[*at].clone()).collect::<Vec<_>>();
    let wants = |at: usize, of: usize, wanted: usize, given: usize| {
        let (wanted, given) = (id(&images[wanted]), id(&images[given]));
        format!("image {at} of {of}: snapshot is a link that needs the image {wanted} before it, not {given}")
    };
    for (places, message) in [
        (&[0, 2][..], wants(2, 2, 1, 0)),
        (&[0, 1, 3], wants(3, 3, 2, 1)),
        (&[0, 2, 1], wants(2, 3, 1, 0)),
        (&[0, 1, 1], wants(3, 3, 0, 1)),
        (&[0, 1, 2, 4, 3], wants(4, 5, 3, 2)),
    ] {
        assert_eq!(refused(&pick(places)), (ErrorKind::BrokenChain, message), "{places:?}");
    }
    let full = "image 2 of 2: snapshot is a full image, which only begins a chain";
    assert_eq!(refused(&pick(&[0, 0])), (ErrorKind::BrokenChain, full.into()));
    assert!(restore(&pick(&[0, 1, 2, 3, 4])).is_ok());
}

#[test]
fn a_link_of_another_session_or_of_another_branch() {
    let mut one = session(8);
    let images = turns(&mut one, 0..2);
    let others = turns(&mut session(8), 0..2);
    let mixed = [images[0].clone(), others[1].clone()];
    let (wanted, given) = (id(&others[0]), id(&images[0]));
    let message = format!("image 2 of 2: snapshot is a link that needs the image {wanted} before it, not {given}");
    assert_eq!(refused(&mixed), (ErrorKind::BrokenChain, message));
    // The same session, saved twice at one place and gone on from both.
    let again = one.snapshot().unwrap();
    let more = turns(&mut one, 2..3);
    assert_eq!(links(&[again.clone(), more[0].clone()]), [2, 3]);
    assert_eq!(refused(&[images.clone(), more.clone()].concat()).0, ErrorKind::BrokenChain);
    assert!(restore(&[images, vec![again], more].concat()).is_ok());
}

#[test]
fn a_fork_begins_with_an_image_of_its_own() {
    let images = turns(&mut session(8), 0..2);
    let refs: Vec<&[u8]> = images.iter().map(Vec::as_slice).collect();
    let mut fork = ENGINE.restore_chain_with(&refs, &Capabilities::none(), Restore::Fork, chained(8)).unwrap();
    let forked = turns(&mut fork, 2..4);
    assert_eq!(links(&forked), [0, 1]);
    assert!(restore(&forked).is_ok());
    // A link of the original on top of the fork's image, and the other way around.
    let mut original = restore_with(&ENGINE, &images, chained(8)).unwrap();
    let link = turns(&mut original, 2..3);
    for chain in
        [[&forked[..1], &link[..]].concat(), [&images[..], &forked[1..]].concat(), [&forked[..], &link[..]].concat()]
    {
        assert_eq!(refused(&chain).0, ErrorKind::BrokenChain);
    }
}

#[test]
fn changed_and_cut_links() {
    let images = turns(&mut session(8), 0..3);
    for at in 0..3 {
        let mut chain = images.clone();
        let length = chain[at].len();
        for cut in (0..length).step_by(97) {
            chain[at].truncate(length - 1 - cut);
            let (kind, message) = refused(&chain);
            let expected = if chain[at].len() < 130 { ErrorKind::NotASnapshot } else { ErrorKind::Corrupt };
            assert_eq!(kind, expected, "{message}");
            assert!(message.starts_with(&format!("image {} of 3: ", at + 1)), "{message}");
        }
        for byte in (0..140).step_by(3).chain((140..length).step_by(501)).chain(length - 16..length) {
            let mut chain = images.clone();
            chain[at][byte] ^= 0x10;
            let kind = refused(&chain).0;
            let expected = match byte {
                0..8 => ErrorKind::NotASnapshot,
                8..10 => ErrorKind::OtherVersion,
                // The id of an image covers its head and its tag.
                10..62 | 74..130 => kind,
                62..74 => ErrorKind::Corrupt,
                _ if byte >= length - 16 && at < 2 => ErrorKind::BrokenChain,
                _ => ErrorKind::BadSeal,
            };
            assert_eq!(kind, expected, "byte {byte} of image {at}");
            assert!(kind != ErrorKind::Internal);
        }
    }
}

#[test]
fn an_older_key_still_opens_the_images_that_it_sealed() {
    let images = turns(&mut session(8), 0..2);
    let rotated = Engine::builder().pool_slots(0).key(Key::from_bytes([8; 32])).old_key(key()).build().unwrap();
    let mut session = restore_with(&rotated, &images, chained(8)).unwrap();
    let more = turns(&mut session, 2..3);
    let chain = [images, more].concat();
    assert!(restore_with(&rotated, &chain, chained(0)).is_ok());
    let error =
        restore_with(&builder().key(Key::from_bytes([8; 32])).build().unwrap(), &chain, chained(0)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownKey);
}

#[test]
fn an_older_image_of_a_chain_lowers_nothing() {
    // What was met and used is the last header's: nothing of it is in those before.
    let world = World::new();
    let read = world.echo().effects(Effects::UNTRUSTED);
    let tools = Capabilities::new([read]).unwrap();
    let mut session = ENGINE.session_with(&tools, chained(8)).unwrap();
    world.run(&mut session, "globalThis.rows = Array.from({ length: 3000 }, (_, i) => 'row ' + i); 0").value();
    let mut images = vec![session.snapshot().unwrap()];
    world.run(&mut session, "await tools.echo({ v: 1 })").value();
    images.push(session.snapshot().unwrap());
    assert_eq!(links(&images), [0, 1]);
    let refs: Vec<&[u8]> = images.iter().map(Vec::as_slice).collect();
    let restored = fresh_engine().restore_chain(&refs, &tools, Restore::Resume).unwrap();
    assert_eq!(restored.taint(), session.taint());
    assert_eq!(restored.calls(), session.calls());
    assert!(!crate::support::met(&restored).is_empty());
}
