//! Sandboxes and programs a second, and the slowest of a hundred, beside sessions that live and wait.
//!
//! The sessions have run one program each. Then each thread makes sandboxes, runs `1+1` and drops them; and each thread runs
//! a program without effect in its share of the sessions, one after the other, as a server does whose users take turns.

use std::fmt::Write as _;
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

/// What each combination is given, in rounds over all of them, so that what else the machine does meets all alike.
const TIME: Duration = Duration::from_secs(1);
const QUICK_TIME: Duration = Duration::from_millis(100);
const ROUNDS: u32 = 3;

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
    /// Of all threads and rounds.
    samples: Samples,
    /// Of all rounds.
    time: Duration,
}

pub(super) fn study(quick: bool) -> Result<Study> {
    let time = if quick { QUICK_TIME } else { TIME };
    let mut points = Vec::new();
    for (slots, pool) in POOLS {
        let engine = micro::builder().pool_slots(slots).build()?;
        let mut of_pool: Vec<Point> = combinations(pool).collect();
        for _ in 0..ROUNDS {
            for point in &mut of_pool {
                eprintln!("{} sessions, {} threads, {pool}, {:?}", point.live, point.threads, point.work);
                point.measure(&engine, time)?;
            }
        }
        points.append(&mut of_pool);
    }
    Ok(Study { name: "sandboxes", markdown: markdown(&points)?, json: json(&points), charts: charts(&points) })
}

fn combinations(pool: &'static str) -> impl Iterator<Item = Point> {
    let works = [Work::Sandbox, Work::Program].into_iter();
    works.flat_map(|work| LIVE.map(|live| (work, live))).flat_map(move |(work, live)| {
        THREADS.map(|threads| Point { work, pool, live, threads, samples: Samples::default(), time: Duration::ZERO })
    })
}

impl Point {
    fn measure(&mut self, engine: &Engine, time: Duration) -> Result<()> {
        let mut sessions = (0..self.live).map(|_| idle(engine)).collect::<Result<Vec<_>>>()?;
        // Where there are fewer sessions than threads, one thread stands still for programs.
        let share = self.live.div_ceil(self.threads);
        let mut shares: Vec<&mut [Session]> = sessions.chunks_mut(share).collect();
        if self.work == Work::Sandbox {
            shares.resize_with(self.threads, Default::default);
        }
        let (start, work) = (Barrier::new(shares.len()), self.work);
        let results: Vec<Result<Samples>> = std::thread::scope(|scope| {
            let begin = |share| {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    one_thread(engine, work, share, time)
                })
            };
            let workers: Vec<_> = shares.into_iter().map(begin).collect();
            let ended = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
            ended.map(|result| result.unwrap_or_else(|_| Err(anyhow!("a thread panicked")))).collect()
        });
        for result in results {
            self.samples.append(result?);
        }
        self.time += time;
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "far below what a float can count")]
    fn a_second(&self) -> f64 {
        self.samples.summary().count as f64 / self.time.as_secs_f64()
    }

    fn median(&self) -> f64 {
        self.samples.summary().median
    }

    fn p99(&self) -> f64 {
        self.samples.p99()
    }
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
            // A round over many sessions is longer than the time.
            'time: loop {
                for session in &mut *sessions {
                    let before = Instant::now();
                    if before.duration_since(began) >= time {
                        break 'time;
                    }
                    micro::expect(micro::number(micro::to_the_end(session, "0")?)?, 0.0)?;
                    samples.add(before.elapsed());
                }
            }
        }
    }
    Ok(samples)
}

fn markdown(points: &[Point]) -> Result<String> {
    let mut text = String::from(
        "| what | sessions | live | threads | a second | median µs | p99 µs |\n|---|---|---:|---:|---:|---:|---:|\n",
    );
    for point in points {
        let work = match point.work {
            Work::Sandbox => "fresh sandbox, `1+1`, drop",
            Work::Program => "program in a live session",
        };
        let Point { pool, live, threads, .. } = point;
        let (a_second, median, p99) = (point.a_second(), point.median() * 1e6, point.p99() * 1e6);
        writeln!(text, "| {work} | {pool} | {live} | {threads} | {a_second:.0} | {median:.1} | {p99:.1} |")?;
    }
    Ok(text)
}

fn json(points: &[Point]) -> Value {
    let point = |point: &Point| {
        json!({
            "work": format!("{:?}", point.work),
            "sessions": point.pool,
            "live": point.live,
            "threads": point.threads,
            "a_second": point.a_second(),
            "median_seconds": point.median(),
            "p99_seconds": point.p99(),
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
        ("sandboxes-a-second", chart("Fresh sandboxes a second", "a second", Work::Sandbox, Point::a_second)),
        (
            "sandboxes-p99",
            chart("Fresh sandbox, the slowest of a hundred", "µs", Work::Sandbox, |point| point.p99() * 1e6),
        ),
        ("programs-a-second", chart("Programs a second, sessions in turn", "a second", Work::Program, Point::a_second)),
        ("programs-p99", chart("Program in a live session, p99", "µs", Work::Program, |point| point.p99() * 1e6)),
    ]
}
