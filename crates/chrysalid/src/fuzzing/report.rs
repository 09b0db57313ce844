//! Reports of outcomes whose every text is the program's.

use std::time::{Duration, UNIX_EPOCH};

use chrysalid_policy::{Brought, DecisionKind, Effects, Reason};

use super::bytes::Choices;
use crate::call::{CallId, CallPlace, CallRecord, CallStatus, DecidedBy, PendingCall};
use crate::outcome::{Ended, Failure, FailureKind, Heap, LogLevel, LogLine, Outcome, Pause, Position};
use crate::report::{Report, ReportStyle};
use crate::value::wire::{self, Bounds};
use crate::value::{Value, printable};

const TAGS: [&str; 6] = ["stdout", "result", "error", "pending", "calls", "notes"];
const BOUNDS: Bounds = Bounds { bytes: 1 << 16, depth: 64, nodes: 1000 };
const KINDS: &[FailureKind] = &[
    FailureKind::Exception,
    FailureKind::Timeout,
    FailureKind::OutOfMemory,
    FailureKind::Deadlock,
    FailureKind::ResultTooLarge,
    FailureKind::InvalidInput,
    FailureKind::Trap,
];
const LEVELS: &[LogLevel] = &[LogLevel::Log, LogLevel::Info, LogLevel::Debug, LogLevel::Warn, LogLevel::Error];

/// Two bytes of budget, then an outcome made from choices.
pub fn report(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let budget = usize::from(u16::from_le_bytes([choices.byte(), choices.byte()])) % 10_000;
    let report = Report::of(&outcome(&mut choices));
    let text = report.text(&ReportStyle::with_budget(budget));
    let length = text.chars().count();
    assert!(length <= budget.max(200), "{length} characters, not {budget}");
    assert_eq!(printable(&text), text);
    elements_are_ours(&text);
    serde_json::to_string(&report).expect("a report has a JSON form");
}

fn elements_are_ours(text: &str) {
    let upper = text.to_uppercase();
    let mut last = 0;
    for tag in TAGS {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        let count = |what: &str| upper.matches(&what.to_uppercase()).count();
        assert_eq!((count(&open), count(&close)), (count(&open).min(1), count(&open)), "{tag} in {text}");
        if let (Some(begin), Some(end)) = (text.find(&open), text.find(&close)) {
            assert!(last <= begin && begin < end, "{tag} in {text}");
            last = end;
        }
    }
    assert!(!text.contains("]]>"), "{text}");
}

fn outcome(choices: &mut Choices) -> Outcome {
    match choices.below(3) {
        0 => Outcome::Done(ended(choices, true)),
        1 => Outcome::Failed(ended(choices, false)),
        _ => Outcome::Paused(Pause {
            pending: choices.list(pending),
            wake_at: choices.option(time),
            logs: choices.list(line),
            notes: choices.list(Choices::text),
            calls: choices.list(record),
        }),
    }
}

fn ended(choices: &mut Choices, well: bool) -> Ended {
    Ended {
        result: if well { Ok(value(choices)) } else { Err(failure(choices)) },
        logs: choices.list(line),
        notes: choices.list(Choices::text),
        calls: choices.list(record),
        heap: choices.one_of(&[Heap::Intact, Heap::Reset, Heap::Lost]).unwrap_or(Heap::Intact),
        value_name: choices.option(Choices::text),
    }
}

/// A text, or whatever the bytes are on the wire.
fn value(choices: &mut Choices) -> Value {
    if choices.flag() {
        return Value::from(choices.text());
    }
    let length = usize::from(choices.byte());
    wire::decode(choices.bytes(length), &BOUNDS).unwrap_or_default()
}

fn failure(choices: &mut Choices) -> Failure {
    Failure {
        kind: choices.one_of(KINDS).unwrap_or(FailureKind::Exception),
        name: choices.text(),
        message: choices.text(),
        stack: choices.text(),
        hint: choices.option(Choices::text),
        position: choices.option(|choices| Position {
            line: choices.number(),
            column: choices.number(),
            source_line: choices.text(),
            caret: usize::from(choices.byte()),
        }),
        value: choices.option(value),
    }
}

fn line(choices: &mut Choices) -> LogLine {
    LogLine { level: choices.one_of(LEVELS).unwrap_or(LogLevel::Log), text: choices.text() }
}

fn record(choices: &mut Choices) -> CallRecord {
    CallRecord {
        id: id(choices),
        name: choices.text(),
        called_as: choices.option(Choices::text),
        status: status(choices),
        place: choices.option(place),
        digest: None,
        duration: choices.option(|choices| Duration::from_millis(u64::from(choices.number()))),
        edited: choices.option(value),
        decided: choices.option(|choices| DecidedBy {
            decision: choices.one_of(&DecisionKind::ALL).unwrap_or(DecisionKind::Approve),
            by: choices.option(Choices::text),
        }),
        grant: choices.option(Choices::number),
    }
}

fn pending(choices: &mut Choices) -> PendingCall {
    PendingCall {
        id: id(choices),
        name: choices.text(),
        path: choices.text(),
        place: choices.option(place),
        argument: value(choices),
        digest: [choices.byte(); 32],
        token: [choices.byte(); 32],
        program: [choices.byte(); 32],
        status: status(choices),
        reasons: choices.list(|choices| match choices.below(3) {
            0 => Reason::Always,
            1 => Reason::Changed,
            _ => Reason::RuleOfTwo { brought: choices.list(Choices::text) },
        }),
        effects: choices.one_of(&[Effects::NONE, Effects::ACTS, Effects::PRIVATE]).unwrap_or(Effects::NONE),
        met: choices.list(|choices| Brought { effect: Effects::ACTS, by: choices.text() }),
        policy: choices.option(Choices::text),
        roles: choices.list(Choices::text),
        expires_at: choices.option(time),
        allowed: choices.list(|choices| choices.one_of(&DecisionKind::ALL).unwrap_or(DecisionKind::Approve)),
        requested_at: time(choices),
        decided: choices.flag(),
    }
}

fn place(choices: &mut Choices) -> CallPlace {
    CallPlace { file: choices.option(Choices::text), line: choices.number(), column: choices.number() }
}

fn id(choices: &mut Choices) -> CallId {
    CallId { program: choices.number(), number: choices.number() }
}

fn status(choices: &mut Choices) -> CallStatus {
    choices.one_of(&CallStatus::ALL).unwrap_or(CallStatus::Started)
}

fn time(choices: &mut Choices) -> std::time::SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::from(choices.number()) << (choices.byte() % 24))
}
