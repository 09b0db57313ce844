//! Sandboxes and programs a second, and the slowest of a hundred, beside sessions that live and wait.
//!
//! The sessions have run one program each. Then each thread makes sandboxes, runs `1+1` and drops them; and each thread runs
//! a program without effect in its share of the sessions, one after the other, as a server does whose users take turns.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use chrysalid::{Capabilities, Engine, Session};
use serde_json::{Value, json};

use super::Study;
use crate::micro;
use crate::plot::{Axis, Chart, Line, Scale};
use crate::samples::Samples;

const LIVE: [usize; 4] = [1, 10, 100, 1_000];
const THREADS: [usize; 2] = [1, 2];

/// What each combination is given.
const TIME: Duration = Duration::from_secs(2);
const QUICK_TIME: Duration = Duration::from_millis(200);

/// What of the process all sessions of an engine are served from.
const POOLS: [(u32, &str); 2] = [(256, "pool of 256"), (1_200, "pool of 1,200")];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Sandbox,
    Program,
}

struct Point {
    work: Work,
    pool: &'static str,
    live: usize,
    threads: usize,
    /// Of all threads.
    a_second: f64,
    median: f64,
    p99: f64,
}

pub(super) fn study(quick: bool) -> Result<Study> {
    let time = if quick { QUICK_TIME } else { TIME };
    let mut points = Vec::new();
    for (slots, pool) in POOLS {
        let engine = micro::builder().pool_slots(slots).build()?;
        for live in LIVE {
            for threads in THREADS {
                for work in [Work::Sandbox, Work::Program] {
                    eprintln!("{live} sessions, {threads} threads, {pool}, {work:?}");
                    points.push(measure(&engine, work, pool, live, threads, time)?);
                }
            }
        }
    }
    Ok(Study { name: "sandboxes", markdown: markdown(&points), json: json(&points), charts: charts(&points) })
}

fn measure(
    engine: &Engine,
    work: Work,
    pool: &'static str,
    live: usize,
    threads: usize,
    time: Duration,
) -> Result<Point> {
    let mut sessions = (0..live).map(|_| idle(engine)).collect::<Result<Vec<_>>>()?;
    // Where there are fewer sessions than threads, one thread stands still for programs.
    let share = live.div_ceil(threads);
    let mut shares: Vec<&mut [Session]> = sessions.chunks_mut(share).collect();
    if work == Work::Sandbox {
        shares.resize_with(threads, Default::default);
    }
    let start = Barrier::new(shares.len());
    let results: Vec<Result<Samples>> = std::thread::scope(|scope| {
        let workers: Vec<_> = shares
            .into_iter()
            .map(|share| {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    one_thread(engine, work, share, time)
                })
            })
            .collect();
        let ended = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
        ended.map(|result| result.unwrap_or_else(|_| Err(anyhow!("a thread panicked")))).collect()
    });
    let mut samples = Samples::default();
    for result in results {
        samples.append(result?);
    }
    let summary = samples.summary();
    #[expect(clippy::cast_precision_loss, reason = "far below what a float can count")]
    let a_second = summary.count as f64 / time.as_secs_f64();
    Ok(Point { work, pool, live, threads, a_second, median: summary.median, p99: samples.p99() })
}

fn idle(engine: &Engine) -> Result<Session> {
    let mut session = engine.session(&Capabilities::none())?;
    micro::expect(micro::number(micro::to_the_end(&mut session, "1+1")?)?, 2.0)?;
    Ok(session)
}

fn one_thread(engine: &Engine, work: Work, sessions: &mut [Session], time: Duration) -> Result<Samples> {
    let mut fresh = micro::fresh(engine);
    let mut samples = Samples::default();
    let began = Instant::now();
    match work {
        Work::Sandbox => {
            while began.elapsed() < time {
                samples.add(fresh()?);
            }
        }
        Work::Program => {
            while began.elapsed() < time {
                for session in &mut *sessions {
                    let before = Instant::now();
                    micro::expect(micro::number(micro::to_the_end(session, "0")?)?, 0.0)?;
                    samples.add(before.elapsed());
                }
            }
        }
    }
    Ok(samples)
}

fn markdown(points: &[Point]) -> String {
    let mut text = String::from(
        "| what | sessions | live | threads | a second | median µs | p99 µs |\n|---|---|---:|---:|---:|---:|---:|\n",
    );
    for point in points {
        let work = match point.work {
            Work::Sandbox => "fresh sandbox, `1+1`, drop",
            Work::Program => "program in a live session",
        };
        let Point { pool, live, threads, a_second, median, p99, .. } = point;
        let (median, p99) = (median * 1e6, p99 * 1e6);
        text += &format!("| {work} | {pool} | {live} | {threads} | {a_second:.0} | {median:.1} | {p99:.1} |\n");
    }
    text
}

fn json(points: &[Point]) -> Value {
    let point = |point: &Point| {
        json!({
            "work": format!("{:?}", point.work),
            "sessions": point.pool,
            "live": point.live,
            "threads": point.threads,
            "a_second": point.a_second,
            "median_seconds": point.median,
            "p99_seconds": point.p99,
        })
    };
    points.iter().map(point).collect()
}

fn charts(points: &[Point]) -> Vec<(&'static str, Chart)> {
    let chart = |title, label, work: Work, value: fn(&Point) -> f64| {
        let mut lines = Vec::new();
        for (_, pool) in POOLS {
            for threads in THREADS {
                let of_line =
                    points.iter().filter(|point| (point.work, point.pool, point.threads) == (work, pool, threads));
                #[expect(clippy::cast_precision_loss, reason = "at most a thousand")]
                let places = of_line.map(|point| (point.live as f64, value(point))).collect();
                let s = if threads == 1 { "" } else { "s" };
                lines.push(Line { name: format!("{threads} thread{s}, {pool}"), points: places });
            }
        }
        let across = Axis { label: "sessions that live beside it", scale: Scale::Logarithmic };
        Chart { title, across, up: Axis { label, scale: Scale::Linear }, lines }
    };
    vec![
        ("sandboxes-a-second", chart("Fresh sandboxes a second", "a second", Work::Sandbox, |point| point.a_second)),
        (
            "sandboxes-p99",
            chart("Fresh sandbox, the slowest of a hundred", "µs", Work::Sandbox, |point| point.p99 * 1e6),
        ),
        (
            "programs-a-second",
            chart("Programs a second, sessions in turn", "a second", Work::Program, |point| point.a_second),
        ),
        ("programs-p99", chart("Program in a live session, p99", "µs", Work::Program, |point| point.p99 * 1e6)),
    ]
}
