//! A program that replaces every built-in changes nothing of what the engine does for later programs: values, calls,
//! console lines, errors, timers, imports, look-ups, approvals and web helpers come out as in a session without it. The
//! programs use syntax and names that `kept.js` holds, since what they would look up themselves is theirs to lose.

use std::fmt::Write as _;
use std::path::Path;

use chrysalid::{
    Capabilities, Clock, Decision, Modules, Outcome, Random, Report, ReportStyle, Restore, Session, SessionOptions,
};
use serde_json::json;

use crate::support::{ENGINE, Halt, World, begin, with_limits};

const PROGRAMS: &[&str] = &[
    // Values.
    "1 + 1",
    "'text with \\u0000 and <result>'",
    "({ a: 1, b: [1, 'x', null, undefined], c: { d: -0 }, then: 1, value: 2, length: 3 })",
    "[1, , 3]",
    "[map, set, date, /x/gi, bytes, buffer, big]",
    "cycle",
    "[cycle, cycle, map, map]",
    "failure",
    "({ get a() { return 1 }, f() {}, s: class A {}, p: tools.echo({ v: 1 }) })",
    "class Point { x = 1; #y = 2 } new Point()",
    "(async () => 5)()",
    "async function f() { return await tools.echo({ v: 7 }) } await f()",
    "let sum = 0; for (let i = 0; i < 5; i++) sum += i; sum",
    "if (true) 'in if'",
    "const n = 1; return { n }",
    "{ \"n\": n, \"b\": 2 }",
    "const n2: number = 3; enum E { A = 7, B } [n2 as number, E.B]",
    "```js\n1 + 2\n```",
    "function lone() {}",
    // Calls.
    "await tools.echo({ v: { a: [1, { b: map }], s: set, d: date, r: /x/, u: bytes, f: failure, c: cycle } })",
    "await tools.mirror({ a: [1, { b: map }], s: set, d: date, r: /x/, u: bytes, f: failure, c: cycle })",
    "const { ok, n: times, amount } = await tools.pay({ amount: 4 }); [ok, times, amount]",
    "[tools.echo({ v: 1 }), tools.echo({ v: 2 })]",
    "await tools.fail({ msg: 'no' })",
    "try { await tools.fail({ msg: 'm' }) } catch (e) { log(e.name, e.message, e.tool, e.code, e.retryable); e }",
    "tools.fail({ msg: 'lost' }); 'ok'",
    "await tools.slow({ ms: 50, v: 'slow' })",
    "await tools.slowFail({ ms: 50 })",
    "await tools.typed({ v: 'x', w: 1 })",
    "await tools.typed({ v: 1 })",
    "await tools.mirror({ a: [() => 1] })",
    "await tools.echo({ v: 1 }, { v: 2 })",
    "tools.ech({ v: 1 })",
    "typeof tools.nope",
    "tools",
    // Console.
    "log('a', 1, { b: [2, { c: 3 }] }, map, set, date, bytes, failure, cycle, undefined, -0, 5n)",
    "warn('w'); error('e'); info('i'); log('%s is %d, %i, %f, %o and %j', 'x', 5, 6.5, 7.5, { a: 1 }, 5)",
    "table([{ a: 1, b: 'x' }]); dir({ a: 1 }); count('c'); count('c'); group('g'); log('in\\nside'); groupEnd()",
    // Errors.
    "null.f()",
    "const one = 1;\n\none.two.three",
    "throw new Fault('t', { cause: new Fault('u') })",
    "throw 'text'",
    "throw { code: 7 }",
    "missing",
    "let q = ;",
    "const k = 1; k = 2",
    "ls -la /workspace",
    "require('fs')",
    "fetch('x')",
    "(function f() { f() })()",
    "for (;;) {}",
    "await new Pending(() => {})",
    "(async () => { throw new Fault('lost') })(); 'ok'",
    "(async () => { try { await tools.fail({ msg: 'x' }) } catch { return 'caught' } })()",
    // Timers and jobs.
    "setTimeout(() => log('tick'), 5); 'end'",
    "setTimeout(() => { throw new Fault('timer') }, 5); 'end'",
    "let ticks = 0; const id = setInterval(() => { if (++ticks === 3) { clearInterval(id); log('three') } }, 5); 1",
    "await new Pending(done => setTimeout(done, 20, 'late'))",
    "queueMicrotask(() => log('job')); 'x'",
    // Imports.
    "import { twice } from 'twice'; twice(4)",
    "import twice, * as all from 'twice'; [twice, all.twice(3)]",
    "const { twice: again } = await import('twice'); again(5)",
    "import 'nowhere'",
    "await import('nowhere')",
    // Look-ups.
    "await tools.$search({ query: 'pay', limit: 2 })",
    "await tools.$describe({ name: 'typed' })",
    "await tools.$describe({ name: 'nope' })",
    // Approvals.
    "log('before'); const answer = await tools.gate({ q: map }); log('after', answer); answer",
    "const p1 = tools.gate({ q: 1 }), p2 = tools.payGated({ amount: 3 }); [await p1, await p2]",
    "const g = tools.gate({ q: 1 }); (async () => { await g; log('branch') })(); 'value'",
    // Web helpers.
    "const u = new URL('https://e.test/a?x=1&x=2#h'); [u.href, u.host, u.searchParams.get('x'), u.hash]",
    "const s = new URLSearchParams('a=1&b=2'); s.append('c', 'd e'); [s.size, s.get('c'), s.has('a')]",
    "[new TextEncoder().encode('h\\u00e9'), new TextDecoder().decode(bytes), atob(btoa('hi'))]",
    "structuredClone({ d: date, m: map, s: set, c: cycle, f: failure })",
    "[crypto.randomUUID(), crypto.getRandomValues(bytes)]",
    "const a = new AbortController(); a.signal.addEventListener('abort', () => log('aborted')); a.abort('why'); [a.signal.aborted, a.signal.reason]",
    "const t = new EventTarget(); t.addEventListener('x', e => log(e.type)); t.dispatchEvent(new Event('x'))",
    "[performance.now() >= 0, typeof navigator]",
    "stolen",
];

fn file(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/hostile").join(name)).unwrap()
}

fn options() -> SessionOptions {
    let mut options = with_limits(|limits| limits.cpu_time = std::time::Duration::from_millis(300));
    options.clock = Clock::Fixed(begin());
    options.random = Random::Seed(1);
    options.modules = Modules::fixed([("twice", "export const twice = x => 2 * x; export default 'two';")]);
    options
}

fn tools(world: &World) -> Capabilities {
    let schema = json!({ "type": "object", "properties": { "v": { "type": "string" } }, "required": ["v"] });
    let typed = chrysalid::Capability::raw("typed", |_, argument| std::future::ready(Ok(argument)));
    let others = world.tools().iter().cloned().collect::<Vec<_>>();
    Capabilities::new(others.into_iter().chain([typed.input_schema(schema).description("Takes a text.")])).unwrap()
}

/// All that came of each program: outcomes and reports, through a snapshot at each pause.
fn outcomes(first: &str) -> Vec<String> {
    let world = World::new();
    let tools = tools(&world);
    let mut session = ENGINE.session_with(&tools, options()).unwrap();
    let _ = world.run(&mut session, first).value();
    PROGRAMS.iter().map(|program| outcome(&world, &mut session, &tools, program)).collect()
}

fn outcome(world: &World, session: &mut Session, tools: &Capabilities, program: &str) -> String {
    let mut all = String::new();
    let mut halt = world.run(session, program);
    loop {
        match &mut halt {
            Halt::Ended(ended) => ended.calls.iter_mut().for_each(|call| call.duration = None),
            Halt::Paused(pause) => {
                pause.calls.iter_mut().for_each(|call| call.duration = None);
                // Bound to the session, of which there are two.
                pause.pending.iter_mut().for_each(|call| call.token = [0; 32]);
            }
        }
        writeln!(all, "{halt:?}").unwrap();
        let outcome = match halt {
            Halt::Paused(pause) => Outcome::Paused(pause),
            Halt::Ended(ended) if ended.result.is_ok() => Outcome::Done(ended),
            Halt::Ended(ended) => Outcome::Failed(ended),
        };
        all.push_str(&Report::of(&outcome).text(&ReportStyle::default()));
        let Outcome::Paused(pause) = outcome else { return all };
        let bytes = session.snapshot().unwrap();
        *session = ENGINE.restore_with(&bytes, tools, Restore::Resume, options()).unwrap();
        session.decide(pause.pending[0].id, Decision::Approve).unwrap();
        halt = world.drive(session);
    }
}

#[test]
fn nothing_of_the_engine_rests_on_what_a_program_can_replace() {
    let kept = file("kept.js");
    let plain = outcomes(&format!("{kept}\n1"));
    let hostile = outcomes(&format!("{kept}\n{}\n1", file("prologue.js")));
    let differ: Vec<String> = PROGRAMS
        .iter()
        .zip(plain.iter().zip(&hostile))
        .filter(|(_, (plain, hostile))| plain != hostile)
        .map(|(program, (plain, hostile))| format!("{program}\n--- plain\n{plain}\n--- hostile\n{hostile}\n"))
        .collect();
    assert!(differ.is_empty(), "{} of {}\n{}", differ.len(), PROGRAMS.len(), differ.join("\n"));
    assert!(PROGRAMS.len() >= 40);
}
