//! One side as a process, which does work when it is asked. So all sides stay warm and take turns.
//!
//! ```text
//! side  {"ready": […]}                                  once, when it can begin
//! us    {"work": "fresh", "repeat": 40}                 and what else a work needs
//! side  {"samples": [seconds, …], "bytes": …}           or {"absent": why}, or {"error": text}
//! ```

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

/// A side that says nothing for so long is given up.
const PATIENCE: Duration = Duration::from_mins(3);

pub(crate) struct Process {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
    /// What it says it can do.
    works: Vec<String>,
}

#[derive(Debug)]
pub(crate) enum Answer {
    Done(Done),
    /// The side cannot do this, and why.
    Absent(String),
}

#[derive(Debug, Default)]
pub(crate) struct Done {
    /// Seconds of each time.
    pub(crate) samples: Vec<f64>,
    /// Size of what was saved.
    pub(crate) bytes: Option<u64>,
    /// The same with gzip, and the seconds that this took, for sides that leave it to their user.
    pub(crate) zipped: Option<(u64, f64)>,
    /// What a program's value was; none if it ran out of time.
    pub(crate) value: Option<String>,
}

impl Process {
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        let name = command.get_program().display().to_string();
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.with_context(|| format!("cannot run {name}"))?;
        let requests = child.stdin.take().context("a side without input")?;
        let out = BufReader::new(child.stdout.take().context("a side without output")?);
        let (send, answers) = channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        let mut side = Self { child, requests, answers, works: Vec::new() };
        let ready: Value = serde_json::from_str(&side.line().context("it did not begin")?)?;
        let works = ready.get("ready").and_then(Value::as_array).into_iter().flatten();
        side.works = works.filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(side)
    }

    pub(crate) fn can(&self, work: &str) -> bool {
        self.works.iter().any(|one| one == work)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn ask(&mut self, work: &str, repeat: u32, more: &Value) -> Result<Answer> {
        let mut request = json!({ "work": work, "repeat": repeat });
        if let (Some(request), Some(more)) = (request.as_object_mut(), more.as_object()) {
            request.extend(more.clone());
        }
        writeln!(self.requests, "{request}").context("it takes no more requests")?;
        let line = self.line()?;
        let answer: Value = serde_json::from_str(&line).with_context(|| format!("it said {line}"))?;
        Self::read(&answer)
    }

    fn read(answer: &Value) -> Result<Answer> {
        let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
        if let Some(why) = text("absent") {
            return Ok(Answer::Absent(why));
        }
        if let Some(error) = text("error") {
            bail!("{error}");
        }
        let samples = answer.get("samples").and_then(Value::as_array).context("an answer without samples")?;
        let zipped = answer.get("zipped_bytes").and_then(Value::as_u64);
        Ok(Answer::Done(Done {
            samples: samples.iter().filter_map(Value::as_f64).collect(),
            bytes: answer.get("bytes").and_then(Value::as_u64),
            zipped: zipped.zip(answer.get("zip_seconds").and_then(Value::as_f64)),
            value: text("value"),
        }))
    }

    fn line(&self) -> Result<String> {
        self.answers.recv_timeout(PATIENCE).context("it ended, or said nothing for three minutes")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A killed or ended side is gone either way.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_done_absent_or_an_error() {
        let read = |text: &str| Process::read(&serde_json::from_str(text).unwrap());
        let Answer::Done(done) = read(r#"{"samples":[0.5,1],"bytes":7,"zipped_bytes":3,"zip_seconds":0.25}"#).unwrap()
        else {
            panic!("not done")
        };
        assert_eq!((done.samples, done.bytes, done.zipped), (vec![0.5, 1.0], Some(7), Some((3, 0.25))));
        assert!(matches!(read(r#"{"absent":"no snapshots"}"#).unwrap(), Answer::Absent(why) if why == "no snapshots"));
        assert_eq!(read(r#"{"error":"a bug"}"#).unwrap_err().to_string(), "a bug");
        assert!(read("{}").is_err());
    }
}
