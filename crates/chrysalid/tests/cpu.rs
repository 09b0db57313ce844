//! CPU time: loops of each kind end at the limit, and never past 1.2 times of it. What polls ends with its heap sound; a
//! built-in that does not poll ends in a trap. Only the guest's time counts.

use std::time::Duration;

use crate::measure::{Whole, limited_to, stopped, trapped, within};
use crate::support::{eval, run, text};

/// What may be the way a program ends. To drop a great many promises at a stop may take longer than what is left up to the
/// trap.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// It polls.
    Stopped,
    /// It does not.
    Trapped,
    /// Whichever comes first: a built-in that takes long is called over and over.
    Either,
}

use Ends::{Either, Stopped, Trapped};

type Kind = (&'static str, &'static [(Ends, &'static str)]);

const KINDS: &[Kind] = &[
    (
        "jobs of promises",
        &[
            (Stopped, "(async () => { for (;;) await null })(); await new Promise(() => {})"),
            (Either, "const again = () => Promise.resolve().then(again); again(); await new Promise(() => {})"),
            (Stopped, "queueMicrotask(function again() { queueMicrotask(again) }); await new Promise(() => {})"),
            (Stopped, "async function spin() { for (;;) try { await null } finally { continue } } await spin()"),
            (Either, "await Promise.all({ [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }) }) })"),
        ],
    ),
    (
        "comparators",
        &[
            (Stopped, "[3, 1, 2].sort(() => { for (;;) {} })"),
            (
                Either,
                "const a = Array.from({ length: 200000 }, (_, i) => -i); for (;;) a.slice().sort((x, y) => x - y)",
            ),
            (Either, "new Float64Array(1 << 20).sort((x, y) => { for (;;) {} })"),
        ],
    ),
    (
        "getters",
        &[
            (Stopped, "const o = { get x() { return this.x === undefined } }; for (;;) { try { o.x } catch {} }"),
            (Stopped, "const o = { get x() { for (;;) {} } }; o.x"),
            (Stopped, "`${{ toString() { for (;;) {} } }}`"),
            (Stopped, "class A { static [Symbol.hasInstance]() { for (;;) {} } } ({}) instanceof A"),
        ],
    ),
    (
        "JSON with toJSON",
        &[
            (Stopped, "JSON.stringify({ toJSON() { for (;;) {} } })"),
            (
                Either,
                "const a = Array.from({ length: 100000 }, (_, i) => ({ toJSON: () => i })); for (;;) JSON.stringify(a)",
            ),
            (Stopped, "JSON.parse('[1,2]', () => { for (;;) {} })"),
            (Stopped, "JSON.stringify({}, () => { for (;;) {} })"),
        ],
    ),
    (
        "backtracking",
        &[
            (Stopped, "/(a+)+$/.test('a'.repeat(40) + 'b')"),
            (Stopped, "/^(?:a|a)*$/.test('a'.repeat(35) + 'b')"),
            (Stopped, "new RegExp('(' .repeat(20) + 'a' + ')*'.repeat(20) + 'b').test('a'.repeat(1e5))"),
        ],
    ),
    (
        "join",
        &[
            (Trapped, "new Array(1e9).join()"),
            (Trapped, "new Array(1_000_000_000) + ''"),
            (Either, "const a = 'x'.repeat(1 << 20).split(''); for (;;) a.join('-')"),
        ],
    ),
    (
        "repeat",
        &[
            (Either, "for (;;) 'x'.repeat(1 << 24)"),
            (Either, "for (;;) 'a,b,c'.repeat(10000).split(',')"),
            (Either, "for (;;) 'ab'.repeat(1 << 20).padStart(1 << 22, 'cd').toUpperCase()"),
        ],
    ),
    (
        "powers of BigInts",
        &[
            (Either, "for (;;) { let b = 3n; for (let i = 0; i < 11; i++) b = b * b; b ** 60n }"),
            (Either, "let b = 7n ** 100000n; for (;;) String(b * b % (b - 1n)).length"),
        ],
    ),
    (
        "spread",
        &[
            (Either, "const a = new Array(500000).fill(1); for (;;) [...a]"),
            (Either, "const a = new Array(1000000).fill(1); for (;;) { try { Math.max(...a) } catch {} }"),
            (Either, "for (;;) ({ ...new Array(100000).fill(1) })"),
            (Either, "for (;;) [].concat(new Array(100000).fill(1), new Array(100000).fill(2))"),
        ],
    ),
    (
        "traps of proxies",
        &[
            (Stopped, "const p = new Proxy({}, { get: (t, k, r) => r[k] }); for (;;) { try { p.x } catch {} }"),
            (Stopped, "'x' in new Proxy({}, { has() { for (;;) {} } })"),
            (
                Either,
                "const k = Array.from({ length: 10000 }, (_, i) => 'k' + i); const p = new Proxy({}, { ownKeys: () => k, getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true, value: 1 }) }); for (;;) Object.keys(p)",
            ),
        ],
    ),
    (
        "search in text",
        &[
            (Either, "const big = 'ab'.repeat(1 << 20); for (;;) big.indexOf(big.slice(1) + 'x')"),
            (Trapped, "const h = 'a'.repeat(1 << 22); h.indexOf('a'.repeat(1 << 21) + 'b')"),
            (Trapped, "const h = 'a'.repeat(1 << 21); h.split('a'.repeat(1 << 20) + 'b')"),
            (Trapped, "const h = 'a'.repeat(1 << 21); h.replaceAll('a'.repeat(1 << 20) + 'b', '')"),
            (Stopped, "[].lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)"),
            (Stopped, "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)"),
        ],
    ),
    (
        "normalize",
        &[
            (Either, "const big = 'é'.repeat(1 << 20); for (;;) big.normalize('NFD')"),
            (Either, "const big = '\\ud55c'.repeat(1 << 18); for (;;) big.normalize('NFKC')"),
            (Either, "for (;;) 'ab'.repeat(1 << 20).localeCompare('ab'.repeat(1 << 20))"),
        ],
    ),
    (
        "deep JSON",
        &[
            (Either, "for (;;) JSON.parse('['.repeat(900) + ']'.repeat(900))"),
            (Either, "let d = {}; for (let i = 0; i < 900; i++) d = { d }; for (;;) JSON.stringify(d)"),
            (Either, "const s = '[' + '[1,2],'.repeat(1 << 17) + '1]'; for (;;) JSON.parse(s)"),
        ],
    ),
    (
        "collection of huge heaps",
        &[
            (
                Either,
                "const keep = []; for (let i = 0; i < 100000; i++) keep.push({ i, next: keep[i >> 1] }); for (;;) { for (let i = 0; i < 1000; i++) { const x = {}; x.x = x } }",
            ),
            (
                Either,
                "let head = null; for (let i = 0; i < 100000; i++) head = { head }; for (;;) { const a = {}; a.a = a }",
            ),
            (
                Either,
                "function mk() { const r = new FinalizationRegistry(() => { globalThis.foo = mk(); }); r.register([]); return r } for (;;) mk()",
            ),
        ],
    ),
    (
        "rendering",
        &[
            (Either, "const row = Array.from({ length: 1000 }, (_, i) => i); for (;;) console.log(row, row, row)"),
            (
                Either,
                "const rows = Array.from({ length: 1000 }, (_, i) => ({ a: i, b: 'x'.repeat(100) })); for (;;) console.table(rows)",
            ),
            (Either, "for (;;) console.log('%s %o %j', 'x', { a: [1, 2, 3] }, { b: 1 })"),
            (Stopped, "for (;;) { try { console.log({ get a() { for (;;) {} } }); } catch {} }"),
        ],
    ),
    (
        "typed arrays",
        &[
            (
                Either,
                "const f = new Float64Array(1 << 18); for (;;) { for (let i = 0; i < f.length; i++) f[i] = (i * 7919) % 1000003; f.sort() }",
            ),
            (Either, "const a = new Uint8Array(1 << 23); for (;;) { a.fill(1); a.copyWithin(1, 0); a.reverse() }"),
            (Either, "for (;;) crypto.getRandomValues(new Uint8Array(65536))"),
        ],
    ),
    (
        "code made at run time",
        &[
            (Either, "for (;;) new Function('return 1')()"),
            (Either, "const src = 'var a;'.repeat(50000); for (;;) new Function(src)"),
            (Either, "new Function('return ' + '1+'.repeat(2000000) + '1')"),
            (Either, "for (;;) new RegExp('(?:a|b|c){1,50}'.repeat(1000))"),
        ],
    ),
    (
        "iterators",
        &[
            (Stopped, "for (const x of (function* () { for (;;) yield* [1, 2, 3] })());"),
            (Stopped, "for await (const x of (async function* () { for (;;) yield 1 })());"),
            (Stopped, "const t = { then(r) { r(t) } }; await t"),
        ],
    ),
    (
        "web helpers",
        &[
            (Either, "for (;;) new URL('https://e.test/' + 'a%20/../'.repeat(10000)).href"),
            (Either, "for (;;) structuredClone(Array.from({ length: 10000 }, (_, i) => ({ i })))"),
            (Either, "for (;;) new TextDecoder().decode(new TextEncoder().encode('é'.repeat(1 << 18)))"),
        ],
    ),
];

/// From this limit on there is time enough between the two stops to clear away what a program held.
const SOUND: Duration = Duration::from_millis(400);

/// Runs so many programs of each kind at a limit.
#[track_caller]
fn check(limit: Duration, programs: usize) {
    let mut wrong = Vec::new();
    for (kind, sources) in KINDS {
        assert!(sources.len() >= 2, "{kind}");
        for (ends, source) in sources.iter().take(programs) {
            let fits = |end: &str| match ends {
                // Between the two stops of a short limit lie two ticks; a heap that takes longer to clear away is given up.
                Stopped => end == stopped(limit) || limit < SOUND && end == trapped(limit),
                Trapped => end == trapped(limit),
                // Where the limit is long, some of these fill the memory first.
                Either => end == stopped(limit) || end == trapped(limit) || end.starts_with("OutOfMemory"),
            };
            // A machine that does other work may let so many ticks pass that both stops come at once.
            let mut seen = (0..3).map(|_| within(limit, source, Whole::Thread));
            let first = seen.next().unwrap_or_default();
            if !fits(&first) && !seen.any(|end| fits(&end)) {
                wrong.push(format!("{kind}: {source}: {first}"));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn hostile_loops_end_within_a_tenth_of_a_second() {
    check(Duration::from_millis(100), usize::MAX);
}

#[test]
fn hostile_loops_end_within_two_fifths_of_a_second_with_a_sound_heap() {
    check(SOUND, usize::MAX);
}

#[test]
fn a_text_that_grows_to_tens_of_megabytes_is_stopped_in_time_at_any_limit() {
    for limit in (100..=600).step_by(50).map(Duration::from_millis) {
        for source in ["new Array(1e9) + ''", "new Array(1e9).join('ab')"] {
            let end = within(limit, source, Whole::Thread);
            assert!(end == trapped(limit) || end.starts_with("OutOfMemory"), "{limit:?}: {source}: {end}");
        }
    }
}

#[test]
fn hostile_loops_end_within_a_second() {
    check(Duration::from_secs(1), 1);
}

#[test]
fn timers_without_end_use_the_time_of_the_guest_only() {
    // Each step is the host's work as well, which is none of the program's time.
    let limit = Duration::from_millis(100);
    for source in [
        "setTimeout(function again() { setTimeout(again, 0) }, 0); 'x'",
        "setInterval(() => {}, 0); await new Promise(() => {})",
    ] {
        assert_eq!(within(limit, source, Whole::Guest), stopped(limit), "{source}");
    }
}

#[test]
fn a_value_that_takes_long_to_read_counts_as_the_programs_time() {
    let limit = Duration::from_millis(100);
    let mut session = limited_to(limit);
    let source = "const a = []; for (let i = 0; i < 60000; i++) a.push({ i, s: 'x'.repeat(30) }); a";
    let ended = run(&mut session, source);
    let failure = ended.result.unwrap_err();
    assert!(matches!(failure.name.as_str(), "ResultTooLarge" | "Timeout"), "{failure:?}");
    assert!(session.cpu_time() <= limit.mul_f64(1.2), "{:?}", session.cpu_time());
    assert_eq!(eval(&mut session, "'next'"), text("next"));
}
