//! The audit trail: every decision of a session as one line of JSON, chained by hashes.
//!
//! ```text
//! {"run":"<32 hex>","seq":3,"at":"2026-11-30T09:15:00.000Z","event":"ruled", … ,"prev":"<64 hex>","hash":"<64 hex>"}
//! ```
//!
//! `hash` is the SHA-256 of the line's bytes before `,"hash":`; `prev` is the hash of the run's line before, or zeros in its
//! first. The head of the chain is in the sealed header of every snapshot, so a run goes on with its chain in another
//! process. Lines hold no value: of arguments there is a SHA-256, of a person the name that the host gave.
//!
//! Whoever can write the whole file can write another chain. What stops them is a copy of the head elsewhere: in a
//! snapshot, or wherever lines are sent.

use std::collections::BTreeMap;
use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::key::hex;
use crate::value::Value;

/// Keeps the lines of an audit trail.
pub trait AuditSink: Send + Sync {
    /// Keeps one line, without a line break, for good: it is called before what the line tells is done.
    ///
    /// # Errors
    /// Whatever keeps the line from being kept. The call that it is about is then denied.
    fn append(&self, line: &str) -> io::Result<()>;
}

/// What a line tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum AuditEvent {
    /// A session is here: new, restored, or forked from another.
    Opened { forked_from: Option<String>, policy: Option<String> },
    /// A program was given.
    Program { program: u32, sha256: String },
    /// The rules decided about a call.
    Ruled(Ruled),
    /// A call was refused for what it is: its arguments, its name, a budget.
    Refused { call: String, name: String, error: String },
    /// A person decided about a call. `digest` is of what runs.
    Decided { call: String, name: String, decision: String, by: Option<String>, digest: Option<String> },
    /// Nobody decided in time.
    Expired { call: String, name: String },
    /// A person decided beforehand.
    Granted { grant: u32, terms: String, by: Option<String> },
    /// A budget was raised.
    Raised { budget: String, by: Option<String> },
    /// A call was handed to its tool.
    Started { call: String, name: String, key: String },
    /// The tool of a call waits for somebody itself, and answers later.
    Suspended { call: String, name: String },
    /// A call ended.
    Ended { call: String, name: String, status: String },
}

/// A decision of the rules.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Ruled {
    pub(crate) call: String,
    pub(crate) name: String,
    pub(crate) place: Option<String>,
    /// SHA-256 of the canonical argument.
    pub(crate) digest: String,
    pub(crate) effects: Vec<&'static str>,
    /// What the session had met before.
    pub(crate) met: Vec<&'static str>,
    /// `allow`, `ask` or `deny`.
    pub(crate) decision: &'static str,
    pub(crate) reasons: Vec<String>,
    /// The grant that answered in a person's place.
    pub(crate) grant: Option<u32>,
}

/// Where the chain of a run stands. Part of the sealed header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Chain {
    pub(crate) length: u64,
    pub(crate) head: [u8; 32],
}

#[derive(Serialize)]
struct Line<'a> {
    run: &'a str,
    seq: u64,
    at: Option<String>,
    #[serde(flatten)]
    event: &'a AuditEvent,
    prev: String,
}

/// What stands between the hashed part of a line and its hash.
const HASH_KEY: &str = ",\"hash\":\"";
/// Length of what is not hashed: the key, 64 hex digits, and the end of text and object.
const TAIL: usize = HASH_KEY.len() + 64 + 2;

impl Chain {
    /// The next line, and the chain behind it.
    pub(crate) fn line(&self, run: &[u8; 16], at_millis: f64, event: &AuditEvent) -> (String, Self) {
        let line = Line { run: &hex(run), seq: self.length, at: time(at_millis), event, prev: hex(&self.head) };
        // Made of texts and numbers, which have no way to fail.
        let mut text = serde_json::to_string(&line).unwrap_or_default();
        text.pop();
        let head: [u8; 32] = Sha256::digest(&text).into();
        text.push_str(HASH_KEY);
        text.push_str(&hex(&head));
        text.push_str("\"}");
        (text, Self { length: self.length + 1, head })
    }
}

fn time(millis: f64) -> Option<String> {
    match Value::Date(millis.round()).to_json() {
        Ok(serde_json::Value::String(text)) => Some(text),
        _ => None,
    }
}

/// An audit trail whose chains hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditTrail {
    /// Each run in it.
    pub runs: BTreeMap<String, AuditedRun>,
}

/// One run of an audit trail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditedRun {
    /// How many lines it has.
    pub length: u64,
    /// Hash of the last one, in hex.
    pub head: String,
    /// Hashes of all of them, in order.
    heads: Vec<String>,
}

/// Why a trail does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for AuditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for AuditError {}

/// What the chain needs of a line.
#[derive(Deserialize)]
struct Link {
    run: String,
    seq: u64,
    prev: String,
    hash: String,
}

impl AuditTrail {
    /// Checks one more line: its own hash, and that it follows the line before of its run.
    ///
    /// ```
    /// let mut trail = chrysalid::AuditTrail::default();
    /// assert_eq!(trail.add(1, "{}").unwrap_err().problem, "not a line of an audit trail");
    /// ```
    ///
    /// # Errors
    /// [`AuditError`] with the number that is given.
    pub fn add(&mut self, number: usize, line: &str) -> Result<(), AuditError> {
        let wrong = |problem: String| AuditError { line: number, problem };
        let not_one = || wrong("not a line of an audit trail".to_owned());
        let parsed: Link = serde_json::from_str(line).map_err(|_| not_one())?;
        let at = line.len().checked_sub(TAIL).ok_or_else(not_one)?;
        let (hashed, tail) = line.split_at_checked(at).ok_or_else(not_one)?;
        if tail != format!("{HASH_KEY}{}\"}}", parsed.hash) {
            return Err(not_one());
        }
        if hex(&Sha256::digest(hashed)) != parsed.hash {
            return Err(wrong("was changed: its hash is another".to_owned()));
        }
        let before = self.runs.entry(parsed.run.clone()).or_insert_with(|| AuditedRun {
            length: 0,
            head: hex(&[0; 32]),
            heads: Vec::new(),
        });
        if parsed.seq != before.length {
            return Err(wrong(format!(
                "has number {} of run {} where {} follows",
                parsed.seq, parsed.run, before.length
            )));
        }
        if parsed.prev != before.head {
            return Err(wrong(format!("does not follow the line before of run {}", parsed.run)));
        }
        before.length += 1;
        before.heads.push(parsed.hash.clone());
        before.head = parsed.hash;
        Ok(())
    }

    /// Hash of the last of the first so many lines of a run, in hex; nothing if it has fewer.
    #[must_use]
    pub fn head_at(&self, run: &str, length: u64) -> Option<&str> {
        let at = usize::try_from(length).ok()?.checked_sub(1)?;
        self.runs.get(run)?.heads.get(at).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trail() -> Vec<String> {
        let mut chain = Chain::default();
        let mut lines = Vec::new();
        for number in 0..3 {
            let event = AuditEvent::Program { program: number, sha256: "x".into() };
            let (line, next) = chain.line(&[7; 16], 1_766_000_000_123.0, &event);
            lines.push(line);
            chain = next;
        }
        lines
    }

    fn check(lines: &[String]) -> Result<AuditTrail, AuditError> {
        let mut trail = AuditTrail::default();
        lines.iter().enumerate().try_for_each(|(index, line)| trail.add(index + 1, line))?;
        Ok(trail)
    }

    #[test]
    fn a_line_says_what_happened_and_what_was_before() {
        let first = trail().remove(0);
        let zeros = "0".repeat(64);
        let hashed = format!(
            "{{\"run\":\"{}\",\"seq\":0,\"at\":\"2025-12-17T19:33:20.123Z\",\"event\":\"program\",\"program\":0,\
             \"sha256\":\"x\",\"prev\":\"{zeros}\"",
            "07".repeat(16)
        );
        assert_eq!(first, format!("{hashed},\"hash\":\"{}\"}}", hex(&Sha256::digest(&hashed))));
    }

    #[test]
    fn a_whole_trail_holds() {
        let trail = check(&trail()).unwrap();
        assert_eq!(trail.runs.len(), 1);
        assert_eq!(trail.runs[&"07".repeat(16)].length, 3);
    }

    #[test]
    fn any_change_of_a_byte_is_found() {
        let good = trail();
        for line in 0..good.len() {
            for at in 0..good[line].len() {
                let mut lines = good.clone();
                let mut bytes = lines[line].clone().into_bytes();
                bytes[at] ^= 1;
                lines[line] = String::from_utf8_lossy(&bytes).into_owned();
                let error = check(&lines).unwrap_err();
                assert_eq!(error.line, line + 1, "byte {at}: {error}");
            }
        }
    }

    #[test]
    fn a_line_that_is_missing_doubled_or_moved_is_found() {
        let good = trail();
        let run = "07".repeat(16);
        let changes: [(Vec<usize>, usize, &str); 4] = [
            (vec![1, 2], 1, "has number 1 of run RUN where 0 follows"),
            (vec![0, 2], 2, "has number 2 of run RUN where 1 follows"),
            (vec![0, 0, 1], 2, "has number 0 of run RUN where 1 follows"),
            (vec![1, 0, 2], 1, "has number 1 of run RUN where 0 follows"),
        ];
        for (order, line, problem) in changes {
            let lines: Vec<String> = order.iter().map(|index| good[*index].clone()).collect();
            let expected = AuditError { line, problem: problem.replace("RUN", &run) };
            assert_eq!(check(&lines).unwrap_err(), expected);
        }
    }

    #[test]
    fn a_line_of_another_chain_does_not_follow() {
        let mut lines = trail();
        let event = AuditEvent::Program { program: 9, sha256: "y".into() };
        let other = Chain { length: 3, head: [9; 32] };
        lines.push(other.line(&[7; 16], 0.0, &event).0);
        let error = check(&lines).unwrap_err();
        assert_eq!(error.to_string(), format!("line 4: does not follow the line before of run {}", "07".repeat(16)));
    }

    #[test]
    fn two_runs_may_share_a_file() {
        let mut lines = trail();
        let event = AuditEvent::Program { program: 1, sha256: "z".into() };
        lines.insert(1, Chain::default().line(&[8; 16], 0.0, &event).0);
        let trail = check(&lines).unwrap();
        let lengths: Vec<u64> = trail.runs.values().map(|run| run.length).collect();
        assert_eq!(lengths, [3, 1]);
    }
}
