//! Chrysalid from Rust as one side of the comparison: a process that does work when it is asked, as
//! [`process`](super::process) describes it. An engine with its defaults, and one without checkpoints.

use std::collections::HashMap;
use std::io::{BufRead as _, Write as _};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use chrysalid::{Capabilities, Checkpoint, Engine, Session};
use serde_json::{Value, json};

use crate::micro;
use crate::work;

const OBJECTS: &str = "Array.from({ length: 10000 }, (_, id) => ({ id, name: `row ${id}`, done: false }))";

/// Does one work once and tells how long it took.
type Sample = Box<dyn FnMut() -> Result<Duration>>;

struct Subject {
    engine: Engine,
    samples: HashMap<&'static str, Sample>,
    /// How large what a work saves is.
    sizes: HashMap<&'static str, usize>,
    live: Vec<Session>,
}

/// Answers requests until there are no more.
pub(crate) fn run() -> Result<()> {
    let mut subject = Subject::new()?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", json!({ "ready": subject.samples.keys().collect::<Vec<_>>() }))?;
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let answer = subject.answer(&request).unwrap_or_else(|error| json!({ "error": format!("{error:#}") }));
        writeln!(out, "{answer}")?;
    }
    Ok(())
}

/// A program in an engine that was just made: the least that a host in Rust can do.
pub(crate) fn cold() -> Result<()> {
    let engine = Engine::builder().pool_slots(0).build()?;
    let mut session = engine.session(&Capabilities::none())?;
    println!("{}", micro::number(micro::to_the_end(&mut session, "1+1")?)?);
    Ok(())
}

impl Subject {
    fn new() -> Result<Self> {
        let engine = micro::engine()?;
        let without = micro::builder().checkpoint(Checkpoint::Never).build()?;
        let mut samples: HashMap<_, Sample> = HashMap::new();
        samples.insert("fresh", Box::new(micro::fresh(&engine)));
        samples.insert("no_op", Box::new(micro::no_op(&without)?));
        samples.insert("no_op_checkpoint", Box::new(micro::no_op(&engine)?));
        samples.insert("calls", Box::new(micro::calls_in_sequence(&engine)?));
        samples.insert("objects", Box::new(objects(&engine)));
        let mut sizes = HashMap::new();
        for (save, restore, source) in
            [("save_small", "restore_small", micro::SMALL), ("save_rows", "restore_rows", micro::THOUSAND_OBJECTS)]
        {
            let (mut session, call) = micro::paused(&engine, source)?;
            let bytes = session.snapshot()?;
            sizes.insert(save, bytes.len());
            samples.insert(save, Box::new(micro::save(session)));
            samples.insert(restore, Box::new(micro::restore(&engine, bytes, call)?));
        }
        Ok(Self { engine, samples, sizes, live: Vec::new() })
    }

    fn answer(&mut self, request: &Value) -> Result<Value> {
        let name = request.get("work").and_then(Value::as_str).context("a request without work")?;
        match name {
            "live" => self.make_live(request.get("count").and_then(Value::as_u64).context("no count")?),
            "program" => self.program(request.get("source").and_then(Value::as_str).context("no source")?),
            _ => {
                let repeat = request.get("repeat").and_then(Value::as_u64).context("no number of times")?;
                let Some(sample) = self.samples.get_mut(name) else { bail!("no work named {name}") };
                let seconds = (0..repeat).map(|_| sample().map(|took| took.as_secs_f64()));
                let samples = seconds.collect::<Result<Vec<_>>>()?;
                Ok(json!({ "samples": samples, "bytes": self.sizes.get(name) }))
            }
        }
    }

    fn make_live(&mut self, count: u64) -> Result<Value> {
        for _ in 0..count {
            let mut session = self.engine.session(&Capabilities::none())?;
            micro::expect(micro::number(micro::to_the_end(&mut session, "1+1")?)?, 2.0)?;
            self.live.push(session);
        }
        Ok(json!({ "samples": [0.0] }))
    }

    fn program(&self, source: &str) -> Result<Value> {
        let run = work::run(&self.engine, source)?;
        Ok(json!({ "samples": [run.took.as_secs_f64()], "value": run.value }))
    }
}

fn objects(engine: &Engine) -> impl FnMut() -> Result<Duration> + 'static {
    let engine = engine.clone();
    move || {
        let mut session = engine.session(&Capabilities::none())?;
        let began = Instant::now();
        let ended = micro::to_the_end(&mut session, OBJECTS)?;
        let took = began.elapsed();
        let value = ended.result.map_err(|failure| anyhow::anyhow!("{failure:?}"))?;
        let rows = value.as_array().context("no array")?;
        let last = rows.last().and_then(|row| row.get("name")).and_then(chrysalid::Value::as_str);
        ensure!(rows.len() == 10_000 && last == Some("row 9999"), "other objects than were asked for");
        Ok(took)
    }
}
