//! The process that is attacked: one session of Chrysalid, and the program on standard input. It says on standard output
//! what [`super::watch`] reads, a line each of
//!
//! ```text
//! @{"idle": bytes}                                                  before the attack: resident memory
//! @{"outcome", "text", "cpu", "wall", "report", "peak"}             after it: seconds, and the most memory in between
//! @{"lives", "kept"}                                                how `1 + 1` and a value from before did: `yes`, else how not
//! ```

use std::io::{Read as _, Write as _};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, Result, bail};
use chrysalid::{
    Capabilities, Capability, Ended, Engine, Limits, Outcome, Report, ReportStyle, Session, SessionOptions, Step, Value,
};
use serde_json::json;

const BEFORE: &str = "globalThis.kept = { n: 41 }; const tool = argument => tools.tool(argument); kept.n";

/// `chrysalid-bench attacked`.
pub(crate) fn run() -> Result<()> {
    let mut source = String::new();
    std::io::stdin().read_to_string(&mut source)?;
    let mut session = session()?;
    if after(&mut session, BEFORE, 41.0)? != "yes" {
        bail!("the session does not work before the attack");
    }
    say(&json!({ "idle": resident("VmRSS:")? }))?;
    // Sets the high-water mark back to what is resident now.
    std::fs::write("/proc/self/clear_refs", "5").context("cannot set back the high-water mark")?;

    let (began, cpu) = (Instant::now(), cpu_time());
    let ended = to_the_end(&mut session, &source)?;
    let (cpu, wall) = (cpu_time().saturating_sub(cpu), began.elapsed());
    let (outcome, text) = match &ended.result {
        Ok(value) => ("value", value.as_str().unwrap_or_default().chars().take(100).collect()),
        Err(failure) => (failure.kind.code(), failure.to_string().chars().take(100).collect::<String>()),
    };
    let heap = format!("{:?}", ended.heap);
    // What every host does with an outcome.
    let reporting = cpu_time();
    let ended = if ended.result.is_ok() { Outcome::Done(ended) } else { Outcome::Failed(ended) };
    let report = Report::of(&ended).text(&ReportStyle::default());
    let reporting = cpu_time().saturating_sub(reporting);
    say(&json!({
        "outcome": outcome,
        "text": text,
        "heap": heap,
        "cpu": cpu.as_secs_f64(),
        "wall": wall.as_secs_f64(),
        "report": reporting.as_secs_f64(),
        "report_size": report.len(),
        "peak": resident("VmHWM:")?,
    }))?;
    drop(ended);

    let (lives, kept) = (after(&mut session, "1 + 1", 2.0)?, after(&mut session, "kept.n", 41.0)?);
    say(&json!({ "lives": lives, "kept": kept }))
}

fn session() -> Result<Session> {
    let mut limits = Limits::default();
    limits.memory = super::MEMORY;
    limits.cpu_time = super::TIME;
    let mut options = SessionOptions::default();
    options.limits = Some(limits);
    let answer = |_, _| async { Ok(Value::from(1)) };
    let tools = Capabilities::new([Capability::raw("tool", answer)])?;
    Ok(Engine::builder().pool_slots(4).build()?.session_with(&tools, options)?)
}

/// `yes`, or the kind of failure, or `wrong`.
fn after(session: &mut Session, source: &str, wanted: f64) -> Result<&'static str> {
    Ok(match to_the_end(session, source)?.result {
        Ok(value) if value.as_f64().is_some_and(|value| value.total_cmp(&wanted).is_eq()) => "yes",
        Ok(_) => "wrong",
        Err(failure) => failure.kind.code(),
    })
}

/// As a host drives: calls are answered at once, timers are slept for.
fn to_the_end(session: &mut Session, source: &str) -> Result<Ended> {
    session.start(source)?;
    loop {
        match session.step(SystemTime::now())? {
            Step::Busy => {}
            Step::Start(calls) => {
                for call in calls {
                    let mut future = call.invoke();
                    let Poll::Ready(answer) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
                        bail!("the tool does not answer at once");
                    };
                    session.settle(call.id(), answer)?;
                }
            }
            Step::Wait { wake_at } => {
                let until = wake_at.context("a wait for nothing")?;
                std::thread::sleep(until.duration_since(SystemTime::now()).unwrap_or_default());
            }
            Step::Ended(ended) => return Ok(ended),
            step @ Step::Paused(_) => bail!("an attack came to {step:?}"),
        }
    }
}

/// Of this thread, which is the one that the guest runs on.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// Bytes, from a line of this process' status.
fn resident(field: &str) -> Result<u64> {
    super::watch::status_bytes("self", field).with_context(|| format!("no {field} in the status of this process"))
}

fn say(line: &serde_json::Value) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "@{line}")?;
    Ok(out.flush()?)
}
