//! `--json`: one document on stdout, of one shape, however a command ends.

use serde_json::{Value as Json, json};

use crate::sandbox::{Ran, Sandbox, TOOLS};

const KEYS: [&str; 11] =
    ["run", "status", "value", "rendered", "logs", "notes", "error", "pending", "calls", "wake_at", "saved"];

/// The document with its run id taken out, and whether it had one.
fn document(ran: &Ran) -> (bool, Json) {
    let mut report = ran.json();
    assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
    let report_object = report.as_object_mut().unwrap();
    assert_eq!(report_object.keys().collect::<Vec<_>>(), KEYS);
    let run = report_object.remove("run").unwrap();
    let known = run.as_str().is_some_and(|run| run.len() == 32 && run.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert!(known || run.is_null());
    (known, report)
}

#[test]
fn done() {
    let sandbox = Sandbox::with(TOOLS, "console.warn('w'); await tools.look({}); ({ a: 1n, b: [undefined] })");
    let ran = sandbox.run("run p.js --tools tools.toml --json");
    let (known, mut report) = document(&ran);
    assert!(known && report["calls"][0]["ms"].take().is_u64());
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), ""));
    let expected = json!({
        "status": "done", "value": { "a": 1, "b": [null] }, "rendered": "{ a: 1n, b: [ undefined ] }",
        "logs": [{ "level": "warn", "text": "w" }],
        "notes": ["no tool declares effects, so the rule of two is off"],
        "error": null, "pending": [],
        "calls": [{ "call": "1.1", "name": "look", "status": "completed", "ms": null, "place": "line 1" }],
        "wake_at": null, "saved": null,
    });
    assert_eq!(report, expected);
}

#[test]
fn paused_and_not_saved() {
    let tools = TOOLS.replace("approval = \"ask\"", "approval = \"ask\"\neffects = [\"acts\", \"private\"]");
    let sandbox = Sandbox::with(&tools, "console.log('l'); await tools.pay({ amount: 3 })");
    let ran = sandbox.run("run p.js --tools tools.toml --json");
    let expected = json!({
        "status": "paused", "value": null, "rendered": null, "logs": [{ "level": "log", "text": "l" }], "notes": [],
        "error": null,
        "pending": [{
            "call": "1.1", "name": "pay", "path": "tools.pay", "line": 1, "column": 31, "args": { "amount": 3 },
            "digest": null, "token": null, "program": null, "reasons": ["asks each time"],
            "effects": ["private", "acts"], "met": [], "roles": [], "expires_at": null,
            "allowed": ["approve", "edit", "reject", "respond"],
        }],
        "calls": [{ "call": "1.1", "name": "pay", "status": "waiting", "ms": null, "place": "line 1" }],
        "wake_at": null, "saved": null,
    });
    let (known, mut report) = document(&ran);
    for hash in ["digest", "token", "program"] {
        assert_eq!(report["pending"][0][hash].take().as_str().map(str::len), Some(64), "{hash}");
    }
    assert_eq!((ran.exit, known, report), (Some(3), true, expected));
    assert_eq!(ran.stderr, "warning: the run is not saved and ends here; --save FILE keeps it\n");
}

#[test]
fn failed() {
    let ran = Sandbox::with("", "console.log('out'); null.x").run("run p.js --json");
    let (known, mut report) = document(&ran);
    let stack = report["error"]["stack"].take();
    assert_eq!((known, stack.as_str()), (true, Some("    at <eval> (program-1.js:1:20)\n")));
    let expected = json!({
        "status": "failed", "value": null, "rendered": null, "logs": [{ "level": "log", "text": "out" }], "notes": [],
        "error": {
            "type": "TypeError", "code": "exception", "message": "cannot read property 'x' of null", "line": 1, "column": 26,
            "source_line": "console.log('out'); null.x", "caret": 25, "stack": null,
        },
        "pending": [], "calls": [], "wake_at": null, "saved": null,
    });
    assert_eq!((ran.exit, report, ran.stderr.as_str()), (Some(1), expected, ""));
}

#[test]
fn refused() {
    let sandbox = Sandbox::with("x = 1", "1");
    sandbox.write("big.js", " ".repeat(300_000));
    let cases = [
        ("run big.js --json", 4, "SourceTooLarge", "source_too_large"),
        ("run gone.js --json", 2, "Io", "io"),
        ("run p.js --tools tools.toml --json", 2, "Usage", "usage"),
        ("run p.js --memory 1 --json", 2, "Config", "config"),
        ("run --json", 2, "Usage", "usage"),
        ("run p.js --json --nope", 2, "Usage", "usage"),
        ("resume p.js --json", 6, "NotASnapshot", "not_a_snapshot"),
        ("resume p.js --reason x --json", 2, "Usage", "usage"),
        ("inspect p.js --json", 6, "NotASnapshot", "not_a_snapshot"),
    ];
    for (line, exit, name, code) in cases {
        let ran = sandbox.run(line);
        let (known, mut report) = document(&ran);
        assert!(!known && !report["error"]["message"].take().as_str().unwrap().is_empty());
        let expected = json!({
            "status": "refused", "value": null, "rendered": null, "logs": [], "notes": [],
            "error": { "type": name, "code": code, "message": null, "stack": null },
            "pending": [], "calls": [], "wake_at": null, "saved": null,
        });
        assert_eq!((ran.exit, report, ran.stderr.as_str()), (Some(exit), expected, ""), "{line}");
    }
}

#[test]
fn a_value_without_a_json_form_is_a_note() {
    let ran = Sandbox::with("", "const a = {}; a.a = a; a").run("run p.js --json");
    let (_, report) = document(&ran);
    assert_eq!((ran.exit, &report["value"]), (Some(0), &Json::Null));
    assert_eq!(report["rendered"], "<ref *1> { a: [Circular *1] }");
    assert!(report["notes"][0].as_str().unwrap().starts_with("the value has no JSON form: "), "{report}");
}
