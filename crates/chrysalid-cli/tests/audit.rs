//! `--audit`, and `chrysalid audit verify`.

use serde_json::{Value as Json, json};

use crate::policy::LABELLED;
use crate::sandbox::{Sandbox, TOOLS, without_hashes};

const PAY_TWICE: &str = "await tools.pay({ amount: 41001 }); await tools.pay({ amount: 41002 })";

fn events(sandbox: &Sandbox) -> Vec<String> {
    let event = |line: &String| {
        let line: Json = serde_json::from_str(line).unwrap();
        let about = ["call", "decision", "status"].map(|key| line[key].as_str().map(str::to_owned));
        let about: Vec<String> = about.into_iter().flatten().collect();
        format!("{} {}", line["event"].as_str().unwrap(), about.join(" ")).trim().to_owned()
    };
    sandbox.lines("trail").iter().map(event).collect()
}

/// A run of three processes with a trail.
fn audited() -> Sandbox {
    let sandbox = Sandbox::with(TOOLS, PAY_TWICE);
    assert_eq!(sandbox.run("run p.js --tools tools.toml --save p.chry --audit trail").exit, Some(3));
    assert_eq!(sandbox.resume("--approve 1.1 --as ann --audit trail").exit, Some(3));
    sandbox
}

#[test]
fn a_trail_goes_on_from_process_to_process() {
    let sandbox = audited();
    assert_eq!(sandbox.resume("--reject 1.2 --as bob --audit trail").exit, Some(1));
    let expected = [
        "opened",
        "program",
        "ruled 1.1 ask",
        "opened",
        "decided 1.1 approve",
        "started 1.1",
        "ended 1.1 completed",
        "ruled 1.2 ask",
        "opened",
        "decided 1.2 reject",
        "ended 1.2 rejected",
    ];
    assert_eq!(events(&sandbox), expected);
    let text = sandbox.lines("trail").join("\n");
    assert!(!without_hashes(&text).contains("4100"), "{text}");
    let decided: Json = serde_json::from_str(&sandbox.lines("trail")[4]).unwrap();
    assert_eq!(decided["by"], "ann");
    let run = decided["run"].as_str().unwrap().to_owned();
    let last: Json = serde_json::from_str(&sandbox.lines("trail")[10]).unwrap();
    let told = format!("trail: 11 lines hold\n  run {run}: 11 lines, the last {}\n", last["hash"].as_str().unwrap());
    assert_eq!(sandbox.run("audit verify trail").parts(), (Some(0), told.as_str(), ""));
    let ran = sandbox.run("audit verify trail --json");
    let verified = json!({
        "file": "trail", "lines": 11, "runs": [{ "run": run, "lines": 11, "head": last["hash"] }],
    });
    assert_eq!((ran.exit, ran.json()), (Some(0), verified));
}

#[test]
fn a_trail_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = audited();
    let mode = std::fs::metadata(sandbox.path("trail")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_was_changed_removed_or_put_in_is_found() {
    let sandbox = audited();
    let lines = sandbox.lines("trail");
    let whole = sandbox.bytes("trail");
    let join = |lines: &[String]| lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>().into_bytes();
    let first: Json = serde_json::from_str(&lines[0]).unwrap();
    let run = first["run"].as_str().unwrap();
    let changed = String::from_utf8(whole.clone()).unwrap().replacen("\"approve\"", "\"approvf\"", 1).into_bytes();
    let removed = [&lines[..2], &lines[3..]].concat();
    let doubled = [&lines[..2], &lines[1..]].concat();
    let cases = [
        (changed, "line 5: was changed: its hash is another".to_owned()),
        (join(&removed), format!("line 3: has number 3 of run {run} where 2 follows")),
        (join(&doubled), format!("line 3: has number 1 of run {run} where 2 follows")),
        (whole[..whole.len() - 1].to_vec(), format!("line {}: has no end", lines.len())),
        ([&whole[..], b"\xff\n"].concat(), format!("line {}: not a line of an audit trail", lines.len() + 1)),
    ];
    for (bytes, message) in cases {
        sandbox.write("trail", bytes);
        let ran = sandbox.run("audit verify trail");
        assert_eq!(ran.parts(), (Some(6), "", format!("error: trail: {message}\n").as_str()));
    }
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        sandbox.write("trail", bytes);
        assert_eq!(sandbox.run("audit verify trail --json").exit, Some(6), "byte {at}");
    }
}

#[test]
fn a_trail_that_was_cut_off_is_found_with_the_saved_program() {
    let sandbox = audited();
    let lines = sandbox.lines("trail");
    assert_eq!(sandbox.run("audit verify trail --session p.chry").exit, Some(0));
    let cut: String = lines[..lines.len() - 1].iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    sandbox.write("trail", cut);
    // By itself a shorter chain is a chain.
    assert_eq!(sandbox.run("audit verify trail").exit, Some(0));
    let run = sandbox.inspect("p.chry")["sealed"]["run"].as_str().unwrap().to_owned();
    let ran = sandbox.run("audit verify trail --session p.chry");
    let message = format!(
        "error: trail: run {run} has {} lines where the saved program knows of {}\n",
        lines.len() - 1,
        lines.len()
    );
    assert_eq!(ran.parts(), (Some(6), "", message.as_str()));
    sandbox.write("trail", "");
    assert_eq!(sandbox.run("audit verify trail --session p.chry").exit, Some(6));
    let other = sandbox.set("CHRYSALID_KEY", &"ab".repeat(32));
    let ran = other.run("audit verify trail --session p.chry");
    assert_eq!(ran.parts(), (Some(6), "", "error: p.chry: its key is not here\n"));
}

#[test]
fn a_trail_that_was_written_anew_is_found_with_the_saved_program() {
    let sandbox = audited();
    let other = audited();
    let run = |sandbox: &Sandbox| sandbox.inspect("p.chry")["sealed"]["run"].as_str().unwrap().to_owned();
    // The lines of another run hold together, and are not those of this one.
    sandbox.write("trail", other.bytes("trail"));
    assert_eq!(sandbox.run("audit verify trail").exit, Some(0));
    let ran = sandbox.run("audit verify trail --session p.chry");
    let message = format!("error: trail: run {} has 0 lines where the saved program knows of 8\n", run(&sandbox));
    assert_eq!(ran.parts(), (Some(6), "", message.as_str()));
}

#[test]
fn a_fork_begins_a_chain_that_names_the_old_one() {
    let sandbox = audited();
    let run = sandbox.inspect("p.chry")["sealed"]["run"].clone();
    let ran = sandbox.resume("--fork --approve 1.2 --audit trail");
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    let opened: Json = serde_json::from_str(&sandbox.lines("trail")[8]).unwrap();
    assert_eq!((&opened["event"], &opened["seq"], &opened["forked_from"]), (&json!("opened"), &json!(0), &run));
    assert_eq!(sandbox.run("audit verify trail --json").json()["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn what_cannot_be_written_down_is_not_done() {
    let sandbox = Sandbox::with(TOOLS, "await tools.look({}).catch((error) => `${error.name}: ${error.message}`)");
    let ran = sandbox.run("run p.js --tools tools.toml --audit /dev/full");
    let note = "note: no tool declares effects, so the rule of two is off\n";
    let denied = format!("{note}Denied: the audit trail cannot be written\n");
    assert_eq!(ran.parts(), (Some(5), "", denied.as_str()));
    assert!(sandbox.lines("looked.txt").is_empty());
    let ran = sandbox.run("run p.js --tools tools.toml --audit no/trail");
    let message = "error: cannot write no/trail: No such file or directory (os error 2)\n";
    assert_eq!(ran.parts(), (Some(6), "", message));
}

#[test]
fn a_file_that_is_no_trail() {
    let sandbox = Sandbox::with(TOOLS, "1");
    let ran = sandbox.run("audit verify p.js");
    assert_eq!(ran.parts(), (Some(6), "", "error: p.js: line 1: has no end\n"));
    assert_eq!(
        sandbox.run("audit verify tools.toml").stderr,
        "error: tools.toml: line 1: not a line of an audit trail\n"
    );
    let gone = "error: cannot read gone: No such file or directory (os error 2)\n";
    assert_eq!(sandbox.run("audit verify gone").parts(), (Some(2), "", gone));
    sandbox.write("empty", "");
    assert_eq!(sandbox.run("audit verify empty").parts(), (Some(0), "empty: 0 lines hold\n", ""));
    let endless = sandbox.run("audit verify /dev/zero");
    assert_eq!(endless.parts(), (Some(6), "", "error: /dev/zero: line 1: has no end\n"));
}

#[test]
fn rulings_say_what_was_met_and_denials_are_in_it() {
    let sandbox = Sandbox::with(
        LABELLED,
        "await tools.budget({}); await tools.inbox({}); await tools.send({ to: 'x' }).catch((error) => error.name)",
    );
    sandbox.write("policy.toml", "[[rules]]\ntools = 'send'\nmet = ['private']\ndecision = 'deny'\nreason = 'no'\n");
    let ran = sandbox.run("run p.js --tools tools.toml --policy policy.toml --audit trail");
    assert_eq!(ran.parts(), (Some(0), "'Denied'\n", ""));
    let line = sandbox.lines("trail").into_iter().find(|line| line.contains("\"deny\"")).unwrap();
    let line: Json = serde_json::from_str(&line).unwrap();
    assert_eq!((&line["name"], &line["effects"]), (&json!("send"), &json!(["acts"])));
    assert_eq!(line["met"], json!(["private", "untrusted"]));
    assert_eq!(line["reasons"], json!(["\"no\" (policy line 1)"]));
    assert_eq!(line["place"], "line 1");
}
