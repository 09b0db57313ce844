//! `chrysalid resume` and `inspect`: decisions, refusals, forks.

use std::fmt::Write;
use std::path::PathBuf;

use chrysalid::{Decision, Engine, Key, Value};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::sandbox::{KEY, Ran, Sandbox, TOOLS, waiting_to_pay, without_hashes};

const PAY_TWICE: &str = "
const one = async (amount) => {
  try { return await tools.pay({ amount }) } catch (error) { return `${error.name}: ${error.message}` }
};
console.log('paying');
await Promise.all([one(4), one(5)])";

fn paid(sandbox: &Sandbox) -> Vec<String> {
    sandbox.lines("paid.jsonl")
}

fn error_code(ran: &Ran) -> (Option<i32>, String) {
    let report = ran.json();
    assert_eq!(report["status"], "refused", "{ran:?}");
    (ran.exit, report["error"]["code"].as_str().unwrap().to_owned())
}

#[test]
fn decisions_are_carried_out_each_for_its_call() {
    let sandbox = Sandbox::with(TOOLS, PAY_TWICE);
    sandbox.save();
    let ran = sandbox.resume("--approve 1.1 --reject 1.2 --reason too~dear");
    let value = "[ { paid: true }, 'ToolRejected: pay was rejected: too dear' ]\n";
    assert_eq!(ran.parts(), (Some(0), value, ""));
    assert_eq!(paid(&sandbox), [r#"{"amount":4}"#]);
    assert_eq!(sandbox.names(), ["p.chry", "p.js", "paid.jsonl", "tools.toml"]);
}

#[test]
fn answers_and_edits_take_the_place_of_a_call() {
    let sandbox = Sandbox::with(TOOLS, PAY_TWICE);
    sandbox.save();
    let ran = sandbox.resume("--respond 1.1 null --edit 1.2 {\"amount\":1} --json");
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert_eq!(ran.json()["value"], json!([null, { "paid": true, "edited_by_human": { "amount": 1 } }]));
    assert_eq!(paid(&sandbox), [r#"{"amount":1}"#]);
}

#[test]
fn some_decisions_lead_to_the_next_pause_in_the_same_file() {
    let sandbox = Sandbox::with(TOOLS, PAY_TWICE);
    sandbox.save();
    let ran = sandbox.resume("--approve 1.2 --json");
    let report = ran.json();
    assert_eq!(
        (ran.exit, report["status"].as_str(), report["saved"].as_str()),
        (Some(3), Some("paused"), Some("p.chry"))
    );
    assert_eq!(report["pending"].as_array().unwrap().len(), 1);
    assert_eq!(report["logs"], json!([]));
    assert_eq!(sandbox.inspect("p.chry")["state"], "waiting");
    assert_eq!(error_code(&sandbox.resume("--approve 1.2 --json")), (Some(6), "already_decided".into()));
    assert_eq!(sandbox.resume("--approve 1.1").parts(), (Some(0), "[ { paid: true }, { paid: true } ]\n", ""));
    assert_eq!(paid(&sandbox), [r#"{"amount":5}"#, r#"{"amount":4}"#]);
}

const O12: &str = "console.log(\"before\"); await tools.pay({ amount: 4 }); console.log(\"after\"); \"end\"";

#[test]
fn o12_a_resumed_run_prints_only_what_is_new() {
    let sandbox = Sandbox::with(TOOLS, O12);
    let ran = sandbox.run("run p.js --tools tools.toml --save p.chry");
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(3), "before\n"));
    // Looking at the pause prints nothing either.
    assert_eq!(sandbox.resume("").stdout, "");
    assert_eq!(sandbox.resume("--approve 1.1").parts(), (Some(0), "after\n'end'\n", ""));
}

#[test]
fn o12_nor_does_its_document_repeat_lines_and_notes() {
    let source = format!("export default async () => {{ {} }}", O12.replace("\"end\"", "return \"end\""));
    let sandbox = Sandbox::with(TOOLS, &source);
    let first = sandbox.run("run p.js --tools tools.toml --save p.chry --json").json();
    let notes = json!(["no tool declares effects, so the rule of two is off", "the default export was called"]);
    assert_eq!((&first["logs"], &first["notes"]), (&json!([{ "level": "log", "text": "before" }]), &notes));
    assert_eq!(
        first["calls"],
        json!([{ "call": "1.1", "name": "pay", "status": "waiting", "ms": null, "place": "line 1" }])
    );
    let look = sandbox.resume("--json").json();
    assert_eq!((&look["logs"], &look["notes"], &look["pending"]), (&json!([]), &json!([]), &first["pending"]));
    assert_eq!((&look["run"], &look["calls"]), (&first["run"], &first["calls"]));
    let mut second = sandbox.resume("--approve 1.1 --json").json();
    assert!(second["calls"][0]["ms"].take().is_u64());
    assert_eq!((&second["logs"], &second["notes"]), (&json!([{ "level": "log", "text": "after" }]), &json!([])));
    let paid = json!([{
        "call": "1.1", "name": "pay", "status": "completed", "ms": null, "place": "line 1", "decision": "approve",
    }]);
    assert_eq!(second["calls"], paid);
    assert_eq!(second["value"], "end");
}

#[test]
fn s18_a_second_resume_is_refused() {
    let sandbox = Sandbox::with(TOOLS, "await tools.pay({ amount: 4 })");
    sandbox.save();
    let run = sandbox.inspect("p.chry")["sealed"]["run"].as_str().unwrap().to_owned();
    assert_eq!(sandbox.resume("--approve 1.1").exit, Some(0));
    let again = sandbox.resume("--approve 1.1");
    let message = format!("error: p.chry: was resumed already; its run {run} is done\n");
    assert_eq!(again.parts(), (Some(6), "", message.as_str()));
    assert_eq!(error_code(&sandbox.resume("--approve 1.1 --fork --json")), (Some(6), "already_decided".into()));
    assert_eq!(paid(&sandbox).len(), 1);
}

#[test]
fn h14_of_two_resumes_at_once_one_wins() {
    for _ in 0..5 {
        let sandbox = Sandbox::with(TOOLS, "await tools.pay({ amount: 9 })");
        sandbox.save();
        let both = [(); 2].map(|()| sandbox.begin_resume("--approve 1.1 --json"));
        let mut ran = both.map(|child| {
            let output = child.wait_with_output().unwrap();
            let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            (output.status.code(), report["error"]["code"].as_str().map(str::to_owned))
        });
        ran.sort();
        assert_eq!(ran, [(Some(0), None), (Some(6), Some("already_decided".into()))]);
        assert_eq!(paid(&sandbox), [r#"{"amount":9}"#]);
    }
}

#[test]
fn without_a_decision_nothing_changes() {
    let sandbox = Sandbox::with(TOOLS, PAY_TWICE);
    sandbox.save();
    let before = sandbox.bytes("p.chry");
    let ran = sandbox.resume("");
    let told = "paused: 2 calls wait for a decision\n  \
                1.1 pay (line 3) {\"amount\":4}\n      asks each time\n  \
                1.2 pay (line 3) {\"amount\":5}\n      asks each time\n\
                saved: p.chry\n";
    assert_eq!(ran.parts(), (Some(3), "", told));
    assert_eq!(sandbox.bytes("p.chry"), before);
}

#[test]
fn a_decision_that_does_not_fit_leaves_the_file_alone() {
    let sandbox = Sandbox::with(TOOLS, PAY_TWICE);
    sandbox.save();
    let before = sandbox.bytes("p.chry");
    let cases = [
        ("--approve 1.1 --approve 1.9", 2, "p.chry: no call 1.9 in this session"),
        ("--approve 1.1 --approve 2.1", 2, "p.chry: no call 2.1 in this session"),
        ("--approve 1.1 --edit 1.2 {}", 2, "p.chry: call 1.2: pay: missing \"amount\" (integer)"),
        ("--edit 1.2 {\"amount\":\"x\"}", 2, "p.chry: call 1.2: pay: \"amount\" must be an integer, got a string"),
        ("--approve 1.1 --save tools.toml", 2, "tools.toml: is a file of another kind, and is not replaced"),
        ("--approve 1.1 --approve 1.1", 2, "call 1.1 is decided twice"),
        (
            "--respond 1.1 {",
            2,
            "--respond 1.1: \"{\" is not one JSON value: EOF while parsing an object at line 1 column 1",
        ),
    ];
    for (options, exit, message) in cases {
        let ran = sandbox.resume(options);
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(exit), ""), "{options}");
        assert_eq!(ran.stderr.lines().next(), Some(format!("error: {message}").as_str()), "{options}");
        assert_eq!(sandbox.bytes("p.chry"), before, "{options}");
    }
    assert!(paid(&sandbox).is_empty());
    assert_eq!(sandbox.names(), ["p.chry", "p.js", "tools.toml"]);
}

#[test]
fn h16_a_tool_that_is_gone_or_changed_leaves_the_pause_alone() {
    let sandbox = Sandbox::with(TOOLS, "await tools.pay({ amount: 4 }); await tools.look({})");
    sandbox.save();
    let before = sandbox.bytes("p.chry");
    sandbox.write("tools.toml", "[tools.look]\ncommand = [\"true\"]");
    let gone = "error: p.chry: call 1.1 waits for the capability \"pay\", which is not here\n";
    assert_eq!(sandbox.resume("--approve 1.1").parts(), (Some(6), "", gone));
    sandbox.write("tools.toml", TOOLS.replace("integer", "string"));
    let stale = "error: p.chry: arguments of call 1.1 do not fit the schema of \"pay\" any more: \
                 pay: \"amount\" must be a string, got a number\n";
    assert_eq!(sandbox.resume("--approve 1.1").parts(), (Some(6), "", stale));
    assert_eq!(sandbox.bytes("p.chry"), before);
    // A tool that no call waits for may be gone: using it is the program's error.
    let only_pay = TOOLS.split("[tools.look]").next().unwrap();
    sandbox.write("tools.toml", only_pay);
    let ran = sandbox.resume("--approve 1.1");
    assert_eq!(ran.exit, Some(1));
    assert!(ran.stderr.starts_with("ToolUnavailable: tools.look does not exist.\n"), "{ran:?}");
    assert_eq!(paid(&sandbox).len(), 1);
}

#[test]
fn a_changed_tool_is_a_reason() {
    let sandbox = Sandbox::with(TOOLS, "await tools.pay({ amount: 4 })");
    sandbox.save();
    sandbox.write("tools.toml", TOOLS.replace("[tools.pay]", "[tools.pay]\ndescription = \"Pays double.\""));
    let ran = sandbox.resume("--json");
    let reasons = &ran.json()["pending"][0]["reasons"];
    assert_eq!(*reasons, json!(["asks each time", "the tool was changed since the call was made"]));
}

#[test]
fn files_that_are_no_snapshot_are_refused() {
    let sandbox = Sandbox::with(TOOLS, "await tools.pay({ amount: 4 })");
    sandbox.save();
    let good = sandbox.bytes("p.chry");
    assert_eq!(error_code(&sandbox.run("resume p.js --json")), (Some(6), "not_a_snapshot".into()));
    assert_eq!(error_code(&sandbox.run("inspect p.js --json")), (Some(6), "not_a_snapshot".into()));
    let ran = sandbox.run("resume p.js");
    assert_eq!(ran.parts(), (Some(6), "", "error: p.js: not a saved program\n"));
    let endless = sandbox.run("inspect /dev/zero");
    assert_eq!(endless.parts(), (Some(6), "", "error: /dev/zero: not a saved program\n"));
    let gone = sandbox.run("resume gone.chry");
    assert_eq!(gone.parts(), (Some(2), "", "error: cannot read gone.chry: No such file or directory (os error 2)\n"));
    sandbox.write("cut.chry", &good[..good.len() - 5]);
    assert_eq!(error_code(&sandbox.run("resume cut.chry --json")), (Some(6), "corrupt".into()));
    let mut newer = good.clone();
    newer[8] = 9;
    sandbox.write("newer.chry", newer);
    assert_eq!(error_code(&sandbox.run("resume newer.chry --json")), (Some(6), "other_version".into()));
    let other = sandbox.set("CHRYSALID_KEY", &"ab".repeat(32));
    assert_eq!(error_code(&other.resume("--approve 1.1 --json")), (Some(6), "unknown_key".into()));
    assert_eq!(other.bytes("p.chry"), good);
}

#[test]
fn a_bare_snapshot_is_resumed_once_too() {
    let sandbox = Sandbox::with(TOOLS, "await tools.pay({ amount: 4 })");
    sandbox.save();
    // Magic and version, kind, length, checks, time: the rest is the snapshot as the library made it.
    let bare = sandbox.bytes("p.chry")[10 + 17 + 8..].to_vec();
    sandbox.write("p.chry", &bare);
    assert_eq!(sandbox.inspect("p.chry")["pending"][0]["call"], "1.1");
    assert_eq!(sandbox.resume("").exit, Some(3));
    assert_eq!(sandbox.bytes("p.chry"), bare);
    assert_eq!(sandbox.resume("--approve 1.1").parts(), (Some(0), "{ paid: true }\n", ""));
    assert_eq!(sandbox.resume("--approve 1.1").exit, Some(6));
    assert_eq!(paid(&sandbox).len(), 1);
    let mut changed = bare;
    *changed.last_mut().unwrap() ^= 1;
    sandbox.write("p.chry", &changed);
    assert_eq!(error_code(&sandbox.resume("--approve 1.1 --json")), (Some(6), "bad_seal".into()));
}

#[test]
fn the_next_pause_may_go_elsewhere_and_the_file_says_so() {
    let sandbox = Sandbox::with(TOOLS, PAY_TWICE);
    sandbox.save();
    let ran = sandbox.resume("--approve 1.1 --save next.chry --json");
    assert_eq!((ran.exit, ran.json()["saved"].as_str()), (Some(3), Some("next.chry")));
    let again = sandbox.resume("--approve 1.2");
    let next = sandbox.folder().canonicalize().unwrap().join("next.chry");
    let message = format!("error: p.chry: was resumed already; its run goes on in {}\n", next.display());
    assert_eq!(again.parts(), (Some(6), "", message.as_str()));
    assert_eq!(sandbox.inspect("p.chry")["state"], "forwarded");
    let last = sandbox.run("resume next.chry --tools tools.toml --approve 1.2");
    assert_eq!(last.parts(), (Some(0), "[ { paid: true }, { paid: true } ]\n", ""));
    assert_eq!(paid(&sandbox).len(), 2);
}

#[test]
fn saving_into_the_same_file_is_the_default() {
    let sandbox = Sandbox::with(TOOLS, PAY_TWICE);
    sandbox.save();
    assert_eq!(sandbox.resume("--approve 1.1 --save ./p.chry").exit, Some(3));
    assert_eq!(sandbox.inspect("p.chry")["state"], "waiting");
}

#[test]
fn a_fork_is_a_run_of_its_own() {
    let sandbox = Sandbox::with(TOOLS, PAY_TWICE);
    sandbox.save();
    let before = sandbox.bytes("p.chry");
    let fork = sandbox.resume("--fork --approve 1.1 --save fork.chry --json");
    assert_eq!((fork.exit, fork.json()["saved"].as_str()), (Some(3), Some("fork.chry")));
    assert_eq!(sandbox.bytes("p.chry"), before);
    let unsaved = sandbox.resume("--fork --approve 1.1 --json");
    assert_eq!((unsaved.exit, unsaved.json()["saved"].as_str()), (Some(3), None));
    assert_eq!(sandbox.bytes("p.chry"), before);
    let runs = ["p.chry", "fork.chry"].map(|name| sandbox.inspect(name)["sealed"]["run"].clone());
    assert_ne!(runs[0], runs[1]);
    assert_eq!(fork.json()["run"], runs[1]);
    assert_eq!(sandbox.resume("--reject 1.1 --reject 1.2").exit, Some(0));
    assert_eq!(sandbox.run("resume fork.chry --tools tools.toml --approve 1.2").exit, Some(0));
    assert_eq!(paid(&sandbox), [r#"{"amount":4}"#, r#"{"amount":4}"#, r#"{"amount":5}"#]);
}

#[test]
fn inspect_tells_what_waits_and_shows_values_only_when_asked() {
    let sandbox = Sandbox::with(TOOLS, "await tools.look({}); await tools.pay({ amount: 1234 })");
    sandbox.save();
    let text = sandbox.run("inspect p.chry");
    assert_eq!(text.exit, Some(0));
    for part in [
        "p.chry: waiting, ",
        "key: 6f982645d47e1ddb\n",
        "  1.1 look: completed\n",
        "  1.2 pay (line 1)\n      asks each time\n",
    ] {
        assert!(text.stdout.contains(part), "{part}: {}", text.stdout);
    }
    assert!(!without_hashes(&text.stdout).contains("1234"));
    assert!(sandbox.run("inspect p.chry --values").stdout.contains("  1.2 pay (line 1) {\"amount\":1234}\n"));
    let report = sandbox.inspect("p.chry");
    let mut pending = report["pending"].clone();
    for hash in ["digest", "token", "program"] {
        assert_eq!(pending[0][hash].take().as_str().map(str::len), Some(64), "{hash}");
    }
    let expected = json!([{
        "call": "1.2", "name": "pay", "path": "tools.pay", "line": 1, "column": 35, "digest": null, "token": null,
        "program": null, "reasons": ["asks each time"], "effects": [], "met": [], "roles": [], "expires_at": null,
        "allowed": ["approve", "edit", "reject", "respond"],
    }]);
    assert_eq!(pending, expected);
    assert_eq!(report["image"]["guest_is_known"], true);
    let stranger = sandbox.set("CHRYSALID_KEY", &"cd".repeat(32));
    let sealed = stranger.inspect("p.chry");
    assert_eq!((&sealed["sealed"], &sealed["pending"]), (&json!(null), &json!([])));
    assert_eq!(sealed["image"]["key"], "6f982645d47e1ddb");
}

#[test]
fn the_key_may_come_from_a_file() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::with(TOOLS, "await tools.pay({ amount: 4 })");
    sandbox.write("key", "ef".repeat(32));
    std::fs::set_permissions(sandbox.path("key"), std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(sandbox.run("run p.js --tools tools.toml --save p.chry --key-file key").exit, Some(3));
    assert_eq!(error_code(&sandbox.resume("--approve 1.1 --json")), (Some(6), "unknown_key".into()));
    let bad = sandbox.resume("--approve 1.1 --key-file tools.toml --json");
    assert_eq!(error_code(&bad), (Some(2), "key".into()));
    assert_eq!(sandbox.resume("--approve 1.1 --key-file key").exit, Some(0));
}

/// A program saved by a release with another guest: the same one, with a custom section at its end.
fn saved_before_an_upgrade() -> (Vec<u8>, Vec<u8>) {
    let guest = [Engine::builder().pool_slots(0).build().unwrap().guest(), b"\0\x05\x04note"].concat();
    let key = Key::from_text(KEY).unwrap();
    let engine = Engine::builder().pool_slots(0).key(key).guest(guest.clone()).build().unwrap();
    (waiting_to_pay(&engine, "(await tools.pay({ amount: 4 })).paid").snapshot().unwrap(), guest)
}

/// Where the guest is kept: named by its hash.
fn kept_guest(sandbox: &Sandbox, guest: &[u8]) -> PathBuf {
    let mut path = String::from("chrysalid/guests/");
    for byte in Sha256::digest(guest) {
        write!(path, "{byte:02x}").unwrap();
    }
    sandbox.state().join(path + ".wasm")
}

#[test]
fn a_program_that_was_saved_before_an_upgrade_goes_on_with_the_guest_it_was_saved_with() {
    let (snapshot, guest) = saved_before_an_upgrade();
    let sandbox = Sandbox::with(TOOLS, "");
    sandbox.write("p.chry", &snapshot);
    let refused = sandbox.resume("--approve 1.1 --json");
    assert_eq!(error_code(&refused), (Some(6), "unknown_guest".to_owned()));

    let kept = kept_guest(&sandbox, &guest);
    std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
    std::fs::write(kept, guest).unwrap();
    let ran = sandbox.resume("--approve 1.1");
    assert_eq!(ran.parts(), (Some(0), "true\n", ""));
    assert_eq!(paid(&sandbox), [r#"{"amount":4}"#]);
}

/// The library may leave an answer in an image: the program goes on, and what it comes to is what is shown and saved.
#[test]
fn an_answer_in_the_image_takes_the_program_to_its_next_pause() {
    let engine = Engine::builder().pool_slots(0).key(Key::from_text(KEY).unwrap()).build().unwrap();
    let source = "await tools.pay({ amount: 1 }); for (let i = 0; i < 1e5; i++); (await tools.pay({ amount: 2 })).paid";
    let mut session = waiting_to_pay(&engine, source);
    let call = session.pending()[0].id;
    session.decide(call, Decision::Respond(Value::Null)).unwrap();
    let sandbox = Sandbox::with(TOOLS, "");
    sandbox.write("p.chry", session.snapshot().unwrap());

    let ran = sandbox.resume("--json");
    assert_eq!((ran.exit, &ran.json()["pending"][0]["call"]), (Some(3), &json!("1.2")));
    assert_eq!(sandbox.inspect("p.chry")["pending"][0]["call"], "1.2", "it is saved");
    assert_eq!(sandbox.resume("--approve 1.2").parts(), (Some(0), "true\n", ""));
    assert_eq!(paid(&sandbox), [r#"{"amount":2}"#]);
}

#[test]
fn saving_a_program_keeps_its_guest() {
    let sandbox = Sandbox::with(TOOLS, PAY_TWICE);
    sandbox.save();
    let guest = Engine::builder().pool_slots(0).build().unwrap().guest().to_vec();
    assert_eq!(std::fs::read(kept_guest(&sandbox, &guest)).unwrap(), guest);
}
