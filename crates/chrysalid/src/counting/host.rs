//! Work of the host on fixed inputs: what it does for calls, values, programs, reports and snapshots.
//!
//! The inputs are made here, without an engine, and are of the size that agents' programs have: tens of records, not
//! thousands.

#![allow(clippy::expect_used, reason = "work that fails has no count")]

use std::hint::black_box;

use chrysalid_policy::{Decision, Effects, Request, Rules, Taint, decide};
use serde_json::{Value as Json, json};

use crate::call::{CallPlace, CallStatus};
use crate::capability::Schema;
use crate::key::{Key, KeyRing};
use crate::outcome::{Ended, Heap, LogLevel, LogLine, Outcome};
use crate::program;
use crate::report::{Report, ReportStyle};
use crate::session::state::{State, StoredCall};
use crate::snapshot::format::{self, Contents, Identity, PAGE};
use crate::snapshot::{header, open_header, pages};
use crate::value::wire::{self, Bounds};
use crate::value::{Value, from_value, to_value};

/// One piece of work, to be done any number of times.
pub type Work = Box<dyn FnMut()>;
/// A kind of work by its name, and what makes its input.
pub type Kind = (&'static str, fn() -> Work);

/// All kinds.
pub const HOST: &[Kind] = &[
    ("encode a value", encode),
    ("encode a value's canonical form", encode_canonical),
    ("decode a value", decode),
    ("value to JSON", to_json),
    ("value from JSON", from_json),
    ("value from serde", from_serde),
    ("value to serde", to_serde),
    ("check arguments by a schema", schema),
    ("refuse arguments by a schema", schema_refuses),
    ("decide about a call by rules", policy),
    ("prepare a program in JavaScript", javascript),
    ("prepare a program in TypeScript", typescript),
    ("text of a report", report),
    ("pack a session's state", pack_state),
    ("unpack a session's state", unpack_state),
    ("find pages by comparing", compare),
    ("pack pages", pack),
    ("unpack pages", unpack),
    ("seal a snapshot", seal),
    ("open a snapshot", open),
];

const BOUNDS: Bounds = Bounds { bytes: 4 << 20, depth: 512, nodes: 1_000_000 };

fn records() -> Json {
    let record = |id: u32| {
        json!({
            "id": id,
            "name": format!("customer number {id}"),
            "email": format!("person.{id}@example.org"),
            "active": id.is_multiple_of(3),
            "balance": f64::from(id) * 1.25,
            "tags": ["new", "nörth", null],
            "address": { "street": "Long Street 7", "city": "Springfield", "zip": "12345" },
        })
    };
    (0..50).map(record).collect()
}

fn value() -> Value {
    Value::from_json(records()).expect("the records are a value")
}

fn encode() -> Work {
    let value = value();
    Box::new(move || drop(black_box(wire::encode(&value, &BOUNDS).expect("it can be encoded"))))
}

fn encode_canonical() -> Work {
    let value = value();
    Box::new(move || drop(black_box(wire::encode_canonical(&value, &BOUNDS).expect("it can be encoded"))))
}

fn decode() -> Work {
    let bytes = wire::encode(&value(), &BOUNDS).expect("it can be encoded");
    Box::new(move || drop(black_box(wire::decode(&bytes, &BOUNDS).expect("it can be decoded"))))
}

fn to_json() -> Work {
    let value = value();
    Box::new(move || drop(black_box(value.to_json().expect("it has JSON"))))
}

fn from_json() -> Work {
    let records = records();
    Box::new(move || drop(black_box(Value::from_json(records.clone()).expect("it is a value"))))
}

fn from_serde() -> Work {
    let records = records();
    Box::new(move || drop(black_box(to_value(&records).expect("it is a value"))))
}

fn to_serde() -> Work {
    let value = value();
    Box::new(move || drop(black_box(from_value::<Json>(value.clone()).expect("it is JSON"))))
}

fn compiled() -> Schema {
    let schema = json!({
        "type": "array",
        "maxItems": 1000,
        "items": {
            "type": "object",
            "required": ["id", "name", "email"],
            "additionalProperties": false,
            "properties": {
                "id": { "type": "integer", "minimum": 0 },
                "name": { "type": "string", "maxLength": 80 },
                "email": { "type": "string", "pattern": "^[^@ ]+@[^@ ]+$" },
                "active": { "type": "boolean" },
                "balance": { "type": "number" },
                "tags": { "type": "array", "items": { "enum": ["new", "nörth", null] } },
                "address": { "type": "object", "additionalProperties": { "type": "string" } },
            },
        },
    });
    Schema::compile("import_customers", &schema).expect("the schema compiles")
}

fn schema() -> Work {
    let (schema, value) = (compiled(), value());
    Box::new(move || black_box(schema.check(&value, BOUNDS.bytes)).expect("it fits"))
}

fn schema_refuses() -> Work {
    let mut records = records();
    if let Some(email) = records.pointer_mut("/40/email") {
        *email = Json::from("nobody");
    }
    let (schema, value) = (compiled(), Value::from_json(records).expect("the records are a value"));
    Box::new(move || drop(black_box(schema.check(&value, BOUNDS.bytes).expect_err("it does not fit"))))
}

const RULES: &str = r#"
default = "ask"

[[rules]]
tools = ["bank.*"]
when = { amount = { above = 100 } }
decision = "ask"
reason = "more than 100 is paid by the treasurer"
role = "treasurer"

[[rules]]
tools = "mail.send"
when = { "to[].address" = { domain_not_in = ["own.example", "*.own.example"] } }
met = ["private"]
decision = "deny"
reason = "private data stays in the house"

[[rules]]
tools = "mail.send"
when = { "to[].address" = { domain_in = ["own.example", "*.own.example"] }, "files[]" = { within = "/srv/out" } }
decision = "allow"
"#;

fn policy() -> Work {
    let rules = Rules::parse(RULES).expect("the rules can be read");
    let to: Vec<Json> = (0..20).map(|n| json!({ "address": format!("person.{n}@mail.own.example") })).collect();
    let argument = json!({ "to": to, "subject": "minutes", "files": ["/srv/out/a.pdf", "/srv/out/b/c.pdf"] });
    let argument = Value::from_json(argument).expect("the argument is a value");
    let mut taint = Taint::default();
    taint.join(Effects::PRIVATE, "budget.read (call 1.1, line 3)");
    Box::new(move || {
        let effects = Effects::ACTS;
        let request = Request { name: "mail.send", argument: &argument, effects, carried: Effects::NONE, ask: false };
        assert_eq!(black_box(decide(&request, &taint, &rules)), Decision::Allow);
    })
}

const JAVASCRIPT: &str = include_str!("host/program.js");
const TYPESCRIPT: &str = include_str!("host/program.ts");

fn javascript() -> Work {
    Box::new(|| drop(black_box(program::prepare(JAVASCRIPT).expect("it can be prepared"))))
}

fn typescript() -> Work {
    Box::new(|| drop(black_box(program::prepare(TYPESCRIPT).expect("it can be prepared"))))
}

fn report() -> Work {
    let line = |n: u32| LogLine {
        level: LogLevel::Log,
        text: format!("row {n}: <result> of customer {n} 👩‍🚀 is {}", n * 7),
    };
    let outcome = Outcome::Done(Ended {
        result: Ok(value()),
        logs: (0..100).map(line).collect(),
        notes: vec!["code fence removed".to_owned()],
        calls: Vec::new(),
        heap: Heap::Intact,
        value_name: Some("customers".to_owned()),
    });
    Box::new(move || drop(black_box(Report::of(&outcome).text(&ReportStyle::default()))))
}

/// With the record of two hundred calls that have ended.
fn state() -> State {
    let mut state = State::new([1; 16], [2; 32]);
    state.taint.join(Effects::PRIVATE, "mail.read (call 1.1, line 3)");
    (state.programs, state.last_call) = (21, 200);
    for number in 1..=200 {
        let call = StoredCall {
            program: 1 + number / 10,
            name: if number.is_multiple_of(3) { "web.get" } else { "mail.read" }.into(),
            status: CallStatus::Completed,
            open: None,
            took_millis: Some(number * 37 % 900),
            place: Some(CallPlace { file: None, line: number % 40, column: 7 }),
            decided: None,
            grant: None,
            changed: None,
        };
        state.calls.insert(number, call);
    }
    state
}

fn pack_state() -> Work {
    let state = state();
    Box::new(move || drop(black_box(header(&state).expect("it can be packed"))))
}

fn unpack_state() -> Work {
    let packed = header(&state()).expect("it can be packed");
    Box::new(move || drop(black_box(open_header(&packed).expect("it can be unpacked"))))
}

const KEY: [u8; 32] = [7; 32];
const IDENTITY: Identity = Identity { guest: [0xab; 32], abi: 3 };
const BASELINE_PAGES: usize = 336;
const MEMORY_PAGES: usize = 352;

/// Memory as a session leaves it: of the baseline some pages with a few words changed, new ones of text, and of objects.
struct Memory {
    baseline: Vec<u8>,
    now: Vec<u8>,
    changed: Vec<u32>,
}

impl Memory {
    fn new() -> Self {
        let mut noise = Noise(1);
        let mut baseline = Vec::with_capacity(BASELINE_PAGES * PAGE);
        while baseline.len() < BASELINE_PAGES * PAGE {
            // An address, a small number, nothing.
            let words = [0x0010_0000 | noise.below(0x000f_ffff) & !7, noise.below(64), 0, 0];
            baseline.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
        let mut now = baseline.clone();
        for page in now.chunks_exact_mut(PAGE).step_by(6) {
            for word in page.chunks_exact_mut(4).skip(5).step_by(61) {
                word.copy_from_slice(&noise.below(u32::MAX).to_le_bytes());
            }
        }
        let text = records().to_string();
        now.extend(text.bytes().cycle().take((MEMORY_PAGES - BASELINE_PAGES) / 2 * PAGE));
        let objects = (MEMORY_PAGES * PAGE - now.len()) / 64;
        for number in (0_u32..).take(objects) {
            let words = [0x0010_0000 + 64 * number, 1, 0xffff_fff9, number, 0, 0x0020_0000 + 32 * number];
            now.extend(words.iter().chain(&[0; 10]).flat_map(|word| word.to_le_bytes()));
        }
        let changed = pages::changed_by_comparing(&now, &baseline);
        Self { baseline, now, changed }
    }

    fn pack(&self) -> Vec<u8> {
        pages::pack(&self.now, &self.baseline, self.changed.iter().copied()).expect("it can be packed")
    }
}

/// The same numbers everywhere.
struct Noise(u64);

impl Noise {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 33).unwrap_or(0) % bound
    }
}

fn compare() -> Work {
    let memory = Memory::new();
    Box::new(move || drop(black_box(pages::changed_by_comparing(&memory.now, &memory.baseline))))
}

fn pack() -> Work {
    let memory = Memory::new();
    Box::new(move || drop(black_box(memory.pack())))
}

fn unpack() -> Work {
    let memory = Memory::new();
    let packed = memory.pack();
    Box::new(move || {
        let mut sum = 0_u32;
        pages::unpack(&packed, &memory.baseline, memory.now.len() as u64, |_, page| {
            sum = sum.wrapping_add(page.first().copied().map_or(0, u32::from));
            Ok(())
        })
        .expect("it can be unpacked");
        black_box(sum);
    })
}

fn contents() -> Contents {
    let memory = Memory::new();
    let header = records().to_string().into_bytes();
    Contents { header, memory_len: memory.now.len() as u64, follows: None, pages: memory.pack() }
}

fn seal() -> Work {
    let (key, contents) = (Key::from_bytes(KEY), contents());
    Box::new(move || drop(black_box(format::write(&IDENTITY, &key, &contents).expect("it can be sealed"))))
}

fn open() -> Work {
    let keys = KeyRing { current: Some(Key::from_bytes(KEY)), old: Vec::new() };
    let sealed = format::write(&IDENTITY, &Key::from_bytes(KEY), &contents()).expect("it can be sealed");
    Box::new(move || drop(black_box(format::read(&sealed, &IDENTITY, &keys, 4 << 20).expect("it can be opened"))))
}
