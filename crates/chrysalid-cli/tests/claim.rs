//! A process that is killed at each step of a claim: nothing is lost, and nothing happens twice unless somebody forks.
//!
//! Tools kill the process that called them; between calls, the test kills it once the file shows how far it is.

use std::process::Child;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::sandbox::{Ran, Sandbox, until};

/// `pay` kills its caller before or after it paid, if a file asks for that; `stop` always does.
const TOOLS: &str = r#"
[tools.pay]
command = ["sh", "-c", "rm before 2>/dev/null && kill -9 $PPID && exit; cat >> paid; echo >> paid; rm after 2>/dev/null && kill -9 $PPID; echo 1"]
approval = "ask"
idempotent = true

[tools.look]
command = ["echo", "7"]
"#;

const PAY: &str = "const said = await tools.pay({ n: 1 }).catch((error) => error.message);
while (said === 'pay was rejected: spin') {}
said";

fn claimed(sandbox: &Sandbox) -> Json {
    let report = sandbox.inspect("p.chry");
    assert_eq!(report["state"], "claimed", "{report}");
    assert_eq!(report["claims"].as_array().unwrap().len(), 1);
    report["claims"][0].clone()
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn refused(ran: &Ran) -> (Json, String) {
    let report = ran.json();
    assert_eq!((ran.exit, &report["error"]["code"]), (Some(6), &json!("already_decided")), "{ran:?}");
    (report["calls"].clone(), report["error"]["message"].as_str().unwrap().to_owned())
}

#[test]
fn killed_before_the_claim_nothing_has_happened() {
    let sandbox = Sandbox::with(TOOLS, PAY);
    sandbox.save();
    let image = sandbox.bytes("p.chry");
    // A claim that was cut off in the middle is none.
    let mut torn = image.clone();
    torn.extend([2, 200, 0, 0, 0, 1, 2, 3]);
    sandbox.write("p.chry", &torn);
    assert_eq!(sandbox.inspect("p.chry")["state"], "waiting");
    assert_eq!(sandbox.resume("").exit, Some(3));
    assert_eq!(sandbox.resume("--approve 1.1").parts(), (Some(0), "1\n", ""));
    assert_eq!(sandbox.lines("paid").len(), 1);
}

#[test]
fn killed_after_the_claim_it_is_not_resumed_again() {
    let sandbox = Sandbox::with(TOOLS, PAY);
    sandbox.save();
    let length = sandbox.bytes("p.chry").len();
    let child = sandbox.begin_resume("--reject 1.1 --reason spin --cpu-time 60s");
    until("the file is claimed", || sandbox.bytes("p.chry").len() > length);
    kill(child);
    let claim = claimed(&sandbox);
    assert_eq!(claim["decisions"], json!([{ "call": "1.1", "decision": "reject", "reason": "spin" }]));
    assert_eq!((&claim["fork"], &claim["calls"]), (&json!(false), &json!([])));
    let before = sandbox.bytes("p.chry");
    let (calls, message) = refused(&sandbox.resume("--approve 1.1 --json"));
    assert_eq!(calls, json!([]));
    assert_eq!(
        message,
        "p.chry: was resumed already, and that process ended without a word; no call was left unanswered; \
         --fork goes on from the pause before it"
    );
    assert_eq!(sandbox.bytes("p.chry"), before);
    assert_eq!(sandbox.resume("--fork --approve 1.1").parts(), (Some(0), "1\n", ""));
    assert_eq!(sandbox.lines("paid").len(), 1);
    assert_eq!(sandbox.inspect("p.chry")["state"], "ended");
}

#[test]
fn killed_while_a_call_runs_the_call_is_unknown() {
    for (moment, paid) in [("before", 0), ("after", 1)] {
        let sandbox = Sandbox::with(TOOLS, PAY);
        sandbox.save();
        sandbox.write(moment, "");
        assert_eq!(sandbox.resume("--approve 1.1").exit, None, "{moment}");
        let call = json!({ "call": "1.1", "name": "pay", "status": "unknown", "ms": null });
        until("the tool is done", || sandbox.lines("paid").len() == paid);
        let claim = claimed(&sandbox);
        assert_eq!(claim["calls"], json!([call]), "{moment}");
        let (calls, message) = refused(&sandbox.resume("--approve 1.1 --json"));
        assert_eq!(calls, json!([call]));
        assert!(message.contains("begun, and whether they were done is not known: 1.1 pay;"), "{message}");
        assert_eq!(sandbox.lines("paid").len(), paid, "nothing ran again");
        // A person found out and says so.
        let fork = sandbox.resume("--fork --respond 1.1 1 --json");
        assert_eq!((fork.exit, &fork.json()["value"]), (Some(0), &json!(1)));
        assert_eq!(fork.json()["notes"], json!(["call 1.1 pay was begun before, and may have been done"]));
        assert_ne!(fork.json()["run"], claim["run"]);
        assert_eq!(sandbox.lines("paid").len(), paid);
    }
}

#[test]
fn killed_after_a_call_the_call_is_completed() {
    let sandbox = Sandbox::with(TOOLS, "await tools.pay({ n: 1 }); await tools.pay({ n: 2 })");
    sandbox.save();
    assert_eq!(sandbox.resume("--approve 1.1").exit, Some(3));
    // Now at the second call: its file is a new one, with nothing of the first resume in it.
    assert_eq!(sandbox.inspect("p.chry")["claims"], json!([]));
    let sandbox = Sandbox::with(TOOLS, "await tools.pay({ n: 1 }); for (;;) {}");
    sandbox.save();
    let child = sandbox.begin_resume("--approve 1.1 --cpu-time 60s");
    let completed = json!([{ "call": "1.1", "name": "pay", "status": "completed", "ms": null }]);
    until("the call is completed", || sandbox.inspect("p.chry")["claims"][0]["calls"] == completed);
    let (_, message) = refused(&sandbox.resume("--approve 1.1 --json"));
    assert_eq!(message, "p.chry: another process is going on with it");
    kill(child);
    let (calls, _) = refused(&sandbox.resume("--approve 1.1 --json"));
    assert_eq!(calls, completed);
    assert_eq!(sandbox.lines("paid").len(), 1);
}

#[test]
fn killed_in_a_fork_both_are_remembered() {
    let sandbox = Sandbox::with(TOOLS, PAY);
    sandbox.save();
    for _ in 0..2 {
        sandbox.write("before", "");
        assert_eq!(sandbox.resume("--fork --approve 1.1").exit, None);
        if sandbox.inspect("p.chry")["state"] == "waiting" {
            // A fork of a file that still waits does not touch it; only one that was claimed is taken over.
            sandbox.write("before", "");
            assert_eq!(sandbox.resume("--approve 1.1").exit, None);
        }
    }
    let claims = sandbox.inspect("p.chry")["claims"].clone();
    let forks: Vec<&Json> = claims.as_array().unwrap().iter().map(|claim| &claim["fork"]).collect();
    assert_eq!(forks, [&json!(false), &json!(true)]);
    let last = sandbox.resume("--fork --approve 1.1 --json");
    assert_eq!(last.json()["notes"].as_array().unwrap().len(), 2);
    assert_eq!(sandbox.lines("paid").len(), 1);
}

#[test]
fn killed_with_a_file_elsewhere_the_claim_says_where_to_look() {
    let sandbox = Sandbox::with(TOOLS, PAY);
    sandbox.save();
    sandbox.write("before", "");
    assert_eq!(sandbox.resume("--approve 1.1 --save next.chry").exit, None);
    let (_, message) = refused(&sandbox.resume("--approve 1.1 --json"));
    assert!(message.contains("its next pause was to go to next.chry, look there first"), "{message}");
    // The draft of the killed process is in nobody's way.
    let fork = sandbox.resume("--fork --approve 1.1 --save next.chry");
    assert_eq!(fork.exit, Some(0), "{fork:?}");
}

#[test]
fn killed_at_any_moment_nothing_happens_twice() {
    for step in 0..24 {
        let sandbox =
            Sandbox::with(TOOLS, "await tools.look({}); await tools.pay({ n: 1 }); await tools.pay({ n: 2 })");
        sandbox.save();
        let child = sandbox.begin_resume("--approve 1.2");
        // The moment is what varies here; nothing is waited for.
        std::thread::sleep(Duration::from_millis(2 * step));
        kill(child);
        let report = sandbox.inspect("p.chry");
        let state = report["state"].as_str().unwrap();
        let first = report["pending"][0]["call"].as_str().unwrap_or_default().to_owned();
        let again = sandbox.resume("--approve 1.2");
        let paid = sandbox.lines("paid").iter().filter(|line| line.contains("\"n\":1")).count();
        match (state, first.as_str()) {
            ("waiting", "1.2") => assert_eq!((again.exit, paid), (Some(3), 1), "{step}"),
            ("waiting", "1.3") => assert_eq!((again.exit, paid), (Some(6), 1), "{step}"),
            ("claimed", _) => {
                assert_eq!(again.exit, Some(6), "{step}");
                assert!(paid <= 1, "{step}");
            }
            other => panic!("{step}: {other:?}"),
        }
    }
}

#[test]
fn an_interrupted_resume_can_be_forked() {
    let sandbox = Sandbox::with(TOOLS, PAY);
    sandbox.save();
    let length = sandbox.bytes("p.chry").len();
    let child = sandbox.begin_resume("--reject 1.1 --reason spin --cpu-time 60s --json");
    until("the file is claimed", || sandbox.bytes("p.chry").len() > length);
    let id = i32::try_from(child.id()).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(id).unwrap(), rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let report: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &report["error"]["code"]), (Some(1), &json!("cancelled")), "{report}");
    assert_eq!(report["notes"], json!(["the pause before is still in the file: go on from it with --fork"]));
    assert_eq!(claimed(&sandbox)["calls"], json!([]));
    assert_eq!(sandbox.resume("--fork --approve 1.1").parts(), (Some(0), "1\n", ""));
}
