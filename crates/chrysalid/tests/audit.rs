//! The audit trail of sessions: which lines there are, that they chain, that they hold no value, and that nothing is done
//! without them.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrysalid::{
    AuditSink, AuditTrail, Budget, CallStatus, Capabilities, Decision, Delivery, Effects, ErrorKind, Grant, Restore,
    Reviewer, Session, SessionOptions, Value, Verdict,
};
use serde_json::{Value as Json, json};

use crate::support::{BOTH, ENGINE, World, fresh_engine, id, record, ruled, status, text};

/// Keeps the lines in memory; fails, or panics, when told to.
#[derive(Default)]
struct Lines {
    lines: Mutex<Vec<String>>,
    fails_on: Mutex<Option<(String, Fault)>>,
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    Error,
    Panic,
}

impl AuditSink for Lines {
    fn append(&self, line: &str) -> io::Result<()> {
        let fault = self.fails_on.lock().unwrap().clone();
        if let Some((_, fault)) = fault.filter(|(part, _)| line.contains(part.as_str())) {
            match fault {
                Fault::Error => return Err(io::Error::other("the disk is full")),
                Fault::Panic => panic!("the disk is gone"),
            }
        }
        self.lines.lock().unwrap().push(line.to_owned());
        Ok(())
    }
}

impl Lines {
    fn all(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    fn json(&self) -> Vec<Json> {
        self.all().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Each line's event with what it is about.
    fn told(&self) -> Vec<String> {
        let field = |line: &Json, key: &str| line.get(key).filter(|value| !value.is_null()).map(Json::to_string);
        let told = |line: Json| {
            let fields = ["event", "call", "name", "decision", "grant", "by", "status", "error", "budget"];
            let told: Vec<String> = fields.iter().filter_map(|key| field(&line, key)).collect();
            told.join(" ").replace('"', "")
        };
        self.json().into_iter().map(told).collect()
    }

    #[track_caller]
    fn verified(&self) -> AuditTrail {
        let mut trail = AuditTrail::default();
        for (index, line) in self.all().iter().enumerate() {
            trail.add(index + 1, line).unwrap_or_else(|error| panic!("{error}: {line}"));
        }
        trail
    }

    fn fail_on(&self, part: &str, fault: Fault) {
        *self.fails_on.lock().unwrap() = Some((part.to_owned(), fault));
    }
}

fn options(lines: &Arc<Lines>) -> SessionOptions {
    let mut options = SessionOptions::default();
    options.audit = Some(lines.clone());
    options
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

const RULES: &str =
    "[[rules]]\ntools = 'pay'\nwhen = { amount = { above = 1000 } }\ndecision = 'deny'\nreason = 'never'\n";

const PROGRAM: &str = "await tools.echo({ v: 'marker-a' });
await tools.payGated({ amount: 77771 });
await tools.pay({ amount: 77772 }).catch(() => 0);
await tools.note({ n: 'marker-b' }).catch(() => 0);
await tools.gate({ q: 'marker-c' });
await tools.gate({ q: 'marker-d' }).catch(() => 0);
await tools.fail({ msg: 'marker-e' }).catch(() => 0);
await tools.gate({ q: 'marker-f' });
'marker-g'";

fn tools(world: &World) -> Capabilities {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "number" } } });
    let note = world.note().input_schema(schema);
    Capabilities::new([world.echo(), world.pay(), world.pay_gated(), world.gate(), world.fail(), note]).unwrap()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one run, told line by line")]
fn a_whole_run() {
    for way in BOTH {
        let world = World::new();
        let lines = Arc::new(Lines::default());
        let mut session = ruled(RULES).session_with(&tools(&world), options(&lines)).unwrap();
        let by = || Reviewer::named("ann");
        world.run(&mut session, PROGRAM).waits();
        let mut opened = 1;
        let mut decide = |session: Session, call: &str, decision: Decision| {
            let mut session = way.pass_into(session, &tools(&world), options(&lines), || ruled(RULES));
            opened += u32::from(way == crate::support::Way::Move);
            session.decide_with(Verdict::new(id(call), decision).by(by())).unwrap();
            (world.drive(&mut session), session)
        };
        let (_, session) = decide(session, "1.2", Decision::Approve);
        let (_, session) = decide(session, "1.5", Decision::Respond(text("marker-h")));
        let (_, mut session) = decide(session, "1.6", Decision::Reject(Some("marker-i".to_owned())));
        let grant = Grant::new("gate", 1).unwrap().for_session();
        session.grant(grant, &by(), world.time()).unwrap();
        session.raise_budget(&Budget { calls: Some(5), ..Budget::default() }, &by()).unwrap();
        let (halt, session) = decide(session, "1.8", Decision::Edit(crate::support::object([("q", text("marker-j"))])));
        assert_eq!(halt.value(), text("marker-g"));

        let told = lines.told();
        let without_opened: Vec<_> = told.iter().filter(|line| *line != "opened").map(String::as_str).collect();
        assert_eq!(told.len() - without_opened.len(), opened as usize);
        assert_eq!(
            without_opened,
            [
                "program",
                "ruled 1.1 echo allow",
                "started 1.1 echo",
                "ended 1.1 echo completed",
                "ruled 1.2 payGated ask",
                "decided 1.2 payGated approve ann",
                "started 1.2 payGated",
                "ended 1.2 payGated completed",
                "ruled 1.3 pay deny",
                "refused 1.4 note ToolInputError",
                "ruled 1.5 gate ask",
                "decided 1.5 gate respond ann",
                "ended 1.5 gate completed",
                "ruled 1.6 gate ask",
                "decided 1.6 gate reject ann",
                "ended 1.6 gate rejected",
                "ruled 1.7 fail allow",
                "started 1.7 fail",
                "ended 1.7 fail failed",
                "ruled 1.8 gate ask",
                "granted 1 ann",
                "raised ann 5 calls",
                "decided 1.8 gate edit ann",
                "started 1.8 gate",
                "ended 1.8 gate completed",
            ]
        );
        let trail = lines.verified();
        let run = hex(&session.id());
        assert_eq!(trail.runs.keys().collect::<Vec<_>>(), [&run]);
        let (length, head) = session.audit_head();
        assert_eq!(length, told.len() as u64);
        assert_eq!(trail.head_at(&run, length), Some(hex(&head).as_str()));
        // No value of the program, of a tool or of a person.
        for line in lines.all() {
            assert!(!line.contains("marker") && !without_hashes(&line).contains("7777"), "{line}");
        }
    }
}

#[test]
fn what_a_ruling_tells() {
    let world = World::new();
    let lines = Arc::new(Lines::default());
    let tools = Capabilities::new([
        world.answering("budget.read", Value::Null).effects(Effects::PRIVATE),
        world.answering("mail.send", Value::Null).effects(Effects::ACTS | Effects::UNTRUSTED),
    ])
    .unwrap();
    let engine = ruled(RULES);
    let mut session = engine.session_with(&tools, options(&lines)).unwrap();
    session.grant(Grant::new("mail.send", 1).unwrap().for_session(), &Reviewer::named("ann"), world.time()).unwrap();
    let source =
        "await tools.budget.read();\n  await tools.mail.send({ to: 'x' });\nawait tools.mail.send({ to: 'y' })";
    let pause = world.run(&mut session, source).paused();
    let json = lines.json();
    let run = hex(&session.id());
    let zeros = "0".repeat(64);
    let opened = &json[0];
    assert_eq!((&opened["run"], &opened["seq"], &opened["event"]), (&json!(run), &json!(0), &json!("opened")));
    assert_eq!((&opened["forked_from"], &opened["prev"]), (&Json::Null, &json!(zeros)));
    assert_eq!(opened["policy"], json!(chrysalid::Rules::parse(RULES).unwrap().version()));
    assert_eq!(opened["at"], json!("2027-01-15T08:00:00.000Z"));
    let granted = &json[1];
    assert_eq!(granted["terms"], json!("tools = [\"mail.send\"], count = 1, scope = \"session\""));
    let program = json.iter().find(|line| line["event"] == "program").unwrap();
    assert_eq!(
        (&program["program"], program["sha256"].as_str().unwrap()),
        (&json!(1), hex(&pause.pending[0].program).as_str())
    );
    let ruled: Vec<&Json> = json.iter().filter(|line| line["event"] == "ruled").collect();
    let last = "rule of two: budget.read (call 1.1, line 1) brought private data; mail.send (call 1.2, line 2) brought untrusted content; mail.send (call 1.2, line 2) acted on the world";
    let of = |line: &Json| ["place", "effects", "met", "decision", "reasons", "grant"].map(|key| line[key].clone());
    let [first, second, third] = ruled.as_slice() else { panic!("{ruled:?}") };
    assert_eq!(of(first), [json!("line 1"), json!(["private"]), json!([]), json!("allow"), json!([]), Json::Null]);
    assert_eq!(
        of(second),
        [json!("line 2"), json!(["untrusted", "acts"]), json!(["private"]), json!("allow"), json!([]), json!(1)]
    );
    let all = json!(["private", "untrusted", "acts"]);
    assert_eq!(
        of(third),
        [json!("line 3"), json!(["untrusted", "acts"]), all, json!("ask"), json!([last]), Json::Null]
    );
    assert_eq!(third["digest"], json!(hex(&pause.pending[0].digest)));
}

#[test]
fn expiry_and_what_a_person_puts_in_place_are_told() {
    let world = World::new();
    let lines = Arc::new(Lines::default());
    let hour = Duration::from_hours(1);
    let tools = Capabilities::new([world.gate().approval_expiry(hour), world.pay()]).unwrap();
    let mut session = ruled(RULES).session_with(&tools, options(&lines)).unwrap();
    world.run(&mut session, "await tools.gate({ q: 1 }).catch(() => 0); await tools.gate({ q: 2 })").waits();
    world.advance(hour);
    world.drive(&mut session).waits();
    let edit =
        Decision::EditCall { name: "pay".to_owned(), argument: crate::support::object([("amount", Value::from(5))]) };
    world.decide(&mut session, "1.2", edit).value();
    assert_eq!(
        lines.told(),
        [
            "opened",
            "program",
            "ruled 1.1 gate ask",
            "expired 1.1 gate",
            "ended 1.1 gate rejected",
            "ruled 1.2 gate ask",
            "decided 1.2 gate edit",
            "ruled 1.2 pay allow",
            "started 1.2 pay",
            "ended 1.2 pay completed",
        ]
    );
    lines.verified();
}

#[test]
fn a_fork_begins_a_chain_that_names_the_old_one() {
    let world = World::new();
    let lines = Arc::new(Lines::default());
    let mut session = ENGINE.session_with(&world.tools(), options(&lines)).unwrap();
    world.run(&mut session, "await tools.gate({ q: 1 })").waits();
    let image = session.snapshot().unwrap();
    let old = session.id();
    let inspected = fresh_engine().inspect(&image).unwrap().sealed.unwrap();
    assert_eq!(inspected.audit_head, session.audit_head());
    let mut fork = fresh_engine().restore_with(&image, &world.tools(), Restore::Fork, options(&lines)).unwrap();
    world.decide(&mut fork, "1.1", Decision::Approve).value();
    world.decide(&mut session, "1.1", Decision::Approve).value();
    let trail = lines.verified();
    assert_eq!(trail.runs.len(), 2);
    let json = lines.json();
    let first = json.iter().find(|line| line["run"] == json!(hex(&fork.id()))).unwrap();
    assert_eq!((&first["event"], &first["seq"]), (&json!("opened"), &json!(0)));
    assert_eq!(first["forked_from"], json!(hex(&old)));
    for session in [&session, &fork] {
        let (length, head) = session.audit_head();
        assert_eq!(trail.head_at(&hex(&session.id()), length), Some(hex(&head).as_str()));
    }
}

#[test]
fn no_program_runs_that_the_trail_does_not_keep() {
    for fault in [Fault::Error, Fault::Panic] {
        for part in ["\"event\":\"opened\"", "\"event\":\"program\""] {
            let world = World::new();
            let lines = Arc::new(Lines::default());
            let mut session = ENGINE.session_with(&world.tools(), options(&lines)).unwrap();
            lines.fail_on(part, fault);
            let failure = world.run(&mut session, "globalThis.ran = true; await tools.pay({ amount: 1 })").failure();
            assert_eq!(failure.kind, chrysalid::FailureKind::Rejected);
            assert_eq!(failure.to_string(), "Denied: the audit trail cannot be written");
            lines.verified();
            *lines.fails_on.lock().unwrap() = None;
            let value = world.run(&mut session, "await tools.pay({ amount: 2 }); typeof ran").value();
            assert_eq!(value, text("undefined"), "{part}");
            lines.verified();
            assert_eq!(world.paid(), [2.0]);
        }
    }
}

#[test]
fn nothing_runs_that_the_trail_does_not_keep() {
    // What cannot be written, a program, what a person decides, and how the call ends.
    let approve = || Some(Decision::Approve);
    let pay = "tools.pay({ amount: 1 })";
    let gated = "tools.payGated({ amount: 1 })";
    let edit = || Decision::EditCall {
        name: "pay".to_owned(),
        argument: crate::support::object([("amount", Value::from(5))]),
    };
    let cases = [
        ("\"event\":\"ruled\"", pay, None, "pay"),
        ("\"event\":\"ruled\"", gated, None, "payGated"),
        ("\"event\":\"started\"", pay, None, "pay"),
        ("\"event\":\"decided\"", gated, approve(), "payGated"),
        ("\"event\":\"decided\"", gated, Some(Decision::Respond(Value::Null)), "payGated"),
        ("\"event\":\"decided\"", gated, Some(edit()), "payGated"),
        ("\"event\":\"started\"", gated, approve(), "payGated"),
    ];
    for fault in [Fault::Error, Fault::Panic] {
        for (part, call, decision, name) in cases.clone() {
            let world = World::new();
            let lines = Arc::new(Lines::default());
            let mut session = ENGINE.session_with(&world.tools(), options(&lines)).unwrap();
            lines.fail_on(part, fault);
            let source = format!("try {{ await {call} }} catch (e) {{ `${{e.name}}: ${{e.message}}` }}");
            let mut halt = world.run(&mut session, &source);
            if let Some(decision) = decision.clone() {
                halt.waits();
                halt = world.decide(&mut session, "1.1", decision);
            }
            let about = format!("{part} {call} {decision:?} {fault:?}");
            assert_eq!(halt.value(), text(&format!("Denied: {name}: the audit trail cannot be written")), "{about}");
            assert_eq!(world.calls(), [""; 0], "{about}");
            assert_eq!(status(&session, "1.1"), CallStatus::Denied, "{about}");
            // What was kept is whole, and once lines can be kept again calls run again.
            lines.verified();
            *lines.fails_on.lock().unwrap() = None;
            world.run(&mut session, "await tools.pay({ amount: 2 })").value();
            lines.verified();
            assert_eq!(world.paid(), [2.0]);
        }
    }
}

#[test]
fn the_call_put_in_place_of_another_is_denied_when_its_ruling_cannot_be_kept() {
    let world = World::new();
    let lines = Arc::new(Lines::default());
    let mut session = ENGINE.session_with(&world.tools(), options(&lines)).unwrap();
    world.run(&mut session, "await tools.gate({ q: 1 })").waits();
    lines.fail_on("\"event\":\"ruled\"", Fault::Error);
    let edit =
        Decision::EditCall { name: "pay".to_owned(), argument: crate::support::object([("amount", Value::from(5))]) };
    let failure = world.decide(&mut session, "1.1", edit).failure();
    assert_eq!(failure.to_string(), "Denied: gate: the audit trail cannot be written");
    assert_eq!(world.calls(), [""; 0]);
}

#[test]
fn nothing_is_revealed_and_no_program_approved_that_the_trail_does_not_keep() {
    let world = World::new();
    let lines = Arc::new(Lines::default());
    let keep = world.answering("keep", text("secret")).effects(Effects::PRIVATE).delivery(Delivery::Handle);
    let tools = Capabilities::new([keep]).unwrap();
    let mut session = ENGINE.session_with(&tools, options(&lines)).unwrap();
    world.run(&mut session, "globalThis.h = await tools.keep(); 0").value();
    lines.fail_on("$reveal", Fault::Error);
    let failure = world.run(&mut session, "await reveal(h)").failure();
    assert_eq!(failure.to_string(), "Denied: reveal: the audit trail cannot be written");
    assert_eq!(session.taint().effects(), Effects::NONE);

    let (world, lines) = (World::new(), Arc::new(Lines::default()));
    let mut approving = options(&lines);
    approving.approve_program = true;
    let mut session = ENGINE.session_with(&world.tools(), approving).unwrap();
    world.run(&mut session, "await tools.pay({ amount: 1 })").waits();
    lines.fail_on("\"event\":\"decided\"", Fault::Panic);
    let failure = world.decide(&mut session, "1.1", Decision::Approve).failure();
    assert_eq!(failure.to_string(), "Denied: the audit trail cannot be written");
    assert_eq!(record(&session), ["1.1 $program rejected"]);
    assert_eq!(world.calls(), [""; 0]);
}

#[test]
fn grants_and_budgets_are_refused_when_they_cannot_be_kept() {
    let world = World::new();
    let lines = Arc::new(Lines::default());
    let mut session = ENGINE.session_with(&world.tools(), options(&lines)).unwrap();
    lines.fail_on("", Fault::Error);
    let grant = Grant::new("gate", 1).unwrap().for_session();
    let refused = session.grant(grant, &Reviewer::new(), world.time()).unwrap_err();
    assert_eq!((refused.kind(), refused.to_string().as_str()), (ErrorKind::Io, "the audit trail cannot be written"));
    let refused = session.raise_budget(&Budget::default(), &Reviewer::new()).unwrap_err();
    assert_eq!((refused.kind(), refused.to_string().as_str()), (ErrorKind::Io, "the audit trail cannot be written"));
    assert_eq!(session.grants(), []);
    assert_eq!(session.audit_head(), (0, [0; 32]));
}

#[test]
fn without_a_sink_there_is_no_chain() {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, "await tools.pay({ amount: 1 })").value();
    assert_eq!(session.audit_head(), (0, [0; 32]));
}

/// A text without what is only digits of hashes and keys: any digits at all come up in those.
fn without_hashes(text: &str) -> String {
    let is_hash = |word: &&str| word.len() >= 16 && word.bytes().all(|digit| digit.is_ascii_hexdigit());
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| !is_hash(word)).collect::<Vec<_>>().join(" ")
}
