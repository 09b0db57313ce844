//! A session that has run many programs: what the next one costs, what a save costs, and how large it is. Each program
//! declares something, calls a tool, and leaves garbage, as turns of an agent do.

use std::fmt::Write as _;
use std::time::{Instant, SystemTime};

use anyhow::{Result, bail};
use chrysalid::{Capabilities, Capability, Restore, Session, Step, Value as Answer};
use serde_json::{Value, json};

use super::Study;
use crate::micro;
use crate::plot::{Axis, Chart, Line, Scale};
use crate::samples::Samples;

const COUNTS: [u32; 4] = [1, 10, 100, 1_000];
const TURNS: u32 = 50;
const QUICK_TURNS: u32 = 5;

const PROGRAM: &str = "
const rows = Array.from({ length: 100 }, (_, id) => ({ id, name: `row ${id}` }));
const found = await tools.find({ n: rows.length });
const total = rows.reduce((sum, row) => sum + row.id, 0) + found;
total";

struct Point {
    count: u32,
    program: Samples,
    no_op: Samples,
    save: Samples,
    restore: Samples,
    bytes: usize,
}

pub(super) fn study(quick: bool) -> Result<Study> {
    let turns = if quick { QUICK_TURNS } else { TURNS };
    let engine = micro::engine()?;
    let tools = Capabilities::new([Capability::raw("find", |_, _| async { Ok(Answer::Undefined) })])?;
    let mut session = engine.session(&tools)?;
    let mut points = Vec::new();
    let mut ran = 0;
    for count in COUNTS {
        eprintln!("{count} programs");
        while ran < count {
            run(&mut session)?;
            ran += 1;
        }
        // From copies: what is measured must not count as programs that the session has run.
        let bytes = session.snapshot()?;
        let mut point = Point {
            count,
            program: Samples::default(),
            no_op: Samples::default(),
            save: Samples::default(),
            restore: Samples::default(),
            bytes: bytes.len(),
        };
        for _ in 0..turns {
            let began = Instant::now();
            let mut copy = engine.restore(&bytes, &tools, Restore::Fork)?;
            micro::expect(micro::number(micro::to_the_end(&mut copy, "0")?)?, 0.0)?;
            point.restore.add(began.elapsed());
            let began = Instant::now();
            run(&mut copy)?;
            point.program.add(began.elapsed());
            let began = Instant::now();
            micro::expect(micro::number(micro::to_the_end(&mut copy, "0")?)?, 0.0)?;
            point.no_op.add(began.elapsed());
            let began = Instant::now();
            drop(session.snapshot()?);
            point.save.add(began.elapsed());
        }
        points.push(point);
    }
    Ok(Study { name: "programs", markdown: markdown(&points)?, json: json(&points), charts: charts(&points) })
}

fn run(session: &mut Session) -> Result<()> {
    session.start(PROGRAM)?;
    loop {
        match session.step(SystemTime::now())? {
            Step::Busy => {}
            Step::Start(calls) => calls.iter().try_for_each(|call| session.settle(call.id(), Ok(Answer::from(1))))?,
            Step::Ended(ended) => return micro::expect(micro::number(ended)?, 4951.0),
            step => bail!("a program with answered calls came to {step:?}"),
        }
    }
}

fn markdown(points: &[Point]) -> Result<String> {
    let mut text = String::from(
        "| programs before | the next one µs | no-op µs | save µs | restore and no-op µs | snapshot |\n|---:|---:|---:|---:|---:|---:|\n",
    );
    for point in points {
        let micros = |samples: &Samples| format!("{:.1}", samples.summary().median * 1e6);
        writeln!(
            text,
            "| {} | {} | {} | {} | {} | {:.1} KB |",
            point.count,
            micros(&point.program),
            micros(&point.no_op),
            micros(&point.save),
            micros(&point.restore),
            kilobytes(point.bytes)
        )?;
    }
    Ok(text)
}

#[expect(clippy::cast_precision_loss, reason = "sizes of snapshots")]
fn kilobytes(bytes: usize) -> f64 {
    bytes as f64 / 1e3
}

fn json(points: &[Point]) -> Value {
    let point = |point: &Point| {
        json!({
            "programs": point.count,
            "program": point.program.summary().json(),
            "no_op": point.no_op.summary().json(),
            "save": point.save.summary().json(),
            "restore": point.restore.summary().json(),
            "bytes": point.bytes,
        })
    };
    points.iter().map(point).collect()
}

fn charts(points: &[Point]) -> Vec<(&'static str, Chart)> {
    let line = |name: &str, value: fn(&Point) -> f64| Line {
        name: name.to_owned(),
        points: points.iter().map(|point| (f64::from(point.count), value(point))).collect(),
    };
    let across = || Axis { label: "programs that the session has run", scale: Scale::Logarithmic };
    let linear = |label| Axis { label, scale: Scale::Linear };
    let times = vec![
        line("the next program", |point| point.program.summary().median * 1e6),
        line("no-op", |point| point.no_op.summary().median * 1e6),
        line("save", |point| point.save.summary().median * 1e6),
        line("restore and no-op", |point| point.restore.summary().median * 1e6),
    ];
    let sizes = vec![line("snapshot", |point| kilobytes(point.bytes))];
    vec![
        ("programs-time", Chart { title: "A session by its age", across: across(), up: linear("µs"), lines: times }),
        (
            "programs-size",
            Chart { title: "Snapshot by the session's age", across: across(), up: linear("KB"), lines: sizes },
        ),
    ]
}
