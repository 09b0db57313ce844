//! Tools whose results programs do not read, and what a session has met across crashes.

use serde_json::json;

use crate::sandbox::Sandbox;

const TOOLS: &str = r#"
[tools.secret]
command = ["sh", "-c", "echo '{\"text\": \"hush 4711\"}'"]
effects = ["private", "untrusted"]
deliver = "handle"

[tools.fits]
command = ["sh", "-c", "echo '{\"ok\": true}'"]
effects = ["private", "untrusted"]
deliver = "declassified"
output = { type = "object", required = ["ok"], properties = { ok = { type = "boolean" } } }

[tools.keep]
command = ["sh", "-c", "cat >> kept.jsonl; echo >> kept.jsonl; echo 1"]
effects = []

[tools.send]
command = ["sh", "-c", "cat >> sent.jsonl; echo >> sent.jsonl; echo 1"]
effects = ["acts"]
"#;

#[test]
fn a_handle_is_passed_on_and_not_read() {
    let program = "const held = await tools.secret({});\n\
                   const read = [() => String(held), () => held.text, () => JSON.stringify(held), () => held + 1].map((read) => {\n  \
                   try { return read() } catch (error) { return error.name }\n});\n\
                   await tools.send({ plain: 1 });\nawait tools.keep({ held });\nawait tools.send({ held });\nread";
    let sandbox = Sandbox::with(TOOLS, program);
    let ran = sandbox.run("run p.js --tools tools.toml --save p.chry --json");
    let report = ran.json();
    // A plain mail and a tool that does not act need nobody; whoever decides about the other sees what would go out.
    assert_eq!((ran.exit, report["pending"].as_array().map(Vec::len)), (Some(3), Some(1)), "{report}");
    let call = &report["pending"][0];
    assert_eq!(call["args"], json!({ "held": { "text": "hush 4711" } }));
    // The tool that got the value may have given it back.
    let reason = "rule of two: send (call 1.2, line 5) acted on the world; keep (call 1.3, line 6) brought private data; \
                  keep (call 1.3, line 6) brought untrusted content";
    assert_eq!(call["reasons"], json!([reason]));
    let ran = sandbox.resume("--approve 1.4 --json");
    let value = ran.json()["value"].clone();
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert!(!value.to_string().contains("4711"), "{value}");
    assert_eq!(sandbox.lines("kept.jsonl"), [r#"{"held":{"text":"hush 4711"}}"#]);
    assert_eq!(sandbox.lines("sent.jsonl"), [r#"{"plain":1}"#, r#"{"held":{"text":"hush 4711"}}"#]);
}

#[test]
fn to_reveal_a_handle_is_to_meet_what_it_holds() {
    let program =
        "const held = await tools.secret({});\nconst { text } = await reveal(held);\nawait tools.send({ text })";
    let sandbox = Sandbox::with(TOOLS, program);
    let report = sandbox.run("run p.js --tools tools.toml --json").json();
    let met: Vec<_> = report["pending"][0]["met"].as_array().unwrap().iter().map(|met| &met["effect"]).collect();
    assert_eq!(met, ["private", "untrusted"]);
}

#[test]
fn a_declassified_result_brings_nothing() {
    let sandbox = Sandbox::with(TOOLS, "const { ok } = await tools.fits({});\nawait tools.send({ ok })");
    assert_eq!(sandbox.run("run p.js --tools tools.toml").parts(), (Some(0), "1\n", ""));
    sandbox.write("tools.toml", TOOLS.replace("{\\\"ok\\\": true}", "{\\\"ok\\\": \\\"hush 4711\\\"}"));
    sandbox.write("p.js", "await tools.fits({}).catch((error) => error.message)");
    let ran = sandbox.run("run p.js --tools tools.toml");
    assert_eq!(ran.parts(), (Some(0), "'the result of fits does not fit its output schema'\n", ""));
}

#[test]
fn a_schema_that_says_too_much_is_refused_with_its_line() {
    let cases = [
        (
            "{ type = \"boolean\" }",
            "{ type = \"string\" }",
            "output.ok is free text: list its values in enum, or give format date or date-time",
        ),
        ("{ type = \"boolean\" }", "{ type = \"integer\" }", "output.ok has no minimum and maximum"),
    ];
    for (from, to, why) in cases {
        let sandbox = Sandbox::with(&TOOLS.replace(from, to), "1");
        let ran = sandbox.run("run p.js --tools tools.toml");
        let message = format!("error: tools.toml:7: capability \"fits\" cannot be declassified: {why}\n");
        assert_eq!(ran.parts(), (Some(2), "", message.as_str()));
    }
    let sandbox = Sandbox::with("[tools.x]\ncommand = [\"x\"]\ndeliver = \"sealed\"", "1");
    let message = "error: tools.toml:3: unknown variant `sealed`, expected one of `value`, `handle`, `declassified`\n";
    assert_eq!(sandbox.run("run p.js --tools tools.toml").parts(), (Some(2), "", message));
}

/// A process that met private data and was killed within a call has told its file; the pause before has not met it.
#[test]
fn a_fork_after_a_crash_has_met_what_the_crashed_process_met() {
    let tools = format!(
        "{TOOLS}\n[tools.budget]\ncommand = [\"sh\", \"-c\", \"echo 1200\"]\neffects = [\"private\"]\n\
         [tools.inbox]\ncommand = [\"sh\", \"-c\", \"echo 1\"]\neffects = [\"untrusted\"]\n\
         [tools.ask]\ncommand = [\"sh\", \"-c\", \"echo 1\"]\neffects = []\napproval = \"ask\"\n\
         [tools.crash]\ncommand = [\"sh\", \"-c\", \"kill -9 $PPID\"]\neffects = []\n"
    );
    // After the fork the program takes another way, on which it reads nothing.
    let program = "await tools.inbox({});\nconst way = await tools.ask({});\n\
                   if (way === 1) { await tools.budget({}); await tools.crash({}) }\nawait tools.send({ way })";
    let sandbox = Sandbox::with(&tools, program);
    sandbox.save();
    let taint = |name: &str| {
        let inspected = sandbox.inspect(name);
        let all = inspected["sealed"]["taint"].as_array().unwrap().clone();
        all.iter().map(|met| met["effect"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(taint("p.chry"), ["untrusted"]);
    // A signal ended it.
    assert_eq!(sandbox.resume("--approve 1.2").exit, None);
    assert_eq!(sandbox.inspect("p.chry")["state"], "claimed");
    let ran = sandbox.resume("--fork --respond 1.2 2 --save fork.chry --json");
    let report = ran.json();
    assert_eq!((ran.exit, &report["pending"][0]["name"]), (Some(3), &json!("send")), "{report}");
    assert_eq!(
        report["pending"][0]["met"],
        json!([
            { "effect": "untrusted", "by": "inbox (call 1.1, line 1)" },
            { "effect": "private", "by": "budget (call 1.3, line 3)" },
        ])
    );
    assert_eq!(taint("fork.chry"), ["untrusted", "private"]);
    assert!(sandbox.lines("sent.jsonl").is_empty());
}
