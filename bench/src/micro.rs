//! What a session costs beside the program's own work: it has no native peer, only a target.

use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, Result, bail, ensure};
use chrysalid::{
    CallId, Capabilities, Capability, Checkpoint, Ended, Engine, EngineBuilder, Key, Limits, Restore, Session,
    SessionOptions, Step, Value,
};

use crate::samples::Samples;

const CALLS: u32 = 1_000;

const NO_OP: &str = "0";

const CALLS_IN_SEQUENCE: &str = "
let sum = 0;
for (let i = 0; i < 1000; i++) sum += await tools.next({ i });
sum";

pub(crate) const SMALL: &str = "const answer = await tools.ask({ question: 'go on?' }); answer";

pub(crate) const THOUSAND_OBJECTS: &str = "
const rows = Array.from({ length: 1000 }, (_, id) => ({ id, name: `row ${id}`, done: false }));
const answer = await tools.ask({ question: 'go on?' });
rows.length === 1000 ? answer : 'wrong'";

/// A thing that is measured, and its own state.
pub(crate) struct Micro {
    pub(crate) name: &'static str,
    pub(crate) target: Duration,
    /// Samples in one turn.
    repeat: u32,
    sample: Box<dyn FnMut() -> Result<Duration>>,
    pub(crate) samples: Samples,
}

/// How large something is.
pub(crate) struct Size {
    pub(crate) name: &'static str,
    pub(crate) target: usize,
    pub(crate) bytes: usize,
}

pub(crate) fn engine() -> Result<Engine> {
    Ok(builder().build()?)
}

pub(crate) fn builder() -> EngineBuilder {
    Engine::builder().key(Key::from_bytes([7; 32]))
}

/// All of them, in the order of the table.
pub(crate) fn micros(engine: &Engine) -> Result<(Vec<Micro>, Vec<Size>)> {
    let without = builder().checkpoint(Checkpoint::Never).build()?;
    let mut micros = vec![
        micro("fresh session, `1+1`, drop", Duration::from_micros(50), 40, fresh(engine)),
        micro("no-op, live session, no checkpoint", Duration::from_micros(8), 100, no_op(&without)?),
        micro("no-op, live session, checkpoint", Duration::from_micros(20), 100, no_op(engine)?),
        micro("1,000 awaited calls, step and settle", Duration::from_millis(4), 1, calls_in_sequence(engine)?),
    ];
    let mut sizes = Vec::new();
    for (source, names, targets) in [
        (
            SMALL,
            ["save, small paused program", "restore it, settle, end", "snapshot, small paused program"],
            (Duration::from_micros(200), 4 << 10),
        ),
        (
            THOUSAND_OBJECTS,
            ["save, 1,000 objects live", "restore them, settle, end", "snapshot, 1,000 objects live"],
            (Duration::from_micros(600), 32 << 10),
        ),
    ] {
        let [save_name, restore_name, size_name] = names;
        let (mut session, call) = paused(engine, source)?;
        let bytes = session.snapshot()?;
        sizes.push(Size { name: size_name, target: targets.1, bytes: bytes.len() });
        micros.push(micro(save_name, targets.0, 10, save(session)));
        micros.push(micro(restore_name, Duration::from_micros(300), 10, restore(engine, bytes, call)?));
    }
    Ok((micros, sizes))
}

fn micro(
    name: &'static str,
    target: Duration,
    repeat: u32,
    sample: impl FnMut() -> Result<Duration> + 'static,
) -> Micro {
    Micro { name, target, repeat, sample: Box::new(sample), samples: Samples::default() }
}

impl Micro {
    pub(crate) fn turn(&mut self) -> Result<()> {
        for _ in 0..self.repeat {
            let took = (self.sample)().with_context(|| self.name)?;
            self.samples.add(took);
        }
        Ok(())
    }

    /// As a turn that nobody counts.
    pub(crate) fn warm_up(&mut self) -> Result<()> {
        (0..self.repeat).try_for_each(|_| (self.sample)().map(drop))
    }
}

pub(crate) fn fresh(engine: &Engine) -> impl FnMut() -> Result<Duration> + 'static {
    let engine = engine.clone();
    move || {
        let began = Instant::now();
        let mut session = engine.session(&Capabilities::none())?;
        let value = number(to_the_end(&mut session, "1+1")?)?;
        drop(session);
        let took = began.elapsed();
        expect(value, 2.0)?;
        Ok(took)
    }
}

pub(crate) fn no_op(engine: &Engine) -> Result<impl FnMut() -> Result<Duration> + 'static> {
    let mut session = engine.session(&Capabilities::none())?;
    Ok(move || {
        let began = Instant::now();
        let value = number(to_the_end(&mut session, NO_OP)?)?;
        let took = began.elapsed();
        expect(value, 0.0)?;
        Ok(took)
    })
}

/// A fresh session each time, made outside of the measured time: its record of calls grows.
pub(crate) fn calls_in_sequence(engine: &Engine) -> Result<impl FnMut() -> Result<Duration> + 'static> {
    let engine = engine.clone();
    let unused = |_, _| async { Ok(Value::Undefined) };
    let capabilities = Capabilities::new([Capability::raw("next", unused)])?;
    Ok(move || {
        let mut limits = Limits::default();
        limits.calls = CALLS;
        let mut options = SessionOptions::default();
        options.limits = Some(limits);
        let mut session = engine.session_with(&capabilities, options)?;
        let began = Instant::now();
        session.start(CALLS_IN_SEQUENCE)?;
        let value = number(answer_calls(&mut session)?)?;
        let took = began.elapsed();
        expect(value, f64::from(CALLS * (CALLS - 1) / 2))?;
        Ok(took)
    })
}

/// Answers each call with its argument's `i`.
fn answer_calls(session: &mut Session) -> Result<Ended> {
    loop {
        match session.step(SystemTime::now())? {
            Step::Busy => {}
            Step::Start(calls) => {
                for call in calls {
                    let answer = call.argument().get("i").cloned().unwrap_or_default();
                    session.settle(call.id(), Ok(answer))?;
                }
            }
            Step::Ended(ended) => return Ok(ended),
            step => bail!("a program with answered calls came to {step:?}"),
        }
    }
}

pub(crate) fn asking() -> Result<Capabilities> {
    Ok(Capabilities::new([Capability::external("ask")])?)
}

/// A session whose program waits at its one call.
pub(crate) fn paused(engine: &Engine, source: &str) -> Result<(Session, CallId)> {
    let mut session = engine.session(&asking()?)?;
    session.start(source)?;
    loop {
        match session.step(SystemTime::now())? {
            Step::Busy => {}
            Step::Paused(pause) => {
                let call = pause.pending.first().context("the program waits for no call")?.id;
                return Ok((session, call));
            }
            step => bail!("a program that asks came to {step:?}"),
        }
    }
}

pub(crate) fn save(mut session: Session) -> impl FnMut() -> Result<Duration> + 'static {
    move || {
        let began = Instant::now();
        let bytes = session.snapshot()?;
        let took = began.elapsed();
        ensure!(!bytes.is_empty(), "an empty snapshot");
        Ok(took)
    }
}

/// To the end of the program. Dropping the session is left out.
pub(crate) fn restore(
    engine: &Engine,
    bytes: Vec<u8>,
    call: CallId,
) -> Result<impl FnMut() -> Result<Duration> + 'static> {
    let (engine, capabilities) = (engine.clone(), asking()?);
    Ok(move || {
        let began = Instant::now();
        let mut session = engine.restore(&bytes, &capabilities, Restore::Resume)?;
        session.settle(call, Ok(Value::from(42)))?;
        let value = number(step_to_the_end(&mut session)?)?;
        let took = began.elapsed();
        expect(value, 42.0)?;
        Ok(took)
    })
}

pub(crate) fn to_the_end(session: &mut Session, source: &str) -> Result<Ended> {
    session.start(source)?;
    step_to_the_end(session)
}

pub(crate) fn step_to_the_end(session: &mut Session) -> Result<Ended> {
    loop {
        match session.step(SystemTime::now())? {
            Step::Busy => {}
            Step::Ended(ended) => return Ok(ended),
            step => bail!("a program that needs nothing more came to {step:?}"),
        }
    }
}

pub(crate) fn number(ended: Ended) -> Result<f64> {
    let value = ended.result.map_err(|failure| anyhow::anyhow!("{failure:?}"))?;
    value.as_f64().context("the program's value is not a number")
}

pub(crate) fn expect(value: f64, wanted: f64) -> Result<()> {
    ensure!(value.total_cmp(&wanted).is_eq(), "the program's value is {value}, not {wanted}");
    Ok(())
}
