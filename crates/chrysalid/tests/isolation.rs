//! Sessions of one engine share nothing, and memory of a slot is zeroed before another session has it.

use std::sync::LazyLock;

use chrysalid::{Capabilities, Engine, Modules, Random, Session, SessionOptions, Step, Value};

use crate::support::{World, begin, builder, eval, fresh_engine, run, text, with_limits};

use crate::script::{FINISH, OUT, OUT_LENGTH, OUTCOME, PUMP, START, bytes, grow, repeat, source, spin, trap, write};

#[test]
fn sessions_of_one_engine_share_nothing() {
    let engine = fresh_engine();
    let modules =
        Modules::fixed([("state", "export const list = []; globalThis.loads = (globalThis.loads ?? 0) + 1;")]);
    let options = || {
        let mut options = SessionOptions::default();
        options.modules = modules.clone();
        options
    };
    let none = Capabilities::none();
    let open = || engine.session_with(&none, options()).unwrap();
    let (mut one, mut two) = (open(), open());
    let change = "import { list } from 'state';
        list.push('mine');
        globalThis.secret = 's1';
        let lexical = 1;
        Object.prototype.p = 1; Array.prototype.map = () => 'mapped'; Math.random = () => 4;
        Symbol.for('shared').description; Symbol.for('shared').mark;
        globalThis.sym = Symbol.for('shared');
        RegExp.prototype.exec.call(/(x)/, 'x');
        Error.stackTraceLimit = 0; Error.prepareStackTrace = () => 'prepared';
        console.count('c'); console.group('g');
        String.prototype.at = null; Promise.prototype.then = null; delete globalThis.URL;
        loads";
    // Twice, so that a second session is looked at before and after.
    for _ in 0..2 {
        assert_eq!(eval(&mut one, change), Value::from(1));
        let look = "import { list } from 'state';
            console.count('c');
            [typeof secret, typeof lexical, ({}).p, [1].map(x => x + 1), Math.random() < 1, list.length, loads, typeof URL, typeof ''.at, typeof Promise.prototype.then, typeof new Error('x').stack, RegExp.$1 ?? 'none']";
        let ended = run(&mut two, look);
        assert_eq!(ended.logs[0].text.split(':').next().unwrap(), "c");
        let expected = "[ 'undefined', 'undefined', undefined, [ 2 ], true, 0, 1, 'function', 'function', 'function', 'string', 'none' ]";
        let shown = ended.result.unwrap().to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(shown, expected);
    }
}

#[test]
fn sessions_of_one_engine_draw_other_numbers() {
    let engine = fresh_engine();
    let draw = "[Math.random(), crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(16))].join()].join()";
    let mut drawn: Vec<String> = (0..20)
        .map(|_| eval(&mut engine.session(&Capabilities::none()).unwrap(), draw).as_str().unwrap().to_owned())
        .collect();
    drawn.sort();
    drawn.dedup();
    assert_eq!(drawn.len(), 20);
    // The same seed is the same numbers, however many sessions draw beside it.
    let seeded = || {
        let mut options = SessionOptions::default();
        options.random = Random::Seed(5);
        engine.session_with(&Capabilities::none(), options).unwrap()
    };
    let (mut one, mut two) = (seeded(), seeded());
    let first = eval(&mut one, draw);
    eval(&mut one, draw);
    assert_eq!(eval(&mut two, draw), first);
}

// ---- slots ----

/// Most of a session's memory, filled or looked at by a guest that reaches all of it.
const PAGES: u32 = 480;
const FILLED: u32 = PAGES * 65536;

/// A guest that does what its programs say, in an engine of one slot.
static ONE_SLOT: LazyLock<Engine> = LazyLock::new(|| {
    let guest = wat::parse_str(crate::script::WAT).unwrap();
    builder().no_cache().pool_slots(1).guest(guest).build().unwrap()
});

fn in_the_slot() -> Session {
    let options = with_limits(|limits| {
        limits.memory = 64 << 20;
        limits.result_size = 48 << 20;
        limits.cpu_time = std::time::Duration::from_millis(300);
    });
    ONE_SLOT.session_with(&Capabilities::none(), options).unwrap()
}

fn fill() -> Vec<crate::script::Act> {
    [grow(START, PAGES, 1), repeat(START, crate::script::END, 0x5ec2_e7a1, FILLED / 4)].concat()
}

/// All bytes that a session finds behind those of the image, as the host sees them.
fn found() -> Vec<u8> {
    // Length in sevens of bits, so that six bytes before it make a value of the memory behind them.
    let length: Vec<u8> = (0..4)
        .map(|part| u8::try_from(FILLED >> (7 * part) & 0x7f).unwrap() | if part < 3 { 0x80 } else { 0 })
        .collect();
    let header = [vec![0x08], length].concat();
    let at = crate::script::END - 5;
    let acts = [
        grow(START, PAGES, 1),
        bytes(OUTCOME, at, &header),
        write(OUTCOME, OUT, at),
        write(OUTCOME, OUT_LENGTH, 5 + FILLED),
    ];
    let value = eval(&mut in_the_slot(), &source(&acts.concat()));
    let Value::ArrayBuffer(found) = &value else { panic!("{}", value.kind_name()) };
    found.clone()
}

#[test]
fn memory_of_a_slot_is_zeroed_for_the_next_session() {
    type End = (&'static str, fn());
    let ends: [End; 4] = [
        ("ended", || drop(run(&mut in_the_slot(), &source(&fill())))),
        ("dropped in the middle of a job", || {
            let mut session = in_the_slot();
            session.start(&source(&[fill(), spin(PUMP)].concat())).unwrap();
            while !matches!(session.step(begin()).unwrap(), Step::Busy) {}
        }),
        ("trapped", || {
            let mut session = in_the_slot();
            let ended = run(&mut session, &source(&[fill(), trap(PUMP)].concat()));
            assert_eq!(ended.heap, chrysalid::Heap::Reset);
        }),
        ("trapped in its last entry", || {
            drop(run(&mut in_the_slot(), &source(&[fill(), trap(FINISH)].concat())));
        }),
    ];
    for (name, end) in ends {
        // The marker is there for as long as the session is.
        let mut session = in_the_slot();
        eval(&mut session, &source(&fill()));
        drop(session);
        end();
        let found = found();
        assert_eq!(found.len(), FILLED as usize);
        assert_eq!(found.iter().position(|byte| *byte != 0), None, "{name}");
    }
}

#[test]
fn a_program_finds_nothing_of_another_session_in_its_slot() {
    let engine = builder().pool_slots(1).build().unwrap();
    let world = World::new();
    let tools = world.tools();
    let fill = "const all = []; for (let i = 0; i < 32; i++) all.push(new Uint8Array(1 << 20).fill(0xa7)); const t = 'MARKER-'.repeat(100000); ";
    let look = "const looks = [];
        for (let i = 0; i < 24; i++) {
            const b = new Uint8Array(1 << 20); looks.push(b.every(x => x === 0));
            looks.push(new Float64Array(1 << 10).every(x => x === 0));
        }
        const grown = new ArrayBuffer(8, { maxByteLength: 1 << 20 }); grown.resize(1 << 20);
        looks.push(new Uint8Array(grown).every(x => x === 0));
        const holes = new Array(100000); looks.push(holes[500] === undefined, holes.findLast(x => x !== undefined) === undefined);
        looks.every(x => x === true)";
    for end in ["1", "new Array(1e9).join()", "for (;;) {}", "await tools.gate({ q: 1 })"] {
        let options = with_limits(|limits| limits.cpu_time = std::time::Duration::from_millis(400));
        let mut session = engine.session_with(&tools, options).unwrap();
        session.start(&format!("{fill}{end}")).unwrap();
        // Dropped wherever its first steps came to.
        for _ in 0..20 {
            if !matches!(session.step(begin()).unwrap(), Step::Busy) {
                break;
            }
        }
        drop(session);
        let mut next = engine.session(&tools).unwrap();
        assert_eq!(world.run(&mut next, look).value(), Value::from(true), "after {end}");
        let image = next.snapshot().unwrap();
        assert!(image.len() < 200_000, "{} bytes after {end}", image.len());
    }
}

#[test]
fn tools_and_their_answers_are_those_of_the_session() {
    let engine = fresh_engine();
    let (one, two) = (World::new(), World::new());
    let mut first = engine.session(&one.tools()).unwrap();
    let mut second = engine.session(&two.tools()).unwrap();
    one.run(&mut first, "await tools.gate({ q: 1 }); await tools.pay({ amount: 1 }); 'first'").waits();
    two.run(&mut second, "await tools.gate({ q: 2 }); await tools.pay({ amount: 2 }); 'second'").waits();
    let asked = first.pending()[0].id;
    assert_eq!(two.decide(&mut second, "1.1", chrysalid::Decision::Approve).value(), text("second"));
    assert_eq!((one.paid(), two.paid()), (vec![], vec![2.0]));
    assert_eq!(first.pending()[0].id, asked);
    assert_eq!(one.decide(&mut first, "1.1", chrysalid::Decision::Approve).value(), text("first"));
    assert_eq!((one.paid(), two.paid()), (vec![1.0], vec![2.0]));
}
