//! CPU time, the thread, the clock, and the stack.

use std::time::{Duration, Instant};

use chrysalid::defence::Defence;
use chrysalid::{Capabilities, Engine, Step};

use super::Attempt::{Other, Programs};
use super::{Attack, LIMIT, ended_as, session_of};
use crate::measure::cpu_time;
use crate::support::{World, begin};

const fn recursion(name: &'static str, program: &'static [&'static str]) -> Attack {
    Attack {
        name,
        defence: Defence::StackBound,
        attempt: Programs(program),
        held: "'RangeError'",
        through: "Trap Reset",
    }
}

const fn endless(name: &'static str, program: &'static [&'static str]) -> Attack {
    Attack {
        name,
        defence: Defence::SoftStop,
        attempt: Programs(program),
        held: "Timeout Intact",
        through: "Timeout Reset",
    }
}

const fn unpolled(name: &'static str, attempt: fn(&Engine) -> String) -> Attack {
    Attack {
        name,
        defence: Defence::HardStop,
        attempt: Other(attempt),
        held: "Timeout in time",
        through: "Timeout late",
    }
}

pub(super) const ATTACKS: &[Attack] = &[
    // Each does minutes of work in one built-in that never looks up, here cut to some seconds.
    unpolled("join_a_list_of_holes", |engine| one_long_call(engine, "new Array(3e7).join()")),
    unpolled("write_out_a_number_of_a_quarter_million_digits", |engine| {
        one_long_call(engine, "String(7n ** 300000n).length")
    }),
    unpolled("concatenate_lists_of_holes", |engine| {
        one_long_call(engine, "const a = []; a.length = 2e7; [].concat(a, a, a).length")
    }),
    unpolled("normalize_a_long_text", |engine| {
        one_long_call(engine, "'\\u1e69'.repeat(1 << 21).normalize('NFD').length")
    }),
    endless("a_plain_loop", &["for (;;);"]),
    endless("catch_and_finally_around_a_loop", &["for (;;) { try { for (;;); } catch {} finally { for (;;); } }"]),
    endless("a_comparison_that_does_not_return", &["[2, 1].sort(() => { for (;;); })"]),
    endless("a_getter_that_does_not_return", &["({ get a() { for (;;); } }).a"]),
    endless("to_json_that_does_not_return", &["JSON.stringify({ toJSON() { for (;;); } })"]),
    endless("a_proxy_that_asks_itself", &["const p = new Proxy({}, { get: () => { for (;;); } }); p.x"]),
    endless("a_regular_expression_that_backtracks", &["/^(a+)+$/.test('a'.repeat(50) + 'b')"]),
    endless(
        "a_finalizer_that_arms_itself",
        &["function arm() { new FinalizationRegistry(arm).register({}) } for (;;) arm()"],
    ),
    Attack {
        name: "keep_the_thread",
        defence: Defence::Slices,
        attempt: Other(keeps_the_thread),
        held: "gives it back",
        through: "keeps it",
    },
    Attack {
        name: "measure_less_than_a_millisecond",
        defence: Defence::ClockGrain,
        attempt: Programs(&[
            "let fine = 0; for (let i = 0; i < 1000; i++) if (performance.now() % 1 !== 0 || Date.now() % 1 !== 0) fine++; fine > 0",
        ]),
        held: "false",
        through: "true",
    },
    recursion("a_function_that_calls_itself", &["function f() { f() } try { f() } catch (e) { e.name }"]),
    recursion(
        "a_getter_that_reads_itself",
        &["const o = { get a() { return this.a } }; try { o.a } catch (e) { e.name }"],
    ),
    recursion(
        "a_text_of_a_text_of_a_text",
        &["const o = { toString() { return `${this}` } }; try { `${o}` } catch (e) { e.name }"],
    ),
    recursion(
        "a_proxy_that_is_its_own_prototype",
        &["const p = new Proxy({}, {}); Object.setPrototypeOf(p, p); try { p.x } catch (e) { e.name }"],
    ),
    recursion(
        "json_of_what_makes_json_of_itself",
        &["const o = { toJSON() { return JSON.stringify(this) } }; try { JSON.stringify(o) } catch (e) { e.name }"],
    ),
    recursion(
        "flatten_a_deep_list",
        &["let a = []; for (let i = 0; i < 1e5; i++) a = [a]; try { a.flat(Infinity) } catch (e) { e.name }"],
    ),
];

/// How the program ends, and whether within a fifth more than its limit, by the thread's own clock.
fn one_long_call(engine: &Engine, source: &str) -> String {
    let mut session = session_of(engine, &Capabilities::none(), |limits| {
        limits.memory = 256 << 20;
        limits.cpu_time = Duration::from_millis(100);
    });
    let before = cpu_time();
    let ended = World::new().run(&mut session, source).ended();
    // What the host does at the end is not the program's.
    let bound = Duration::from_millis(120 + 40);
    let used = cpu_time().saturating_sub(before);
    let kind = ended_as(&ended);
    let kind = kind.split(' ').next().unwrap_or_default();
    format!("{kind} {}", if used <= bound { "in time" } else { "late" })
}

fn keeps_the_thread(engine: &Engine) -> String {
    let mut session = session_of(engine, &Capabilities::none(), |_| {});
    session.start("for (;;);").unwrap();
    let mut longest = Duration::ZERO;
    loop {
        let (cpu, wall) = (cpu_time(), Instant::now());
        let step = session.step(begin()).unwrap();
        longest = longest.max(cpu_time().saturating_sub(cpu).min(wall.elapsed()));
        if let Step::Ended(_) = step {
            break;
        }
    }
    if longest < LIMIT / 2 { "gives it back" } else { "keeps it" }.to_owned()
}
