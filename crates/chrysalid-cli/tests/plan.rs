//! `chrysalid plan`, and programs that a person lets run as a whole.

use std::io::Write;
use std::process::Stdio;

use serde_json::json;

use crate::sandbox::{Sandbox, TOOLS};

const PROGRAM: &str =
    "const { look } = tools;\nconst seen = await look({});\nawait tools.pay({ amount: seen });\n'paid'";

#[test]
fn a_plan_lists_what_the_text_can_reach_and_runs_nothing() {
    let sandbox = Sandbox::with(TOOLS, PROGRAM);
    let told = "look: called, lines 1, 2\npay: called, line 3\n";
    assert_eq!(sandbox.run("plan p.js --tools tools.toml").parts(), (Some(0), told, ""));
    assert!(sandbox.lines("looked.txt").is_empty());
    let ran = sandbox.run("plan p.js --tools tools.toml --json");
    let plan = json!({
        "tools": [
            {
                "name": "look", "path": "tools.look", "usage": "called", "more_places": 0,
                "places": [{ "line": 1, "column": 9 }, { "line": 2, "column": 20 }],
            },
            {
                "name": "pay", "path": "tools.pay", "usage": "called", "more_places": 0,
                "places": [{ "line": 3, "column": 13 }],
            },
        ],
        "unknown": [], "more_unknown": 0, "missing": [], "more_missing": 0, "modules": [], "more_modules": 0,
        "names": [], "more_names": 0, "refused": null,
    });
    assert_eq!((ran.exit, ran.json()), (Some(0), plan));
}

#[test]
fn what_cannot_be_told_is_told() {
    let sandbox = Sandbox::with(
        TOOLS,
        "const name = ['p', 'ay'].join('');\nawait tools[name]({ amount: 1 }); await tools.pya({}); await import('m')",
    );
    let ran = sandbox.run("plan p.js --tools tools.toml --json");
    let plan = ran.json();
    assert_eq!((ran.exit, &plan["unknown"][0]["place"]), (Some(0), &json!({ "line": 2, "column": 13 })));
    assert_eq!(plan["missing"], json!([{ "name": "tools.pya", "place": { "line": 2, "column": 47 } }]));
    assert_eq!(plan["modules"], json!(["m"]));
    let text = sandbox.run("plan p.js --tools tools.toml").stdout;
    assert!(text.ends_with("missing: tools.pya, line 2\nmodule, not looked at: m\n"), "{text}");
    assert_eq!(Sandbox::with("", "1 + 1").run("plan p.js").parts(), (Some(0), "no tools\n", ""));
}

#[test]
fn a_text_that_is_no_program_has_no_plan() {
    let sandbox = Sandbox::with(TOOLS, "await tools.look({});\nlet a = ;");
    let message = "p.js:2:9: unexpected `;`";
    assert_eq!(sandbox.run("plan p.js").parts(), (Some(1), "", format!("error: {message}\n").as_str()));
    let ran = sandbox.run("plan p.js --json");
    let error = json!({ "type": "SyntaxError", "code": "invalid_input", "message": message, "stack": null });
    assert_eq!((ran.exit, &ran.json()["error"]), (Some(1), &error));
    sandbox.write("big.js", " ".repeat(300_000));
    let big = "error: big.js: source of 300000 bytes is more than the limit of 262144 bytes\n";
    assert_eq!(sandbox.run("plan big.js").parts(), (Some(4), "", big));
    assert_eq!(sandbox.run("plan gone.js").exit, Some(2));
}

#[test]
fn a_plan_of_standard_input() {
    let sandbox = Sandbox::with(TOOLS, "");
    let mut command = sandbox.command("plan - --tools tools.toml");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"await tools.look()").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"look: called, line 1\n"[..]));
}

/// Saved before any of it ran.
fn asked(program: &str) -> Sandbox {
    let sandbox = Sandbox::with(TOOLS, program);
    let ran = sandbox.run("run p.js --tools tools.toml --approve-program --save p.chry");
    assert_eq!(ran.exit, Some(3), "{ran:?}");
    assert!(sandbox.lines("looked.txt").is_empty());
    sandbox
}

#[test]
fn a_program_waits_as_a_whole_with_its_plan_and_its_text() {
    let sandbox = asked(PROGRAM);
    let told = "paused: 1 call waits for a decision\n  1.1 $program\n      look: called, lines 1, 2\n      pay: called, line 3\n     \
                1 | const { look } = tools;\n     2 | const seen = await look({});\n     3 | await tools.pay({ amount: seen });\n     \
                4 | 'paid'\n      the program as a whole waits for approval\nsaved: p.chry\n";
    assert_eq!(sandbox.resume("").parts(), (Some(3), "", told));
    let report = sandbox.resume("--json").json();
    let call = &report["pending"][0];
    assert_eq!(call["args"]["source"], PROGRAM);
    assert_eq!(call["args"]["plan"]["tools"][1]["name"], "pay");
    assert_eq!(call["allowed"], json!(["approve", "edit", "reject"]));
    assert_eq!(sandbox.inspect("p.chry")["pending"][0]["args"], json!(null));
}

#[test]
fn one_approval_covers_the_calls_of_the_plan() {
    let sandbox = asked(PROGRAM);
    let ran = sandbox.resume("--approve 1.1 --as ann --json");
    let report = ran.json();
    assert_eq!((ran.exit, &report["value"]), (Some(0), &json!("paid")));
    assert_eq!(sandbox.lines("paid.jsonl"), [r#"{"amount":7}"#]);
    assert_eq!(report["calls"][0]["by"], "ann");
}

#[test]
fn an_edited_text_is_what_runs_and_what_was_approved() {
    let sandbox = asked(PROGRAM);
    let before = sandbox.bytes("p.chry");
    for (edit, message) in [
        ("5", "p.chry: call 1.1: a program is edited by giving its text"),
        ("\"let~a~=~;\"", "p.chry: call 1.1: SyntaxError: unexpected `;`"),
    ] {
        let ran = sandbox.resume(&format!("--edit 1.1 {edit}"));
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{edit}: {ran:?}");
        assert_eq!(ran.stderr.lines().next(), Some(format!("error: {message}").as_str()), "{edit}");
        assert_eq!(sandbox.bytes("p.chry"), before);
    }
    let ran = sandbox.resume("--edit 1.1 \"await~tools.pay({amount:1})\"");
    assert_eq!(ran.parts(), (Some(0), "{ paid: true }\n", ""));
    assert!(sandbox.lines("looked.txt").is_empty());
    assert_eq!(sandbox.lines("paid.jsonl"), [r#"{"amount":1}"#]);
}

#[test]
fn a_program_that_was_rejected_is_a_denial_and_nothing_of_it_runs() {
    let sandbox = asked(PROGRAM);
    let ran = sandbox.resume("--reject 1.1 --reason not~today");
    let told = "ToolRejected: a person did not let the program run: not today\n";
    assert_eq!(ran.parts(), (Some(5), "", told));
    assert!(sandbox.lines("looked.txt").is_empty() && sandbox.lines("paid.jsonl").is_empty());
    assert_eq!(sandbox.resume("--approve 1.1").exit, Some(6));
}

#[test]
fn a_call_outside_of_the_plan_waits_for_a_person_of_its_own() {
    let sandbox = asked("const name = ['lo', 'ok'].join(''); await globalThis['to' + 'ols'][name]({})");
    let ran = sandbox.resume("--approve 1.1 --json");
    let call = &ran.json()["pending"][0];
    assert_eq!((ran.exit, &call["name"]), (Some(3), &json!("look")));
    assert_eq!(call["reasons"], json!(["not in the plan that was approved"]));
    assert_eq!(sandbox.resume("--approve 1.2").parts(), (Some(0), "7\n", ""));
}
