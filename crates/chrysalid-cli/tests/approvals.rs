//! Who decides, bound to what, until when; and what is allowed beforehand.

use serde_json::json;

use crate::policy::LABELLED;
use crate::sandbox::{Ran, Sandbox, TOOLS, until};

fn paid(sandbox: &Sandbox) -> Vec<String> {
    sandbox.lines("paid.jsonl")
}

fn saved(tools: &str, program: &str) -> Sandbox {
    let sandbox = Sandbox::with(tools, program);
    sandbox.save();
    sandbox
}

fn token(sandbox: &Sandbox) -> String {
    sandbox.resume("--json").json()["pending"][0]["token"].as_str().unwrap().to_owned()
}

fn refused(ran: &Ran, message: &str) {
    assert_eq!(ran.parts(), (Some(2), "", format!("error: p.chry: {message}\n").as_str()));
}

#[test]
fn a_role_that_is_missing_is_refused_and_named() {
    let tools = TOOLS.replace("approval = \"ask\"", "approval = \"ask\"\napproval_role = [\"treasurer\", \"auditor\"]");
    let sandbox = saved(&tools, "await tools.pay({ amount: 4 })");
    let before = sandbox.bytes("p.chry");
    refused(&sandbox.resume("--approve 1.1"), "call 1.1 is to be decided by: auditor, treasurer");
    refused(&sandbox.resume("--approve 1.1 --role auditor"), "call 1.1 is to be decided by: treasurer");
    refused(&sandbox.resume("--reject 1.1 --role Treasurer --role auditor"), "call 1.1 is to be decided by: treasurer");
    assert_eq!(sandbox.bytes("p.chry"), before);
    let ran = sandbox.resume("--approve 1.1 --role treasurer --role auditor --as ann --json");
    let call = json!({
        "call": "1.1", "name": "pay", "status": "completed", "ms": null, "place": "line 1", "decision": "approve", "by": "ann",
    });
    let mut report = ran.json();
    report["calls"][0]["ms"].take();
    assert_eq!((ran.exit, &report["calls"][0]), (Some(0), &call));
    assert_eq!(paid(&sandbox).len(), 1);
}

#[test]
fn a_decision_is_bound_to_what_was_shown() {
    let program = "await tools.pay({ amount: 4 })";
    let sandbox = saved(TOOLS, program);
    let before = sandbox.bytes("p.chry");
    let token = token(&sandbox);
    let other = self::token(&saved(TOOLS, program));
    assert_ne!(token, other);
    let wrong = "0".repeat(64);
    for begins in [other.as_str(), other.get(..16).unwrap(), wrong.as_str()] {
        refused(&sandbox.resume(&format!("--approve 1.1@{begins}")), &format!("no call 1.1 with the token {begins}"));
    }
    refused(&sandbox.resume(&format!("--approve 1.2@{token}")), &format!("no call 1.2 with the token {token}"));
    let short = sandbox.resume(&format!("--approve 1.1@{}", token.get(..15).unwrap()));
    assert_eq!((short.exit, short.stdout.as_str()), (Some(2), ""));
    assert_eq!(sandbox.bytes("p.chry"), before);
    let ran = sandbox.resume(&format!("--edit 1.1@{} {{\"amount\":5}}", token.get(..16).unwrap().to_uppercase()));
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert_eq!(paid(&sandbox), [r#"{"amount":5}"#]);
}

#[test]
fn another_tool_may_take_the_place_of_a_call() {
    let tools = format!(
        "{TOOLS}\n[tools.note]\ncommand = [\"sh\", \"-c\", \"cat >> noted.jsonl; echo >> noted.jsonl; echo 1\"]\n"
    );
    let sandbox = saved(&tools, "await tools.pay({ amount: 4 })");
    let unknown = sandbox.resume("--replace 1.1 nite {}");
    assert_eq!(unknown.parts(), (Some(6), "", "error: p.chry: call 1.1: nite is not available\n"));
    let ran = sandbox.resume("--replace 1.1 note {\"sum\":4}");
    assert_eq!(ran.parts(), (Some(0), "1\n", ""));
    assert_eq!((paid(&sandbox).len(), sandbox.lines("noted.jsonl")), (0, vec![r#"{"sum":4}"#.to_owned()]));
    // One that asks as well waits anew.
    let sandbox =
        saved(&tools.replace("[tools.note]", "[tools.note]\napproval = \"ask\""), "await tools.pay({ amount: 4 })");
    let ran = sandbox.resume("--replace 1.1 note {\"sum\":4} --json");
    let report = ran.json();
    assert_eq!((ran.exit, &report["pending"][0]["name"]), (Some(3), &json!("note")));
    assert_eq!(sandbox.resume("--approve 1.1").parts(), (Some(0), "1\n", ""));
    assert_eq!(sandbox.lines("noted.jsonl").len(), 1);
}

/// A call that waits for a second at most, saved; and the second has passed.
fn expired(name: &str) -> Sandbox {
    let tools = TOOLS.replace("approval = \"ask\"", "approval = \"ask\"\napproval_expires = \"1s\"");
    let program = "await tools.pay({ amount: 4 }).catch((error) => `${error.name}: ${error.message}`)";
    let sandbox = saved(&tools, program);
    let expires = sandbox.inspect("p.chry")["pending"][0]["expires_at"].as_str().unwrap().to_owned();
    until(name, || {
        let now = std::process::Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%S.%3NZ"]).output().unwrap();
        String::from_utf8(now.stdout).unwrap().trim() > expires.as_str()
    });
    sandbox
}

#[test]
fn an_approval_that_comes_too_late_is_an_error_of_the_call() {
    let late = "'ApprovalExpired: pay: nobody decided in time'\n";
    for options in ["--approve 1.1", "--edit 1.1 {\"amount\":1}", ""] {
        let sandbox = expired(options);
        assert_eq!(sandbox.resume(options).parts(), (Some(0), late, ""), "{options}");
        assert!(paid(&sandbox).is_empty());
        assert_eq!(sandbox.inspect("p.chry")["state"], "ended");
    }
}

const THREE: &str = "await tools.budget({}); await tools.inbox({});\n\
                     const all = [];\nfor (const n of [1, 2, 3]) { await tools.send({ n, to: 'ann@own.example' }); all.push(n) }\nall";

#[test]
fn a_grant_answers_in_a_persons_place_as_often_as_it_says() {
    let sandbox = Sandbox::with(LABELLED, THREE);
    let grant = "--grant tools=\"send\",when={to={domain_in=\"own.example\"}},count=2,lasts=\"1h\"";
    let ran = sandbox.run(&format!("run p.js --tools tools.toml --save p.chry --as ann {grant} --json"));
    let report = ran.json();
    assert_eq!((ran.exit, &report["pending"][0]["args"]["n"]), (Some(3), &json!(3)));
    let calls: Vec<_> = report["calls"].as_array().unwrap().iter().map(|call| call["grant"].clone()).collect();
    assert_eq!(calls, [json!(null), json!(null), json!(1), json!(1), json!(null)]);
    assert_eq!(sandbox.lines("sent.jsonl").len(), 2);
    // It is used up.
    assert_eq!(sandbox.inspect("p.chry")["sealed"]["grants"][0]["left"], 0);
    assert_eq!(sandbox.resume("--approve 1.5").parts(), (Some(0), "[ 1, 2, 3 ]\n", ""));
}

#[test]
fn inspect_shows_what_is_left_of_a_grant() {
    let sandbox = Sandbox::with(LABELLED, THREE);
    let grant = "--grant tools=\"send\",when={n={at_most=1}},count=5,lasts=\"1h\"";
    assert_eq!(sandbox.run(&format!("run p.js --tools tools.toml --save p.chry --as ann {grant}")).exit, Some(3));
    let terms = "tools = [\"send\"], when = { n = { at_most = 1 } }, count = 5, lasts = \"1h\", scope = \"program\"";
    let mut grants = sandbox.inspect("p.chry")["sealed"]["grants"].clone();
    let expires = grants[0]["expires_at"].take().as_str().unwrap().to_owned();
    assert_eq!(grants, json!([{ "number": 1, "terms": terms, "left": 4, "expires_at": null, "by": "ann" }]));
    let text = sandbox.run("inspect p.chry").stdout;
    assert!(text.contains(&format!("\ngrant 1: 4 more of {terms}, by ann, until {expires}\n")), "{text}");
    // A fork does not have it.
    assert_eq!(sandbox.resume("--fork --approve 1.4 --save fork.chry").exit, Some(3));
    assert_eq!(sandbox.inspect("fork.chry")["sealed"]["grants"], json!([]));
}

#[test]
fn a_grant_may_be_given_with_a_decision() {
    let sandbox = saved(LABELLED, THREE);
    let ran = sandbox.resume("--approve 1.3 --grant tools=\"send\",count=9");
    assert_eq!(ran.parts(), (Some(0), "[ 1, 2, 3 ]\n", ""));
    assert_eq!(sandbox.lines("sent.jsonl").len(), 3);
}

#[test]
fn a_grant_covers_no_denial_and_no_role() {
    let sandbox = Sandbox::with(TOOLS, "await tools.pay({ amount: 4 })");
    sandbox.write("deny.toml", "[[rules]]\ntools = 'pay'\ndecision = 'deny'\nreason = 'no'\n");
    let grant = "--grant tools=\"pay\",count=9";
    assert_eq!(sandbox.run(&format!("run p.js --tools tools.toml --policy deny.toml {grant}")).exit, Some(5));
    sandbox.write("role.toml", "[[rules]]\ntools = 'pay'\ndecision = 'ask'\nreason = 'r'\nrole = 'boss'\n");
    assert_eq!(sandbox.run(&format!("run p.js --tools tools.toml --policy role.toml {grant}")).exit, Some(3));
    assert!(paid(&sandbox).is_empty());
    let ran = sandbox.run(&format!("run p.js --tools tools.toml --policy role.toml {grant} --role boss"));
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert_eq!(paid(&sandbox).len(), 1);
}

#[test]
fn a_grant_that_says_nothing_is_usage() {
    let sandbox = Sandbox::with(TOOLS, "1");
    let cases = [
        ("tools=\"pay\"", "line 1, column 1: a grant needs count"),
        ("tools=\"pay\",count=0", "line 1, column 19: count takes a whole number from 1 to 4294967295, not 0"),
        (
            "tools=\"pay\",count=1,last=\"1h\"",
            "line 1, column 21: \"last\" is no key here; there is \"tools\", \"when\", \"count\", \"lasts\" or \"scope\"",
        ),
    ];
    for (grant, message) in cases {
        let ran = sandbox.run(&format!("run p.js --grant {grant}"));
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{grant}");
        let told = format!("error: invalid value '{grant}' for '--grant <TOML>': {message}\n");
        assert!(ran.stderr.starts_with(&told), "{}", ran.stderr);
    }
}

const LOOKS: &str = "const all = [];\nfor (const n of [1, 2, 3]) all.push(await tools.look({ n }).catch((error) => error.message));\nall";

#[test]
fn a_budget_of_the_session_ends_in_an_error_or_asks() {
    let sandbox = Sandbox::with(TOOLS, LOOKS);
    let ran = sandbox.run("run p.js --tools tools.toml --session-calls 2 --json");
    assert_eq!(
        (ran.exit, &ran.json()["value"]),
        (Some(0), &json!([7, 7, "look: this session may make 2 calls and has made them"]))
    );
    let ran = sandbox.run("run p.js --tools tools.toml --session-calls 1 --ask-when-spent --save p.chry --json");
    let call = &ran.json()["pending"][0];
    assert_eq!((ran.exit, &call["reasons"]), (Some(3), &json!(["no calls of the session left of 1"])));
    // A person lets one pass, then the rest.
    let limits = "--session-calls 1 --ask-when-spent";
    let ran = sandbox.resume(&format!("--approve 1.2 {limits} --json"));
    assert_eq!((ran.exit, &ran.json()["pending"][0]["call"]), (Some(3), &json!("1.3")));
    assert_eq!(sandbox.resume(&format!("--approve 1.3 {limits}")).parts(), (Some(0), "[ 7, 7, 7 ]\n", ""));
}

#[test]
fn more_calls_are_more_of_the_sessions_budget() {
    let sandbox = Sandbox::with(TOOLS, LOOKS);
    let limits = "--session-calls 1 --ask-when-spent";
    assert_eq!(sandbox.run(&format!("run p.js --tools tools.toml --save p.chry {limits}")).exit, Some(3));
    let ran = sandbox.resume(&format!("--approve 1.2 --more-calls 5 --as ann --audit trail {limits}"));
    assert_eq!(ran.parts(), (Some(0), "[ 7, 7, 7 ]\n", ""));
    let raised = sandbox.lines("trail").into_iter().find(|line| line.contains("\"raised\"")).unwrap();
    assert!(raised.contains("\"budget\":\"5 calls\",\"by\":\"ann\""), "{raised}");
}

#[test]
fn a_long_argument_is_shown_from_its_beginning() {
    let sandbox = saved(
        "[tools.pay]\ncommand = [\"wc\", \"-c\"]\napproval = \"ask\"",
        "await tools.pay({ text: 'ä'.repeat(50_000) })",
    );
    let report = sandbox.resume("--json").json();
    let call = &report["pending"][0];
    // In bytes of its JSON.
    assert_eq!(call["args_cut"], json!(100_011));
    let shown = call["args"].as_str().unwrap();
    let (begin, rest) = shown.split_once("[cut: ").unwrap();
    assert!(begin.starts_with("{\"text\":\"ää") && begin.len() <= 65536, "{}", begin.len());
    assert_eq!(rest, format!("{} bytes more]", 100_011 - begin.len()));
    // What runs is the whole.
    assert_eq!(sandbox.resume("--approve 1.1").parts(), (Some(0), "100011\n", ""));
}
