//! Pause and resume as the heap grows: a program fills its heap and waits at a call; it is saved, restored, and the call
//! settled. Once with objects as programs have them, once with random bytes, which no compression makes smaller.

use std::fmt::Write as _;
use std::time::Instant;

use anyhow::{Context as _, Result};
use chrysalid::{Engine, Limits, Restore, SessionOptions, Step, Value as Answer};
use serde_json::{Value, json};

use super::Study;
use crate::micro;
use crate::plot::{Axis, Chart, Line, Scale};
use crate::samples::Samples;

/// MB of 1,000,000 bytes, as the guest counts what it has.
const SIZES: [u32; 5] = [1, 5, 10, 25, 50];
const TURNS: u32 = 9;
const QUICK_TURNS: u32 = 2;

const CONTENTS: [(&str, &str); 2] = [
    (
        // About 150 bytes each.
        "objects",
        "const kept = [];
         for (let i = 0; i < MB * 6600; i++) kept.push({ id: i, name: `customer number ${i}`, done: i % 3 === 0 });",
    ),
    (
        "random bytes",
        "const kept = [];
         for (let i = 0; i < MB * 20; i++) kept.push(crypto.getRandomValues(new Uint8Array(50_000)));",
    ),
];

struct Point {
    content: &'static str,
    size: u32,
    save: Samples,
    restore: Samples,
    bytes: usize,
    /// Of the guest, its own part included.
    memory: u64,
}

pub(super) fn study(quick: bool) -> Result<Study> {
    let mut limits = Limits::default();
    limits.memory = 128 << 20;
    let engine = micro::builder().limits(limits).build()?;
    let mut points = Vec::new();
    for (content, source) in CONTENTS {
        for size in SIZES {
            eprintln!("{size} MB of {content}");
            points.push(measure(&engine, content, source, size, if quick { QUICK_TURNS } else { TURNS })?);
        }
    }
    Ok(Study { name: "heap", markdown: markdown(&points)?, json: json(&points), charts: charts(&points) })
}

fn measure(engine: &Engine, content: &'static str, source: &str, size: u32, turns: u32) -> Result<Point> {
    let source = format!("{}\nconst answer = await tools.ask({{}}); answer", source.replace("MB", &size.to_string()));
    let capabilities = micro::asking()?;
    let mut session = engine.session_with(&capabilities, SessionOptions::default())?;
    session.start(&source)?;
    let call = loop {
        match session.step(std::time::SystemTime::now())? {
            Step::Busy => {}
            Step::Paused(pause) => break pause.pending.first().context("the program waits for no call")?.id,
            step => anyhow::bail!("a program that asks came to {step:?}"),
        }
    };
    let (mut save, mut restore, mut bytes) = (Samples::default(), Samples::default(), Vec::new());
    for turn in 0..=turns {
        let began = Instant::now();
        bytes = session.snapshot()?;
        let saved = began.elapsed();
        let began = Instant::now();
        let mut restored = engine.restore(&bytes, &capabilities, Restore::Resume)?;
        restored.settle(call, Ok(Answer::from(42)))?;
        let value = micro::number(micro::step_to_the_end(&mut restored)?)?;
        let resumed = began.elapsed();
        micro::expect(value, 42.0)?;
        if turn > 0 {
            save.add(saved);
            restore.add(resumed);
        }
    }
    let memory = engine.inspect(&bytes)?.memory;
    Ok(Point { content, size, save, restore, bytes: bytes.len(), memory })
}

fn markdown(points: &[Point]) -> Result<String> {
    let mut text = String::from(
        "| heap | guest memory | save ms (quartiles) | restore and settle ms (quartiles) | snapshot |\n|---|---:|---:|---:|---:|\n",
    );
    for point in points {
        let millis = |samples: &Samples| {
            let summary = samples.summary();
            let [low, middle, high] = [summary.first_quartile, summary.median, summary.third_quartile].map(|s| s * 1e3);
            format!("{middle:.2} ({low:.2}–{high:.2})")
        };
        let (save, restore) = (millis(&point.save), millis(&point.restore));
        let (memory, snapshot) = (megabytes(usize::try_from(point.memory).unwrap_or_default()), megabytes(point.bytes));
        writeln!(
            text,
            "| {} MB of {} | {memory:.1} MB | {save} | {restore} | {snapshot:.2} MB |",
            point.size, point.content
        )?;
    }
    Ok(text)
}

#[expect(clippy::cast_precision_loss, reason = "sizes of snapshots")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

fn json(points: &[Point]) -> Value {
    let point = |point: &Point| {
        json!({
            "content": point.content,
            "megabytes": point.size,
            "save": point.save.summary().json(),
            "restore": point.restore.summary().json(),
            "bytes": point.bytes,
            "guest_memory": point.memory,
        })
    };
    points.iter().map(point).collect()
}

fn charts(points: &[Point]) -> Vec<(&'static str, Chart)> {
    let line = |name: String, content: &str, value: fn(&Point) -> f64| {
        let of_line = points.iter().filter(|point| point.content == content);
        Line { name, points: of_line.map(|point| (f64::from(point.size), value(point))).collect() }
    };
    let axis = |label| Axis { label, scale: Scale::Linear };
    let contents = || CONTENTS.map(|(content, _)| content).into_iter();
    let times = contents().flat_map(|content| {
        [
            line(format!("save, {content}"), content, |point| point.save.summary().median * 1e3),
            line(format!("restore, {content}"), content, |point| point.restore.summary().median * 1e3),
        ]
    });
    let sizes = contents().map(|content| line(content.to_owned(), content, |point| megabytes(point.bytes)));
    let across = "heap, MB";
    vec![
        (
            "heap-time",
            Chart { title: "Pause and resume by heap", across: axis(across), up: axis("ms"), lines: times.collect() },
        ),
        (
            "heap-size",
            Chart { title: "Snapshot by heap", across: axis(across), up: axis("MB"), lines: sizes.collect() },
        ),
    ]
}
