//! A program that waits for a person in one process and goes on in another. Run by `cargo xtask test`.
//!
//! Without arguments this is the first process: it runs the program until `pay` needs an approval, writes the snapshot
//! to a file, and starts itself again. The second process knows nothing but the file and the key. It restores, approves
//! and prints the result. Both tools write a line to a ledger, which shows at the end that each ran once.
//!
//! ```console
//! $ cargo run --release -p chrysalid --features tokio --example durable_approval
//! ```

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use chrysalid::{Approval, Capabilities, Capability, Decision, Engine, Key, Outcome, Restore, TokioTimer, ToolError};
use serde::Deserialize;
use serde_json::json;

const PROGRAM: &str = "
    const offers = await tools.offers({ item: 'tea' });
    const cheapest = offers.reduce((a, b) => (b.price < a.price ? b : a));
    const receipt = await tools.pay({ to: cheapest.shop, amount: cheapest.price });
    `${offers.length} offers, ${receipt}`
";

#[derive(Deserialize)]
struct Order {
    to: String,
    amount: u32,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.as_slice() {
        [] => first_process().await,
        [folder] => second_process(Path::new(folder)).await,
        _ => Err("usage: durable_approval".into()),
    }
}

async fn first_process() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let key = Key::generate()?;
    let engine = Engine::builder().pool_slots(0).key(key.clone()).build()?;

    let mut session = engine.session(&tools(folder.path())?)?;
    let Outcome::Paused(pause) = session.run(PROGRAM, &TokioTimer).await? else {
        return Err("the program did not wait for its approval".into());
    };
    let snapshot = session.snapshot()?;
    fs::write(folder.path().join("snapshot.chry"), &snapshot)?;
    let waiting = pause.pending.first().ok_or("no call waits")?;
    println!("process {}: {} {} waits", std::process::id(), waiting.id, waiting.name);
    println!("process {}: saved {} bytes", std::process::id(), snapshot.len());
    // Nothing of the session is left here.
    drop((session, engine));
    assert_eq!(ledger(folder.path())?, ["offers"]);

    // A secret travels by a channel of its own, and not in the file or on the command line.
    let mut second = Command::new(std::env::current_exe()?);
    let status = second.arg(folder.path()).env("CHRYSALID_KEY", key.to_text()).status()?;
    assert!(status.success(), "the second process failed: {status}");
    assert_eq!(ledger(folder.path())?, ["offers", "pay"]);
    Ok(())
}

async fn second_process(folder: &Path) -> Result<(), Box<dyn Error>> {
    let key = Key::from_environment()?.ok_or("no key")?;
    let engine = Engine::builder().pool_slots(0).key(key).build()?;

    let snapshot = fs::read(folder.join("snapshot.chry"))?;
    let mut session = engine.restore(&snapshot, &tools(folder)?, Restore::Resume)?;
    let pending = session.pending();
    let call = pending.first().ok_or("no call waits")?;
    println!("process {}: approves {} {}", std::process::id(), call.name, call.argument);
    session.decide(call.id, Decision::Approve)?;

    let Outcome::Done(done) = session.resume(&TokioTimer).await? else {
        return Err("the program did not end".into());
    };
    let value = done.result?;
    println!("process {}: {value}", std::process::id());
    assert_eq!(value.as_str(), Some("2 offers, paid 4 to Harbour"));
    Ok(())
}

/// The same set in both processes: a snapshot holds the names of tools, never their code.
fn tools(folder: &Path) -> Result<Capabilities, Box<dyn Error>> {
    let notes = folder.to_owned();
    let offers = Capability::new("offers", move |_: HashMap<String, String>| {
        let notes = notes.clone();
        async move {
            note(&notes, "offers")?;
            Ok::<_, ToolError>(json!([{ "shop": "Corner", "price": 6 }, { "shop": "Harbour", "price": 4 }]))
        }
    });
    let notes: PathBuf = folder.to_owned();
    let pay = Capability::new("pay", move |order: Order| {
        let notes = notes.clone();
        async move {
            note(&notes, "pay")?;
            Ok::<_, ToolError>(format!("paid {} to {}", order.amount, order.to))
        }
    })
    .input_schema(json!({
        "type": "object",
        "required": ["to", "amount"],
        "properties": { "to": { "type": "string" }, "amount": { "type": "integer", "maximum": 50 } }
    }))
    .approval(Approval::Ask);
    Ok(Capabilities::new([offers, pay])?)
}

fn note(folder: &Path, line: &str) -> std::io::Result<()> {
    let path = folder.join("ledger");
    writeln!(fs::OpenOptions::new().create(true).append(true).open(path)?, "{line}")
}

fn ledger(folder: &Path) -> std::io::Result<Vec<String>> {
    Ok(fs::read_to_string(folder.join("ledger"))?.lines().map(str::to_owned).collect())
}
