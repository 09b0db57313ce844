//! Every schedule of two people who decide about one call, with the approval in time or expired, and a crash before each step
//! between the decision, the effect and the record of it. Whatever happens, the effect happens at most once, and a file whose
//! process crashed tells a person of each call that may have been done.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrysalid::{
    Approval, Call, CallStatus, Capabilities, Capability, Decision, Engine, Key, Object, Outcome, Restore, Session,
    Step, Value, Verdict,
};

use super::record::{CallEnded, CallStarted, Claim, Decided, Image, Record};
use super::{Journal, SavedFile, read};
use crate::drive::hex;
use crate::save::Keeping;

const EXPIRY: Duration = Duration::from_mins(1);
const STEPS: usize = 9;
/// Steps of the first process after which the second looks at the file: it is free, locked, claimed, left.
const LOOKS_AFTER: [usize; 4] = [0, 2, 5, STEPS];

fn engine() -> Engine {
    Engine::builder().pool_slots(0).key(Key::from_bytes([7; 32])).build().unwrap()
}

fn asked_at() -> SystemTime {
    UNIX_EPOCH + Duration::from_hours(500_000)
}

fn tools() -> Capabilities {
    let pay = Capability::raw("pay", |_, _| std::future::pending());
    Capabilities::new([pay.approval(Approval::Ask).approval_expiry(EXPIRY)]).unwrap()
}

/// A program that waits for a decision.
fn paused(engine: &Engine) -> Vec<u8> {
    let mut session = engine.session(&tools()).unwrap();
    session.start("await tools.pay({ amount: 1 }).then(v => v, e => e.name)").unwrap();
    loop {
        match session.step(asked_at()).unwrap() {
            Step::Busy => {}
            Step::Paused(_) => break,
            other => panic!("{other:?}"),
        }
    }
    session.snapshot().unwrap()
}

/// One process that resumes the file: what it holds, and how far it came.
struct Decider<'a> {
    engine: &'a Engine,
    path: &'a Path,
    decision: Decision,
    now: SystemTime,
    /// Steps that it lives through.
    lives: usize,
    done: usize,
    saved: Option<SavedFile>,
    session: Option<Session>,
    journal: Option<Journal>,
    keeping: Option<Keeping>,
    call: Option<Call>,
    outcome: Option<Outcome>,
}

/// What a step came to.
#[derive(Debug, PartialEq)]
enum Went {
    On,
    /// The file is another's.
    Refused,
    Crashed,
    Ended,
}

impl<'a> Decider<'a> {
    fn new(engine: &'a Engine, path: &'a Path, decision: Decision, now: SystemTime, lives: usize) -> Self {
        Self {
            engine,
            path,
            decision,
            now,
            lives,
            done: 0,
            saved: None,
            session: None,
            journal: None,
            keeping: None,
            call: None,
            outcome: None,
        }
    }

    /// The steps of `chrysalid resume`, in its order; `effects` is the world.
    fn step(&mut self, effects: &mut u32) -> Went {
        if self.done == self.lives {
            (self.saved, self.journal, self.keeping) = (None, None, None);
            return Went::Crashed;
        }
        self.done += 1;
        match self.done {
            1 => {
                let saved = SavedFile::open(self.path).map_err(drop);
                let Ok(saved) = saved else { return Went::Refused };
                if saved.contents.taken(self.path).is_some() {
                    return Went::Refused;
                }
                self.saved = Some(saved);
            }
            2 => self.decide(),
            3 => {
                let (mut saved, session) = (self.saved.take().unwrap(), self.session.as_ref().unwrap());
                saved.give_records().unwrap();
                self.keeping = Some(Keeping::claimed(self.path, None).unwrap());
                let decided = Decided::new("1.1".parse().unwrap(), &self.decision, None);
                let claim = Claim { run: hex(&session.id()), fork: false, decisions: vec![decided], save: None };
                self.journal = Some(saved.claim(claim).unwrap());
            }
            4 => self.go_on(),
            5 => self.write(|call| Record::Started(CallStarted { call, name: "pay".into() })),
            6 => *effects += u32::from(self.call.is_some()),
            7 => {
                let status = CallStatus::Completed.name().to_owned();
                self.write(|call| Record::Completed(CallEnded { call, name: "pay".into(), status }));
            }
            8 => {
                if let (Some(call), Some(session)) = (self.call.take(), &mut self.session) {
                    session.settle(call.id(), Ok(Value::from("paid"))).unwrap();
                    self.go_on();
                }
            }
            _ => {
                let (keeping, session) = (self.keeping.take().unwrap(), self.session.as_ref().unwrap());
                assert!(matches!(self.outcome, Some(Outcome::Done(_))), "{:?}", self.outcome);
                keeping.ended(&hex(&session.id()), "done").unwrap();
                self.journal = None;
                return Went::Ended;
            }
        }
        Went::On
    }

    fn decide(&mut self) {
        let image = self.saved.as_ref().unwrap().contents.image.clone().unwrap();
        let mut session = self.engine.restore(&image.snapshot, &tools(), Restore::Resume).unwrap();
        let pending = session.pending();
        session.decide_with(Verdict::of(&pending[0], self.decision.clone())).unwrap();
        self.session = Some(session);
    }

    fn go_on(&mut self) {
        let session = self.session.as_mut().unwrap();
        loop {
            match session.step(self.now).unwrap() {
                Step::Start(calls) => {
                    assert_eq!((calls.len(), calls[0].name()), (1, "pay"));
                    self.call = calls.into_iter().next();
                    return;
                }
                Step::Ended(ended) => {
                    self.outcome = Some(Outcome::Done(ended));
                    return;
                }
                Step::Busy => {}
                other => panic!("{other:?}"),
            }
        }
    }

    fn write(&mut self, record: impl FnOnce(String) -> Record) {
        if let (Some(call), Some(journal)) = (&self.call, &mut self.journal) {
            journal.append(&record(call.id().to_string())).unwrap();
        }
    }

    fn run(&mut self, effects: &mut u32) -> Went {
        loop {
            match self.step(effects) {
                Went::On => {}
                other => return other,
            }
        }
    }

    /// Whether another one who opens the file now has to wait: it is locked, and not claimed.
    fn is_before_claim(&self) -> bool {
        self.saved.is_some()
    }
}

fn decisions() -> [Decision; 4] {
    let edited = Object::from_iter([("amount", 2)]);
    [
        Decision::Approve,
        Decision::Edit(Value::Object(edited)),
        Decision::Reject(None),
        Decision::Respond(Value::from("no need")),
    ]
}

/// When the second process looks at the file, in steps of the first.
fn run_both(first: &mut Decider<'_>, second: &mut Decider<'_>, looks_after: usize, effects: &mut u32) -> [Went; 2] {
    let mut went = Went::On;
    while went == Went::On && first.done < looks_after {
        went = first.step(effects);
    }
    if went == Went::On && first.done > 0 && !first.is_before_claim() {
        // Locked and claimed: refused at once.
        assert_eq!(second.run(effects), if second.lives == 0 { Went::Crashed } else { Went::Refused });
        return [first.run(effects), Went::Refused];
    }
    if went == Went::On && first.done > 0 {
        // Locked, not claimed: the second waits until the first has ended or crashed.
        went = first.run(effects);
        return [went, second.run(effects)];
    }
    if went == Went::On {
        let second = second.run(effects);
        return [first.run(effects), second];
    }
    [went, second.run(effects)]
}

#[test]
fn every_schedule_has_at_most_one_effect_or_tells_what_is_unknown() {
    let engine = engine();
    let snapshot = paused(&engine);
    // Thousands of flushes are soon done where there is no disk.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let mut seen = [0_u32; 4];
    for (number, decision) in decisions().into_iter().enumerate() {
        for other in [Decision::Approve, Decision::Reject(None)] {
            for late in [Duration::ZERO, EXPIRY] {
                for lives in 0..=STEPS {
                    for other_lives in 0..=STEPS {
                        for looks_after in LOOKS_AFTER {
                            let path = folder.path().join("run.chry");
                            let _ = std::fs::remove_file(&path);
                            let image = Image { wake_at: None, snapshot: snapshot.clone() };
                            Keeping::named(&path).unwrap().paused("run", image).unwrap();
                            let now = asked_at() + late;
                            let mut effects = 0;
                            let mut first = Decider::new(&engine, &path, decision.clone(), now, lives);
                            let mut second = Decider::new(&engine, &path, other.clone(), now, other_lives);
                            let went = run_both(&mut first, &mut second, looks_after, &mut effects);
                            drop((first, second));
                            let schedule = format!(
                                "{number} {other:?} late {late:?}, {lives} and {other_lives} steps, looks after {looks_after}: {went:?}"
                            );
                            assert!(effects <= 1, "{schedule}: {effects} effects");
                            if late == EXPIRY {
                                assert_eq!(effects, 0, "{schedule}");
                            }
                            let contents = read(&path).unwrap();
                            seen[ending(&contents, effects, &schedule)] += 1;
                        }
                    }
                }
            }
        }
    }
    // Ended; waiting still; crashed and nothing begun; crashed with a call that may have been done.
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

/// What a person finds in the file, which must agree with what happened.
fn ending(contents: &super::Contents, effects: u32, schedule: &str) -> usize {
    if contents.ended.is_some() {
        return 0;
    }
    if contents.claims.is_empty() {
        assert_eq!(effects, 0, "{schedule}");
        return 1;
    }
    let calls = contents.calls_made();
    match calls.as_slice() {
        [] => {
            assert_eq!(effects, 0, "{schedule}");
            2
        }
        [call] if call.status == CallStatus::Unknown => {
            assert_eq!(contents.unknown_calls(), ["1.1 pay"], "{schedule}");
            3
        }
        [call] => {
            assert_eq!((call.status, effects), (CallStatus::Completed, 1), "{schedule}");
            3
        }
        other => panic!("{schedule}: {other:?}"),
    }
}
