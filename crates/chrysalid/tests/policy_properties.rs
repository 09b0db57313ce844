//! What holds in every order of things: taint never shrinks and what is spent never falls, whatever images a host goes back to
//! with its ledger; arguments that differ have different digests.

use std::collections::{BTreeMap, BTreeSet};

use chrysalid::{
    Approval, Capabilities, Decision, Delivery, Effects, Engine, Grant, Ledger, Limits, Restore, Reviewer, Session,
    SessionOptions, Spent, Value,
};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{ENGINE, World, builder, text};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

// ---- taint and what is spent ----

#[derive(Clone, Debug)]
enum Act {
    /// A program of these calls, if none is there.
    Program(Vec<usize>),
    /// A decision about the first call that waits.
    Decide(usize),
    Store,
    /// Goes on from an image, the oldest first.
    Restore {
        image: usize,
        fork: bool,
    },
    Grant {
        count: u32,
        session: bool,
    },
    /// The program is given up.
    Stop,
}

const CALLS: [&str; 8] = [
    "await tools.read()",
    "await tools.list()",
    "await tools.act()",
    "await tools.gated()",
    "globalThis.h = await tools.keep()",
    "await tools.act({ h: globalThis.h ?? 1 })",
    "await reveal(globalThis.h ?? await tools.keep())",
    "await tools.count()",
];

fn acts() -> impl Strategy<Value = Act> {
    prop_oneof![
        5 => prop::collection::vec(0..CALLS.len(), 1..5).prop_map(Act::Program),
        4 => (0_usize..3).prop_map(Act::Decide),
        3 => Just(Act::Store),
        3 => (0_usize..8, any::<bool>()).prop_map(|(image, fork)| Act::Restore { image, fork }),
        2 => (1_u32..4, any::<bool>()).prop_map(|(count, session)| Act::Grant { count, session }),
        1 => Just(Act::Stop),
    ]
}

fn tools(world: &World) -> Capabilities {
    let schema = json!({ "type": "integer", "minimum": 0, "maximum": 9 });
    Capabilities::new([
        world.answering("read", text("private")).effects(Effects::PRIVATE),
        world.answering("list", text("untrusted")).effects(Effects::UNTRUSTED),
        world.answering("act", text("done")).effects(Effects::ACTS),
        world.answering("gated", text("done")).effects(Effects::ACTS).approval(Approval::Ask),
        world.answering("keep", text("secret")).effects(Effects::PRIVATE).delivery(Delivery::Handle),
        world
            .answering("count", Value::from(3))
            .effects(Effects::UNTRUSTED)
            .output_schema(schema)
            .delivery(Delivery::Declassified),
    ])
    .unwrap()
}

/// A host with one session, its images, and the ledger that it keeps beside them.
struct Host {
    world: World,
    session: Session,
    images: Vec<Vec<u8>>,
    known: Ledger,
}

fn options(ledger: Option<Ledger>) -> SessionOptions {
    let mut limits = Limits::default();
    // Some sequences come to the bounds.
    limits.session.calls = Some(24);
    limits.declassified_bits = 20;
    let mut options = SessionOptions::default();
    options.limits = Some(limits);
    options.ledger = ledger;
    options
}

impl Host {
    fn new(engine: &Engine) -> Self {
        let world = World::new();
        let session = engine.session_with(&tools(&world), options(None)).unwrap();
        let known = session.ledger();
        Self { world, session, images: Vec::new(), known }
    }

    fn act(&mut self, engine: &Engine, act: &Act) {
        match act {
            Act::Program(calls) if self.session.is_idle() => {
                let calls: Vec<String> =
                    calls.iter().map(|call| format!("try {{ {} }} catch {{}}", CALLS[*call])).collect();
                self.session.start(&calls.join("\n")).unwrap();
                self.drive();
            }
            Act::Decide(kind) => {
                let Some(call) = self.session.pending().first().map(|call| call.id) else { return };
                let decision =
                    [Decision::Approve, Decision::Reject(None), Decision::Respond(Value::from(1))][*kind].clone();
                if self.session.decide(call, decision).is_ok() {
                    self.drive();
                }
            }
            Act::Store => self.images.push(self.session.snapshot().unwrap()),
            Act::Restore { image, fork } => {
                let Some(image) = self.images.get(*image) else { return };
                let restore = if *fork { Restore::Fork } else { Restore::Resume };
                let options = options(Some(self.known.clone()));
                self.session = engine.restore_with(image, &tools(&self.world), restore, options).unwrap();
            }
            Act::Grant { count, session } => {
                let grant = Grant::new("**", *count).unwrap();
                let grant = if *session { grant.for_session() } else { grant };
                // Without a program there is none for one.
                let _ = self.session.grant(grant, &Reviewer::new(), self.world.time());
            }
            Act::Stop if !self.session.is_idle() => {
                self.session.interrupt_handle().interrupt();
                self.drive();
            }
            Act::Program(_) | Act::Stop => {}
        }
    }

    fn drive(&mut self) {
        drop(self.world.drive(&mut self.session));
    }

    /// Whether nothing that was known is known no more.
    fn keeps(&mut self) -> Result<(), TestCaseError> {
        let now = self.session.ledger();
        let (before, after) = (&self.known, &now);
        prop_assert!(after.taint.effects().contains(before.taint.effects()), "{before:?} {after:?}");
        for brought in before.taint.provenance() {
            prop_assert!(after.taint.provenance().contains(brought), "{before:?} {after:?}");
        }
        prop_assert!(least(&before.spent, &after.spent), "{before:?} {after:?}");
        prop_assert!(before.declassified_bits <= after.declassified_bits, "{before:?} {after:?}");
        self.known = now;
        Ok(())
    }

    /// Whether every call that acted once the session had met both others was allowed by a person.
    fn asked(&self) -> Result<(), TestCaseError> {
        let place = |effect: Effects| self.session.taint().provenance().iter().any(|brought| brought.effect == effect);
        if !(place(Effects::PRIVATE) && place(Effects::UNTRUSTED)) {
            return Ok(());
        }
        let met: Vec<u32> =
            self.session.taint().provenance().iter().filter_map(|brought| number(&brought.by)).collect();
        let last = met.into_iter().max().unwrap_or(0);
        for call in self.session.calls() {
            let acted = ["act", "gated"].contains(&call.name.as_str()) && call.status.name() == "completed";
            if acted && call.id.number > last && self.known_from_here() {
                prop_assert!(call.decided.is_some() || call.grant.is_some(), "{call:?}");
            }
        }
        Ok(())
    }

    /// Whether the session's own record tells who brought what: not after a restore from an image.
    fn known_from_here(&self) -> bool {
        self.images.is_empty()
    }
}

/// The number in `read (call 1.2, line 4)`.
fn number(by: &str) -> Option<u32> {
    let (_, after) = by.split_once("(call ")?;
    let id = after.split([',', ')']).next()?;
    id.split_once('.')?.1.parse().ok()
}

fn least(one: &Spent, other: &Spent) -> bool {
    let by_name = one.calls_by_name.iter().all(|(name, calls)| *calls <= other.calls_of(name));
    let wall = one.wall_millis <= other.wall_millis;
    one.calls <= other.calls && one.bytes <= other.bytes && one.spawns <= other.spawns && wall && by_name
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn what_was_met_and_spent_stays_so(acts in prop::collection::vec(acts(), 1..24)) {
        let mut host = Host::new(&ENGINE);
        for act in &acts {
            host.act(&ENGINE, act);
            host.keeps()?;
            host.asked()?;
        }
    }
}

#[test]
fn the_sequences_meet_all_effects_and_come_to_the_bounds() {
    // What the property is about does happen.
    let engine = builder().build().unwrap();
    let mut host = Host::new(&engine);
    let program = |calls: &[usize]| Act::Program(calls.to_vec());
    for act in [
        program(&[0, 1, 2]),
        Act::Store,
        Act::Decide(0),
        program(&[7, 7, 7, 7]),
        program(&[0; 24]),
        Act::Restore { image: 0, fork: false },
    ] {
        host.act(&engine, &act);
        host.keeps().unwrap();
    }
    assert_eq!(host.known.taint.effects(), Effects::ALL);
    assert_eq!((host.known.spent.calls, host.known.declassified_bits), (24, 18));
    // The image still waits for its call, and that call is counted.
    assert_eq!(host.session.pending().len(), 1);
    host.act(&engine, &Act::Decide(0));
    host.act(&engine, &program(&[0]));
    assert_eq!(host.session.calls().last().unwrap().status.name(), "failed");
}

// ---- digests ----

/// A value as a program writes it, and as it is told from others.
#[derive(Clone, Debug)]
enum Sample {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    BigInt(i64),
    Text(String),
    Date(i32),
    Bytes(Vec<u8>),
    List(Vec<Sample>),
    Object(BTreeMap<String, Sample>, bool),
    Map(BTreeMap<String, Sample>),
    Set(BTreeSet<String>),
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

impl Sample {
    fn source(&self) -> String {
        match self {
            Self::Undefined => "undefined".to_owned(),
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Number(value) if value.is_infinite() => format!("{}Infinity", if *value < 0.0 { "-" } else { "" }),
            Self::Number(value) => format!("{value:?}"),
            Self::BigInt(value) => format!("{value}n"),
            Self::Text(value) => quoted(value),
            Self::Date(value) => format!("new Date({value})"),
            Self::Bytes(bytes) => format!("new Uint8Array([{}])", joined(bytes.iter().map(u8::to_string))),
            Self::List(items) => format!("[{}]", joined(items.iter().map(Self::source))),
            Self::Object(fields, backwards) => {
                let field = |(key, value): (&String, &Self)| format!("[{}]: {}", quoted(key), value.source());
                let mut fields: Vec<String> = fields.iter().map(field).collect();
                if *backwards {
                    fields.reverse();
                }
                format!("{{ {} }}", fields.join(", "))
            }
            Self::Map(entries) => {
                format!(
                    "new Map([{}])",
                    joined(entries.iter().map(|(key, value)| format!("[{}, {}]", quoted(key), value.source())))
                )
            }
            Self::Set(items) => format!("new Set([{}])", joined(items.iter().map(|item| quoted(item)))),
        }
    }

    /// The source with the keys of objects in one order.
    fn identity(&self) -> String {
        match self {
            Self::Object(fields, _) => {
                format!(
                    "{{ {} }}",
                    joined(fields.iter().map(|(key, value)| format!("{}: {}", quoted(key), value.identity())))
                )
            }
            Self::List(items) => format!("[{}]", joined(items.iter().map(Self::identity))),
            Self::Map(entries) => {
                format!(
                    "Map({})",
                    joined(entries.iter().map(|(key, value)| format!("{} {}", quoted(key), value.identity())))
                )
            }
            other => other.source(),
        }
    }
}

fn samples() -> impl Strategy<Value = Sample> {
    let number = prop_oneof![
        Just(0.0),
        Just(-0.0),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        (-3_i32..4).prop_map(f64::from),
        Just(0.1),
        Just(1e300),
    ];
    let leaf = prop_oneof![
        Just(Sample::Undefined),
        Just(Sample::Null),
        any::<bool>().prop_map(Sample::Bool),
        number.prop_map(Sample::Number),
        (-3_i64..4).prop_map(Sample::BigInt),
        prop_oneof![
            Just(""),
            Just("0"),
            Just("1"),
            Just("null"),
            Just("a"),
            Just("\u{0}"),
            Just("é"),
            Just("e\u{301}")
        ]
        .prop_map(|value| Sample::Text(value.to_owned())),
        (-2_i32..3).prop_map(Sample::Date),
        prop::collection::vec(0_u8..3, 0..3).prop_map(Sample::Bytes),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let fields = || prop::collection::btree_map("[ab]", inner.clone(), 0..3);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Sample::List),
            (fields(), any::<bool>()).prop_map(|(fields, backwards)| Sample::Object(fields, backwards)),
            fields().prop_map(Sample::Map),
            prop::collection::btree_set("[ab]", 0..3).prop_map(Sample::Set),
        ]
    })
}

/// The digests of calls with these arguments.
fn digests(arguments: &[String]) -> Vec<[u8; 32]> {
    let world = World::new();
    let calls = joined(arguments.iter().map(|argument| format!("tools.gate({argument})")));
    let pause = world.run(&mut world.session(), &format!("await Promise.all([{calls}])")).paused();
    assert_eq!(pause.pending.len(), arguments.len());
    pause.pending.iter().map(|call| call.digest).collect()
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn two_arguments_have_one_digest_if_they_are_the_same(samples in prop::collection::vec(samples(), 2..48)) {
        let arguments: Vec<String> = samples.iter().map(|sample| format!("{{ v: {} }}", sample.source())).collect();
        let digests = digests(&arguments);
        for (index, one) in samples.iter().enumerate() {
            for (other, digest) in samples.iter().zip(&digests).skip(index) {
                let same = one.identity() == other.identity();
                prop_assert_eq!(digests[index] == *digest, same, "{} {}", one.source(), other.source());
            }
        }
    }
}

#[test]
fn arguments_that_are_easily_mistaken_for_one_another() {
    let different = [
        "{}",
        "{ v: undefined }",
        "{ v: null }",
        "{ v: 0 }",
        "{ v: -0 }",
        "{ v: 0n }",
        "{ v: '0' }",
        "{ v: false }",
        "{ v: NaN }",
        "{ v: 'NaN' }",
        "{ v: [] }",
        "{ v: {} }",
        "{ v: new Map() }",
        "{ v: new Set() }",
        "{ v: [undefined] }",
        "{ v: [null] }",
        "{ v: new Date(0) }",
        "{ v: new Date(NaN) }",
        "{ v: '1970-01-01T00:00:00.000Z' }",
        "{ v: new Map([['a', 1]]) }",
        "{ v: { a: 1 } }",
        "{ v: new Map([[1, 'a']]) }",
        "{ v: new Map([['1', 'a']]) }",
        "{ v: { 1: 'a' } }",
        "{ v: [['a', 1]] }",
        "{ v: 9007199254740993n }",
        "{ v: 9007199254740992 }",
        "{ v: 'é' }",
        "{ v: 'e\\u0301' }",
        "{ v: '\\ud800' }",
        "{ v: new Uint8Array([1]) }",
        "{ v: new Int8Array([1]) }",
        "{ v: new Uint8Array([1]).buffer }",
        "{ v: [1] }",
        "{ v: /a/ }",
        "{ v: /a/g }",
        "{ w: 1 }",
    ];
    let found: BTreeSet<_> = digests(&different.map(str::to_owned)).into_iter().collect();
    assert_eq!(found.len(), different.len());
    let same = [
        "{ a: 1, b: { c: 2, d: 3 } }",
        "{ b: { d: 3, c: 2 }, a: 1 }",
        "Object.freeze({ get b() { return { d: 3, c: 2.0 } }, a: 1 })",
    ];
    let found: BTreeSet<_> = digests(&same.map(str::to_owned)).into_iter().collect();
    assert_eq!(found.len(), 1);
    // No argument, and an empty one.
    let found: BTreeSet<_> = digests(&["", "undefined", "null", "{}"].map(str::to_owned)).into_iter().collect();
    assert_eq!(found.len(), 1);
}
