//! Programs made from bytes, and what must hold for each: it ends the same way whether it is stored or not.
//!
//! A program has loops that end, branches, closures, generators, timers, calls one by one and at one time, calls that
//! wait for a person, branches that nobody awaits, and errors. What it saw is its value.

use std::fmt::Write as _;

use chrysalid::{Capabilities, Clock, Limits, Random, Restore, Session, SessionOptions};

use crate::support::{ENGINE, Halt, World, begin, drive_through_snapshots, record};

/// Statements of one program, those in blocks included.
const MAX_STATEMENTS: u32 = 40;
const MAX_DEPTH: u32 = 4;

/// Runs one program on the spot, through a snapshot at each pause, and through one at each step.
pub(crate) fn same_result(bytes: &[u8]) {
    let source = program(bytes);
    let plain = run(&source, Stored::Never);
    assert_eq!(run(&source, Stored::AtPauses), plain, "stored at each pause:\n{source}");
    let (end, lines) = through_steps(&source);
    assert_eq!((end, lines), (plain.end, plain.lines), "stored at each step:\n{source}");
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stored {
    Never,
    AtPauses,
}

#[derive(Debug, Default, PartialEq)]
struct Seen {
    end: String,
    lines: Vec<String>,
    notes: Vec<String>,
    record: Vec<String>,
    calls: Vec<String>,
    pauses: u32,
}

fn options() -> SessionOptions {
    let mut limits = Limits::default();
    limits.memory = 16 << 20;
    let mut options = SessionOptions::default();
    options.limits = Some(limits);
    options.clock = Clock::Fixed(begin());
    options.random = Random::Seed(42);
    options
}

fn tools(world: &World) -> Capabilities {
    Capabilities::new([world.asked(), world.echo(), world.fail(), world.slow(), world.slow_fail()]).unwrap()
}

fn started(world: &World, source: &str) -> Session {
    let mut session = ENGINE.session_with(&tools(world), options()).unwrap();
    session.start(source).unwrap();
    session
}

fn stored(world: &World, session: &mut Session) -> Option<Session> {
    let image = session.snapshot().ok()?;
    Some(ENGINE.restore_with(&image, &tools(world), Restore::Resume, options()).unwrap())
}

fn run(source: &str, way: Stored) -> Seen {
    let world = World::new();
    let mut session = started(&world, source);
    let mut seen = Seen::default();
    loop {
        match world.drive(&mut session) {
            Halt::Paused(pause) => {
                seen.pauses += 1;
                seen.notes.extend(pause.notes);
                seen.lines.extend(pause.logs.iter().map(|line| format!("{} {}", line.level.name(), line.text)));
                if way == Stored::AtPauses {
                    session = stored(&world, &mut session).expect("a pause can be stored");
                }
                match session.pending().last() {
                    Some(call) => session.decide(call.id, chrysalid::Decision::Approve).unwrap(),
                    None => world.advance_to(pause.wake_at.unwrap()),
                }
            }
            Halt::Ended(ended) => {
                seen.end = end(ended.result);
                seen.notes.extend(ended.notes);
                seen.lines.extend(ended.logs.iter().map(|line| format!("{} {}", line.level.name(), line.text)));
                seen.record = record(&session);
                seen.calls = world.calls();
                return seen;
            }
        }
    }
}

fn through_steps(source: &str) -> (String, Vec<String>) {
    let world = World::new();
    let session = started(&world, source);
    let ended = drive_through_snapshots(&world, session, |session| stored(&world, session));
    let lines = ended.logs.iter().map(|line| format!("{} {}", line.level.name(), line.text)).collect();
    (end(ended.result), lines)
}

fn end(result: Result<chrysalid::Value, chrysalid::Failure>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(failure) => format!("{failure:?}"),
    }
}

/// The program that bytes mean; without bytes the smallest one.
pub(crate) fn program(bytes: &[u8]) -> String {
    let mut writer = Writer { rest: bytes, text: String::new(), names: 3, statements: 0, depth: 0 };
    writer.text.push_str("const seen = []; let v0 = 1, v1 = 'a', v2 = [1, 2];\n");
    while !writer.rest.is_empty() && writer.statements < MAX_STATEMENTS {
        writer.statement();
    }
    writer.text.push_str("JSON.stringify({ seen, v0, v1, v2 }, (_, x) => (typeof x === 'bigint' ? String(x) : x))\n");
    writer.text
}

struct Writer<'b> {
    rest: &'b [u8],
    text: String,
    /// Names made so far, so that none is declared twice.
    names: u32,
    statements: u32,
    depth: u32,
}

impl Writer<'_> {
    fn below(&mut self, count: u8) -> u8 {
        let Some((first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        first % count
    }

    fn name(&mut self) -> u32 {
        self.names += 1;
        self.names
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn block(&mut self) {
        self.depth += 1;
        for _ in 0..=self.below(3) {
            self.statement();
        }
        self.depth -= 1;
    }

    fn statement(&mut self) {
        self.statements += 1;
        let kinds = if self.depth >= MAX_DEPTH || self.statements >= MAX_STATEMENTS { 9 } else { 16 };
        match self.below(kinds) {
            0 => self.with_expression("seen.push(", ");\n"),
            1 => {
                let variable = self.variable();
                self.with_expression(&format!("{variable} = "), ";\n");
            }
            2 => self.with_expression("console.log(", ");\n"),
            3 => {
                self.put("seen.push(await ");
                self.call();
                self.put(");\n");
            }
            4 => {
                self.put("seen.push(await Promise.");
                let way = ["all", "allSettled", "race", "any"][usize::from(self.below(4))];
                self.put(way);
                self.put("([");
                for _ in 0..=self.below(3) {
                    self.call();
                    self.put(", ");
                }
                self.put("]));\n");
            }
            5 => {
                self.call();
                self.put(".then((x) => seen.push(['then', x]), (e) => seen.push(['catch', e.name, e.message]));\n");
            }
            6 => self.put("await null;\n"),
            7 => self.with_expression("v2 = [...v2.slice(-3), ", "];\n"),
            8 => self.with_expression("seen.push(new Map([[", ", Date.now()]]).size, performance.now());\n"),
            kind => self.compound(kind),
        }
    }

    fn compound(&mut self, kind: u8) {
        let name = self.name();
        match kind {
            9 => {
                let rounds = self.below(3) + 1;
                let _ = writeln!(self.text, "for (let i{name} = 0; i{name} < {rounds}; i{name}++) {{");
                self.block();
                self.put("}\n");
            }
            10 => {
                self.put("try {\n");
                self.block();
                if self.below(2) == 0 {
                    self.with_expression("throw new Error(String(", "));\n");
                }
                self.put("} catch (e) { seen.push(['caught', e.name, e.message]); } finally {\n");
                self.block();
                self.put("}\n");
            }
            11 => {
                self.with_expression("if (", ") {\n");
                self.block();
                self.put("} else {\n");
                self.block();
                self.put("}\n");
            }
            12 => {
                let _ = writeln!(self.text, "const f{name} = async (x) => {{");
                self.block();
                let _ = writeln!(self.text, "return [x, v0]; }};");
                let awaited = if self.below(2) == 0 { "await " } else { "" };
                let _ = writeln!(
                    self.text,
                    "{awaited}f{name}({name}).then((x) => seen.push(x), (e) => seen.push(e.name));"
                );
            }
            13 => {
                let _ = writeln!(self.text, "setTimeout(async () => {{");
                self.block();
                let millis = u32::from(self.below(6)) * 7;
                let _ = writeln!(self.text, "}}, {millis});");
            }
            14 => {
                let _ = writeln!(self.text, "async function* g{name}() {{");
                self.block();
                let _ = writeln!(
                    self.text,
                    "yield v1; yield v2.length; }}\nfor await (const x of g{name}()) seen.push(x);"
                );
            }
            _ => {
                let millis = u32::from(self.below(6)) * 11;
                let _ = writeln!(self.text, "await new Promise((done) => setTimeout(done, {millis}));");
            }
        }
    }

    fn call(&mut self) {
        let wait = u32::from(self.below(5)) * 13 + 1;
        match self.below(5) {
            0 => self.with_expression("tools.echo({ v: ", " })"),
            1 => self.with_expression("tools.gate({ q: ", " })"),
            2 => self.with_expression(&format!("tools.slow({{ ms: {wait}, v: "), " })"),
            3 => self.with_expression("tools.fail({ msg: String(", ") })"),
            _ => {
                let _ = write!(self.text, "tools.slowFail({{ ms: {wait} }})");
            }
        }
    }

    fn variable(&mut self) -> &'static str {
        ["v0", "v1", "v2[0]"][usize::from(self.below(3))]
    }

    fn with_expression(&mut self, before: &str, after: &str) {
        self.put(before);
        // None grows with what was there before, so that no program meets a limit by accident.
        let expression = [
            "v0",
            "v1",
            "String(v2).slice(0, 30)",
            "v0 + 1",
            "String(v1 + v0).slice(0, 20)",
            "seen.length",
            "({ a: String(v0).slice(0, 9), b: [seen.length] })",
            "v2.map((x) => String(x).slice(0, 9))",
            "Math.random() < 0.5",
            "10n ** 20n",
            "new Date(0)",
            "undefined",
            "[...'é😀']",
            "/a/.test(v1)",
            "[...new Set(v2.map(String))].length",
            "-0",
        ][usize::from(self.below(16))];
        self.put(expression);
        self.put(after);
    }
}
