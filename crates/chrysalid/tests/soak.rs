//! Honest and hostile programs side by side, for long, in a process of its own: what they use comes back. For 20 seconds
//! among the other tests, for 15 minutes with `cargo xtask test --long`.
//!
//! Time is cut into rounds. At the end of each all threads and sessions are gone, so what is still there is either needed
//! by the engine or lost. The first rounds warm up.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use chrysalid::{Decision, Engine, Failure, FailureKind, Heap, Restore, Session, SessionOptions};
use serde::{Deserialize, Serialize};

use crate::measure::{resident, threads};
use crate::support::{Halt, World, builder, eval, fresh_engine, text, with_limits};
use crate::worker::in_fresh_process_with;

const ROUNDS: u32 = 10;
const WARM_UP: usize = 2;
const THREADS: usize = 2;

/// What the process holds at the end of a round.
#[derive(Debug, Serialize, Deserialize)]
struct Level {
    /// In bytes.
    resident: u64,
    threads: u64,
    files: usize,
}

/// What happened, each by its name.
/// Otherwise glibc keeps freed blocks of up to 32 MiB, more of them the longer it runs.
const RETURNED: [(&str, &str); 2] = [("MALLOC_MMAP_THRESHOLD_", "131072"), ("MALLOC_TRIM_THRESHOLD_", "131072")];

type Counts = BTreeMap<String, usize>;

#[test]
fn what_programs_use_comes_back() {
    let long = std::env::var_os("CHRYSALID_LONG_TESTS").is_some();
    let (seconds, least) = if long { (900_u64, 5_000) } else { (20, 150) };
    let output = in_fresh_process_with("soak", &seconds.to_le_bytes(), &RETURNED);
    let (levels, counts): (Vec<Level>, Counts) = serde_json::from_slice(&output).unwrap();
    println!("{counts:#?}");
    for level in &levels {
        println!("{level:?}");
    }

    let (warm_up, rest) = levels.split_at(WARM_UP);
    let (before, after) = (warm_up.last().unwrap(), rest.last().unwrap());
    assert_eq!((after.threads, after.files), (before.threads, before.files), "{levels:?}");
    // A level goes up and down by what is alive; what is lost is in all of them.
    let warm = warm_up.iter().map(|level| level.resident).max().unwrap();
    let end = rest[rest.len() - 3..].iter().map(|level| level.resident).min().unwrap();
    // Some seconds warm nothing up: there it is only a bound on what could be lost.
    let more = if long { warm / 10 } else { 16 << 20 };
    assert!(end <= warm + more, "{end} bytes at the end, {warm} after warming up: {levels:?}");

    assert!(counts["programs"] > least, "{counts:?}");
    let expected = [
        "approved",
        "attack",
        "cancelled",
        "deadlock",
        "exception",
        "heap Intact",
        "heap Reset",
        "invalid_input",
        "moved to a fresh engine",
        "out_of_memory",
        "programs",
        "rejected",
        "restored",
        "result_too_large",
        "sessions",
        "timeout",
        "value",
        "wall_timeout",
    ];
    let seen: Vec<&str> = counts.keys().map(String::as_str).filter(|name| *name != "trap").collect();
    assert_eq!(seen, expected);
}

/// The worker's job: `input` is how long, in seconds.
pub(crate) fn soak(input: &[u8]) -> Vec<u8> {
    let round = Duration::from_secs(u64::from_le_bytes(input.try_into().unwrap())) / ROUNDS;
    let soak = Soak {
        engine: builder().pool_slots(8).build().unwrap(),
        attacks: attacks(),
        next: AtomicUsize::new(0),
        counts: Mutex::default(),
    };
    let threads = level().threads;
    let levels: Vec<Level> = (0..ROUNDS)
        .map(|_| {
            let end = Instant::now() + round;
            std::thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        while Instant::now() < end {
                            soak.life();
                        }
                    });
                }
            });
            settled(threads)
        })
        .collect();
    serde_json::to_vec(&(levels, soak.counts.into_inner().unwrap())).unwrap()
}

/// The level once the threads of engines that are gone have ended, too. A thread that has ended may take a moment to close
/// what it had open.
fn settled(threads: u64) -> Level {
    let give_up = Instant::now() + Duration::from_secs(10);
    while level().threads > threads && Instant::now() < give_up {
        std::thread::yield_now();
    }
    let levels = std::iter::repeat_with(|| {
        std::thread::sleep(Duration::from_millis(20));
        level()
    });
    levels.take(10).min_by_key(|level| level.files).unwrap()
}

fn level() -> Level {
    let files = std::fs::read_dir("/proc/self/fd").unwrap().count();
    Level { resident: resident(), threads: threads(), files }
}

/// The programs with which the benchmark attacks a session.
fn attacks() -> Vec<&'static str> {
    let files = [
        include_str!("../../../bench/attacks/memory.js"),
        include_str!("../../../bench/attacks/cpu.js"),
        include_str!("../../../bench/attacks/stack.js"),
        include_str!("../../../bench/attacks/output.js"),
        include_str!("../../../bench/attacks/calls.js"),
    ];
    // Each begins with its name.
    let parts = files.iter().flat_map(|file| file.split("\n//# ").skip(1));
    parts.map(|part| part.split_once('\n').unwrap().1).collect()
}

/// Programs without a pause, and what each gives.
const HONEST: &[(&str, &str)] = &[
    ("let sum = 0; for (const v of [1, 2, 3]) sum += await tools.echo({ v }); sum", "6"),
    ("await Promise.all([tools.slow({ ms: 100, v: 1 }), tools.slow({ ms: 50, v: 2 })])", "[ 1, 2 ]"),
    ("try { await tools.fail({ msg: 'no' }) } catch (error) { error.message }", "'no'"),
    (
        "JSON.parse(JSON.stringify(Array.from({ length: 1000 }, (_, i) => ({ i })))).reduce((s, r) => s + r.i, 0)",
        "499500",
    ),
    ("console.log('a line'); await new Promise(resolve => setTimeout(resolve, 10)); 'later'", "'later'"),
    ("const words: string[] = 'b a c'.split(' '); words.sort().join('')", "'abc'"),
    ("(await tools.mirror({ list: [new Date(0), 1n, 'x'.repeat(1000)] })).list[2].length", "1000"),
];

const FAILING: &[(&str, FailureKind)] = &[
    ("throw new TypeError('not this way')", FailureKind::Exception),
    ("while (true);", FailureKind::Timeout),
    ("await tools.slow({ ms: 1e9, v: 1 })", FailureKind::WallTimeout),
    ("{ const all = []; for (;;) all.push(new ArrayBuffer(1 << 20)); }", FailureKind::OutOfMemory),
    ("await new Promise(() => {})", FailureKind::Deadlock),
    ("'x'.repeat(2 << 20)", FailureKind::ResultTooLarge),
    ("ls -la", FailureKind::InvalidInput),
    ("tools.slow({ ms: 10, v: 1 }); while (true);", FailureKind::Cancelled),
];

const BEFORE: &str = "globalThis.kept = { n: 41 }; const tool = argument => tools.mirror({ argument }); kept.n";

struct Soak {
    engine: Engine,
    attacks: Vec<&'static str>,
    next: AtomicUsize,
    counts: Mutex<Counts>,
}

impl Soak {
    fn count(&self, what: &str) {
        *self.counts.lock().unwrap().entry(what.to_owned()).or_default() += 1;
    }

    /// One session from its start to its end.
    fn life(&self) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let world = World::new();
        let mut session = self.engine.session_with(&world.tools(), options()).unwrap();
        self.count("sessions");
        assert_eq!(eval(&mut session, BEFORE).to_string(), "41");

        let (source, value) = HONEST[number % HONEST.len()];
        self.honest(&world, &mut session, source, value);
        session = self.asking(&world, session, number);
        let (source, kind) = FAILING[number % FAILING.len()];
        self.failing(&world, &mut session, source, kind);
        let (source, value) = HONEST[number / 3 % HONEST.len()];
        self.honest(&world, &mut session, source, value);
        assert_eq!(eval(&mut session, "kept.n").to_string(), "41");
        self.attack(&world, &mut session, self.attacks[number % self.attacks.len()]);
    }

    fn honest(&self, world: &World, session: &mut Session, source: &str, value: &str) {
        assert_eq!(world.run(session, source).value().to_string(), value, "{source}");
        self.count("programs");
        self.count("value");
    }

    /// A program that waits for a person: answered here, or behind a snapshot, now and then in a fresh engine.
    fn asking(&self, world: &World, mut session: Session, number: usize) -> Session {
        let source = "const rows = Array.from({ length: 500 }, (_, id) => ({ id }));
            let answer; try { answer = await tools.gate({ q: 'go on?' }) } catch (error) { answer = error.name }
            [rows.length, answer]";
        world.run(&mut session, source).waits();
        let pending = session.pending()[0].id.to_string();
        if number.is_multiple_of(2) {
            let bytes = session.snapshot().unwrap();
            drop(session);
            let fresh = number.is_multiple_of(16);
            let engine = if fresh { fresh_engine() } else { self.engine.clone() };
            session = engine.restore_with(&bytes, &world.tools(), Restore::Resume, options()).unwrap();
            self.count(if fresh { "moved to a fresh engine" } else { "restored" });
        }
        let (decision, name, answer) = match number % 3 {
            0 => (Decision::Reject(Some("not now".into())), "rejected", "[ 500, 'ToolRejected' ]"),
            1 => (Decision::Respond(text("later")), "approved", "[ 500, 'later' ]"),
            _ => (Decision::Approve, "approved", "[ 500, 'yes' ]"),
        };
        assert_eq!(world.decide(&mut session, &pending, decision).value().to_string(), answer);
        self.count("programs");
        self.count("value");
        self.count(name);
        session
    }

    fn failing(&self, world: &World, session: &mut Session, source: &str, kind: FailureKind) {
        if kind == FailureKind::Cancelled {
            session.interrupt_handle().interrupt();
        }
        let failure: Failure = world.run(session, source).failure();
        assert_eq!(failure.kind, kind, "{source}: {failure:?}");
        self.count("programs");
        self.count(kind.code());
    }

    /// Whatever it comes to, the host gets an answer, and the session is not lost.
    fn attack(&self, world: &World, session: &mut Session, source: &str) {
        match world.run(session, source) {
            Halt::Ended(ended) => {
                self.count(ended.result.as_ref().map_or_else(|failure| failure.kind.code(), |_| "value"));
                self.count(&format!("heap {:?}", ended.heap));
                assert_ne!(ended.heap, Heap::Lost, "{source}");
            }
            Halt::Paused(pause) => panic!("{source}: {pause:?}"),
        }
        self.count("programs");
        self.count("attack");
        assert!(session.is_idle() && !session.is_lost(), "{source}");
    }
}

/// Small, so that there are many.
fn options() -> SessionOptions {
    with_limits(|limits| {
        limits.memory = 16 << 20;
        limits.cpu_time = Duration::from_millis(50);
        limits.wall_time = Some(Duration::from_hours(1));
    })
}
