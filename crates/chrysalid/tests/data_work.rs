//! Programs of the kind that models write for data work. Each runs here and in Node, and has the same value and the
//! same console text in both. What Node 20 cannot run says in its first line what is expected.
//!
//! `cases/data_work/node.mjs` runs them there; it has the same tools over the same `data.json`, and the same canonical
//! text of values.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex};

use chrysalid::{CallResult, Capabilities, Capability, Ended, Restore, ToolError, Value};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::support::{ENGINE, Halt, World, drive_through_snapshots};

// ---- programs ----

struct Program {
    name: String,
    source: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/data_work")
}

fn programs() -> Vec<Program> {
    let files = std::fs::read_dir(folder()).unwrap().map(|file| file.unwrap().path());
    let mut programs: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "js"))
        .map(|path| Program {
            name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
            source: std::fs::read_to_string(path).unwrap(),
        })
        .collect();
    programs.sort_by(|one, other| one.name.cmp(&other.name));
    programs
}

/// What can be seen of a program that ended well.
#[derive(Debug, PartialEq)]
struct Seen {
    value: String,
    lines: Vec<String>,
}

impl Program {
    /// The expectation in the first lines, of a program that Node does not run.
    fn expected(&self) -> Option<Seen> {
        let mut lines = self.source.lines();
        let value = lines.next()?.strip_prefix("// expect: ")?.to_owned();
        assert!(lines.next().is_some_and(|line| line.starts_with("// reason: ")), "{}: no reason", self.name);
        let printed = lines.map_while(|line| line.strip_prefix("// prints: "));
        Some(Seen { value, lines: printed.map(str::to_owned).collect() })
    }

    fn run(&self) -> Result<Seen, String> {
        let world = World::new();
        let mut session = ENGINE.session(&tools(&world)).map_err(|error| error.to_string())?;
        session.start(&self.source).map_err(|error| error.to_string())?;
        match world.drive(&mut session) {
            Halt::Ended(ended) => seen(ended),
            Halt::Paused(pause) => Err(format!("paused: {pause:?}")),
        }
    }

    /// As [`Program::run`], through a snapshot after every step that allows one.
    fn run_through_snapshots(&self) -> Result<Seen, String> {
        let world = World::new();
        let tools = tools(&world);
        let mut session = ENGINE.session(&tools).map_err(|error| error.to_string())?;
        session.start(&self.source).map_err(|error| error.to_string())?;
        seen(drive_through_snapshots(&world, session, |session| {
            let image = session.snapshot().ok()?;
            Some(ENGINE.restore(&image, &tools, Restore::Resume).unwrap())
        }))
    }
}

/// The value and the console lines, or how it failed.
fn seen(ended: Ended) -> Result<Seen, String> {
    let value = ended.result.map_err(|failure| format!("{failure}\n{}", failure.stack))?;
    let lines = ended.logs.iter().map(|line| format!("{} {}", line.level.name(), line.text)).collect();
    Ok(Seen { value: canonical(&value), lines })
}

// ---- Node ----

#[derive(Deserialize)]
struct NodeLine {
    name: String,
    value: Option<String>,
    #[serde(default)]
    lines: Vec<String>,
    error: Option<String>,
}

/// What Node saw of every program that it can run, by name.
fn seen_by_node() -> BTreeMap<String, Result<Seen, String>> {
    let node = std::env::var_os("CHRYSALID_NODE").unwrap_or_else(|| "node".into());
    let output = Command::new(&node).arg(folder().join("node.mjs")).arg(folder()).output().unwrap_or_else(|error| {
        let node = node.display();
        panic!(
            "these programs are compared with Node 20 or later, and {node} does not start ({error}): set CHRYSALID_NODE"
        )
    });
    assert!(output.status.success(), "node failed: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| {
            let NodeLine { name, value, lines, error } = serde_json::from_str(line).unwrap();
            (name, value.map(|value| Seen { value, lines }).ok_or_else(|| error.unwrap_or_default()))
        })
        .collect()
}

// ---- canonical text ----

/// JSON in which what JSON has not is an object with one `$` key. Keys keep their order; a key of the program that
/// begins with `$` gets another.
fn canonical(value: &Value) -> String {
    match value {
        Value::Undefined => tagged("undefined", "true"),
        Value::Hole => tagged("hole", "true"),
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => canonical_number(*number),
        Value::BigInt(number) => tagged("bigint", &quoted(&number.to_string())),
        Value::String(text) => quoted(text),
        Value::ArrayBuffer(bytes) => {
            let bytes: Vec<_> = bytes.iter().map(|byte| Value::from(u32::from(*byte))).collect();
            tagged("buffer", &list(&bytes))
        }
        Value::TypedArray(array) => {
            let elements: Vec<_> = array.elements().collect();
            tagged("typed", &format!("[{},{}]", quoted(array.kind.name()), list(&elements)))
        }
        Value::Date(millis) => tagged("date", &canonical_number(*millis)),
        Value::RegExp(pattern) => tagged("regexp", &quoted(&format!("/{}/{}", pattern.source, pattern.flags))),
        Value::Array(items) => list(items),
        Value::Set(items) => tagged("set", &list(items)),
        Value::Map(entries) => {
            let entries: Vec<_> =
                entries.iter().map(|(key, value)| format!("[{},{}]", canonical(key), canonical(value))).collect();
            tagged("map", &format!("[{}]", entries.join(",")))
        }
        Value::Object(object) => {
            let mut text = String::from("{");
            for (key, value) in object {
                let comma = if text.len() > 1 { "," } else { "" };
                let dollar = if key.starts_with('$') { "$" } else { "" };
                write!(text, "{comma}{}:{}", quoted(&format!("{dollar}{key}")), canonical(value)).unwrap();
            }
            text + "}"
        }
        Value::Error(error) => tagged("error", &format!("[{},{}]", quoted(&error.name), quoted(&error.message))),
        Value::Ref(index) => tagged("ref", &index.to_string()),
        Value::Description(text) => tagged("description", &quoted(text)),
        Value::Handle(handle) => tagged("handle", &quoted(&handle.to_string())),
    }
}

/// A safe integer as it is; any other in the text that JavaScript gives it.
fn canonical_number(number: f64) -> String {
    let text = Value::Number(number).to_string();
    let is_safe = number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 && text != "-0";
    if is_safe { text } else { tagged("number", &quoted(&text)) }
}

fn list(items: &[Value]) -> String {
    format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(","))
}

fn tagged(tag: &str, text: &str) -> String {
    format!("{{\"${tag}\":{text}}}")
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

// ---- tools ----

static DATA: LazyLock<Json> =
    LazyLock::new(|| serde_json::from_slice(&std::fs::read(folder().join("data.json")).unwrap()).unwrap());

/// What the tools of one run remember.
#[derive(Default)]
struct Memory {
    attempts: HashMap<String, u32>,
    mails: u32,
}

type Act = fn(&mut Memory, &Json) -> Result<Json, ToolError>;

const TOOLS: [(&str, Act); 10] = [
    ("list_orders", |_, argument| Ok(list_orders(argument))),
    ("get_customer", |_, argument| get_customer(argument)),
    ("flaky", flaky),
    ("search", |_, argument| Ok(search(argument))),
    ("inventory", |_, argument| inventory(argument)),
    ("fx_rates", |_, argument| fx_rates(argument)),
    ("send_mail", send_mail),
    ("fetch_text", |_, argument| fetch_text(argument)),
    ("list_events", |_, argument| Ok(list_events(argument))),
    ("employees", |_, _| Ok(DATA["employees"].clone())),
];

fn tools(world: &World) -> Capabilities {
    let memory = Arc::new(Mutex::new(Memory::default()));
    let own = TOOLS.into_iter().map(|(name, act)| {
        let memory = Arc::clone(&memory);
        Capability::raw(name, move |_, argument| std::future::ready(answer(&memory, &argument, act)))
    });
    Capabilities::new(own.chain([world.slow(), world.slow_fail()])).unwrap()
}

fn answer(memory: &Mutex<Memory>, argument: &Value, act: Act) -> CallResult {
    let argument = argument.to_json().map_err(|error| ToolError::input(error.to_string()))?;
    let answer = act(&mut memory.lock().unwrap(), &argument)?;
    Ok(Value::from_json(answer).unwrap())
}

fn items(name: &str) -> &'static [Json] {
    DATA[name].as_array().unwrap()
}

fn index(argument: &Json, name: &str, default: usize) -> usize {
    argument[name].as_u64().map_or(default, |number| usize::try_from(number).unwrap())
}

fn list_orders(argument: &Json) -> Json {
    let (page, page_size) = (index(argument, "page", 1), index(argument, "page_size", 5));
    let status = argument.get("status");
    let matching: Vec<_> =
        items("orders").iter().filter(|order| status.is_none_or(|status| order["status"] == *status)).collect();
    let pages = matching.len().div_ceil(page_size);
    let orders: Vec<_> = matching.iter().skip((page - 1) * page_size).take(page_size).collect();
    json!({ "has_more": page < pages, "orders": orders, "page": page, "pages": pages, "total": matching.len() })
}

fn get_customer(argument: &Json) -> Result<Json, ToolError> {
    let id = &argument["id"];
    let customer = items("customers").iter().find(|customer| customer["id"] == *id);
    customer.cloned().ok_or_else(|| ToolError::new(format!("no customer with id {id}")))
}

fn flaky(memory: &mut Memory, argument: &Json) -> Result<Json, ToolError> {
    let key = argument["key"].as_str().unwrap_or_default();
    let attempt = memory.attempts.entry(key.to_owned()).or_default();
    *attempt += 1;
    if *attempt < 3 {
        return Err(ToolError::retryable(format!("{key} is temporarily unavailable")));
    }
    Ok(json!({ "attempt": *attempt, "key": key }))
}

fn search(argument: &Json) -> Json {
    let word = argument["query"].as_str().unwrap_or_default().to_lowercase();
    let mut hits: Vec<_> = items("articles")
        .iter()
        .map(|article| {
            let text = format!("{} {}", article["title"].as_str().unwrap(), article["body"].as_str().unwrap());
            (text.to_lowercase().matches(&word).count(), article)
        })
        .filter(|(score, _)| *score > 0)
        .collect();
    hits.sort_by_key(|(score, _)| Reverse(*score));
    let hits = hits.iter().take(index(argument, "limit", 3));
    hits.map(|(score, hit)| json!({ "id": hit["id"], "score": score, "title": hit["title"] })).collect()
}

fn inventory(argument: &Json) -> Result<Json, ToolError> {
    let sku = argument["sku"].as_str().unwrap_or_default();
    DATA["inventory"].get(sku).cloned().ok_or_else(|| ToolError::new(format!("unknown sku {sku}")))
}

fn fx_rates(argument: &Json) -> Result<Json, ToolError> {
    let base = argument["base"].as_str().unwrap_or_default();
    let rates = DATA["rates"].get(base).ok_or_else(|| ToolError::new(format!("no rates for {base}")))?;
    Ok(json!({ "base": base, "rates": rates }))
}

fn send_mail(memory: &mut Memory, argument: &Json) -> Result<Json, ToolError> {
    if !argument["to"].as_str().is_some_and(|to| to.contains('@')) {
        return Err(ToolError::new("invalid address"));
    }
    memory.mails += 1;
    Ok(json!({ "count": memory.mails, "id": format!("mail-{}", memory.mails) }))
}

fn fetch_text(argument: &Json) -> Result<Json, ToolError> {
    let name = argument["name"].as_str().unwrap_or_default();
    DATA["texts"].get(name).cloned().ok_or_else(|| ToolError::new(format!("not found: {name}")))
}

fn list_events(argument: &Json) -> Json {
    let start = argument["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
    let limit = index(argument, "limit", 4);
    let events = items("events");
    let next = (start + limit < events.len()).then(|| (start + limit).to_string());
    json!({ "events": events.iter().skip(start).take(limit).collect::<Vec<_>>(), "next_cursor": next })
}

// ---- tests ----

#[test]
fn the_programs_are_many_and_differ() {
    let programs = programs();
    assert!(programs.len() >= 200, "{} programs", programs.len());
    let texts: BTreeSet<_> = programs.iter().map(|program| program.source.trim()).collect();
    assert_eq!(texts.len(), programs.len(), "some have the same text");
    let by_hand = programs.iter().filter(|program| program.expected().is_some()).count();
    assert!(by_hand <= 25, "{by_hand} are not compared with Node");
    let with_tools = programs.iter().filter(|program| program.source.contains("tools.")).count();
    assert!(with_tools >= 70, "{with_tools} use tools");
}

#[test]
fn every_program_does_here_what_it_does_in_node() {
    let mut node = seen_by_node();
    let mut faults = Vec::new();
    for program in programs() {
        let here = program.run();
        let there = program.expected().map(Ok).or_else(|| node.remove(&program.name));
        let there = there.unwrap_or_else(|| Err("Node did not run it".to_owned()));
        if there.is_err() || here != there {
            faults.push(format!("{}\n  here:     {here:?}\n  expected: {there:?}", program.name));
        } else if here.is_ok_and(|seen| seen.value == canonical(&Value::Undefined)) {
            faults.push(format!("{} has no value", program.name));
        }
    }
    assert!(faults.is_empty(), "{} programs differ:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_snapshot_at_every_step_changes_nothing_for_programs_with_tools() {
    for program in programs().iter().filter(|program| program.source.contains("tools.")) {
        assert_eq!(program.run_through_snapshots(), program.run(), "{}", program.name);
    }
}
