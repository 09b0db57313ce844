//! `chrysalid policy`, and `--policy` of the commands that run programs.

use std::fmt::Write as _;

use chrysalid::Rules;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::sandbox::{Sandbox, finish};

/// A tool that acts without asking, one that reads private data and one that brings what strangers wrote.
pub(crate) const LABELLED: &str = r#"
[tools.send]
command = ["sh", "-c", "cat >> sent.jsonl; echo >> sent.jsonl; echo '{\"sent\": true}'"]
effects = ["acts"]

[tools.budget]
command = ["sh", "-c", "echo 1200"]
effects = ["private"]

[tools.inbox]
command = ["sh", "-c", "echo '\"hello\"'"]
effects = ["untrusted"]
"#;

const POLICY: &str = r#"expires = "2d"

[[rules]]
tools = "send"
when = { to = { domain_not_in = "own.example" } }
decision = "deny"
reason = "mail stays in the house"
deny = [{ to = "x@evil.example" }, { }]
allow = [{ to = "ann@own.example", pages = 1 }]

[[rules]]
tools = ["send", "letter.*"]
when = { pages = { above = 3 } }
decision = "ask"
reason = "long letters are read first"
role = "editor"
expires = "1h"
decisions = ["approve", "reject"]
"#;

fn version(text: &str) -> String {
    Sha256::digest(text).iter().take(8).fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

fn with_policy(policy: &str, program: &str) -> Sandbox {
    let sandbox = Sandbox::with(LABELLED, program);
    sandbox.write("policy.toml", policy);
    sandbox
}

#[test]
fn check_counts_what_holds_and_names_patterns_without_a_tool() {
    let sandbox = with_policy(POLICY, "");
    let version = version(POLICY);
    let told = format!("policy.toml: 2 rules, 3 examples hold; version {version}\n");
    assert_eq!(sandbox.run("policy check policy.toml").parts(), (Some(0), told.as_str(), ""));
    let told = format!("{told}no tool is named letter.*\n");
    assert_eq!(sandbox.run("policy check policy.toml --tools tools.toml").parts(), (Some(0), told.as_str(), ""));
    let ran = sandbox.run("policy check policy.toml --tools tools.toml --json");
    let expected = json!({
        "file": "policy.toml", "version": version, "rules": 2, "examples": 3, "unused": ["letter.*"],
    });
    assert_eq!((ran.exit, ran.json()), (Some(0), expected));
    sandbox.write("one.toml", "[[rules]]\ntools = 'send'\nadds = 'private'\nask = [{ tool = 'send', met = ['acts', 'untrusted'], effects = ['acts'] }]\n");
    let one = sandbox.run("policy check one.toml");
    assert!(one.stdout.starts_with("one.toml: 1 rule, 1 example holds; version "), "{one:?}");
    sandbox.write("none.toml", "");
    let none = sandbox.run("policy check none.toml");
    assert_eq!(none.parts(), (Some(0), "none.toml: 0 rules, 0 examples hold; version e3b0c44298fc1c14\n", ""));
}

#[test]
fn an_error_of_a_policy_has_its_line_and_column() {
    let rule = "[[rules]]\ntools = 'send'\n";
    let cases = [
        ("default = ", "1:11: not TOML: "),
        (
            "defualt = 'deny'",
            "1:1: \"defualt\" is no key here; there is \"rule_of_two\", \"default\", \"expires\" or \"rules\"",
        ),
        ("default = 'no'", "1:11: default takes \"allow\", \"ask\" or \"deny\", not \"no\""),
        (
            &format!("{rule}decision = 'ask'"),
            "1:1: a rule with the decision \"ask\" needs a reason, for whoever meets it",
        ),
        (&format!("{rule}reason = 'r'"), "1:1: a rule needs a decision, or adds or clears"),
        ("[[rules]]\ntools = 'a***'\nadds = 'acts'", "2:9: \"a***\" has 3 stars in a row; two at most"),
        (
            &format!("{rule}decision = 'allow'\nmet = ['acts']"),
            "4:1: met goes with the decisions \"ask\" and \"deny\" only",
        ),
        (
            &format!("{rule}decision = 'deny'\nreason = 'r'\nwhen = {{ n = {{ above = 5, below = 2 }} }}"),
            "5:14: can never hold: above = 5 with below = 2",
        ),
        (&format!("{rule}adds = 'acts'\n\n{rule}adds = 'acts'"), "5:1: this rule is the same as that of line 1"),
        (
            &format!(
                "{rule}decision = 'deny'\nreason = 'r'\nwhen = {{ to = 'a' }}\nallow = [\n  {{ to = 'b' }},\n  {{ to = 'a' }},\n]"
            ),
            "8:3: this example of \"send\" should end in \"allow\", not in \"deny\": the rule of line 1 decides",
        ),
    ];
    for (text, message) in cases {
        let sandbox = with_policy(text, "1");
        for command in [
            "policy check policy.toml",
            "policy explain --call send --policy policy.toml",
            "run p.js --policy policy.toml",
            "repl --policy policy.toml",
        ] {
            let ran = sandbox.run(command);
            assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{command}: {text}");
            assert!(
                ran.stderr.starts_with(&format!("error: policy.toml:{message}")),
                "{command}: {text}\n{}",
                ran.stderr
            );
        }
    }
    let sandbox = with_policy("default = 5", "1");
    let ran = sandbox.run("policy check policy.toml --json");
    let error = &ran.json()["error"];
    let message = "policy.toml:1:11: default takes \"allow\", \"ask\" or \"deny\", not 5";
    assert_eq!((ran.exit, &error["code"], &error["message"]), (Some(2), &json!("usage"), &json!(message)));
}

#[test]
fn a_policy_is_a_regular_file_of_text_within_a_bound() {
    let sandbox = with_policy("#", "1");
    sandbox.write("latin.toml", b"#\xe4");
    sandbox.write("big.toml", "#".repeat((1 << 20) + 1));
    let cases = [
        ("gone.toml", "cannot read gone.toml: No such file or directory (os error 2)"),
        ("/dev/zero", "/dev/zero: is not a regular file"),
        ("latin.toml", "latin.toml: not UTF-8 text"),
        ("big.toml", "big.toml: policy of 1048577 bytes is more than the limit of 1048576 bytes"),
    ];
    for (file, message) in cases {
        for command in ["policy check ", "run p.js --policy "] {
            let ran = sandbox.run(&format!("{command}{file}"));
            assert_eq!(ran.parts(), (Some(2), "", format!("error: {message}\n").as_str()), "{command}{file}");
        }
    }
}

#[test]
fn explain_tells_the_decision_and_all_it_rests_on() {
    let sandbox = with_policy(POLICY, "");
    let explain = |options: &str| {
        let ran = sandbox.run(&format!("policy explain --policy policy.toml --tools tools.toml --call send {options}"));
        assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), ""), "{options}");
        ran.stdout
    };
    let denied = "send: deny\n  does: acts\n  session has met: nothing\n  because: \"mail stays in the house\" (policy line 3)\n";
    assert_eq!(explain("--args {\"to\":\"x@evil.example\"}"), denied);
    // What cannot be told is denied as well.
    assert_eq!(explain(""), denied);
    let allowed = "send: allow\n  does: acts\n  session has met: untrusted\n";
    assert_eq!(explain("--args {\"to\":\"ann@own.example\",\"pages\":1} --taint untrusted"), allowed);
    let asked = "send: ask\n  does: acts\n  session has met: private, untrusted\n  \
                 because: \"long letters are read first\" (policy line 11)\n  \
                 because: rule of two: something before brought private data; something before brought untrusted content\n  \
                 decided by: editor\n  answers: approve, reject\n  waits for at most: 3600 s\n";
    let args = "--args {\"to\":\"ann@own.example\",\"pages\":4} --taint private,untrusted";
    assert_eq!(explain(args), asked);
    let ran = sandbox.run(&format!("policy explain --policy policy.toml --tools tools.toml --call send {args} --json"));
    let expected = json!({
        "call": "send", "decision": "ask", "effects": ["acts"], "met": ["private", "untrusted"],
        "reasons": [
            "\"long letters are read first\" (policy line 11)",
            "rule of two: something before brought private data; something before brought untrusted content",
        ],
        "roles": ["editor"], "decisions": ["approve", "reject"], "expires_s": 3600,
    });
    assert_eq!((ran.exit, ran.json()), (Some(0), expected));
}

#[test]
fn explain_goes_by_what_the_tools_file_says_of_a_tool() {
    let sandbox = Sandbox::with(
        "[tools.pay]\ncommand = [\"true\"]\napproval = \"ask\"\napproval_role = [\"b\", \"a\"]\napproval_expires = \"30s\"\n\
         [tools.bare]\ncommand = [\"true\"]\n[tools.read]\ncommand = [\"true\"]\neffects = [\"private\", \"untrusted\"]\ndeliver = \"handle\"\n",
        "",
    );
    let explain = |options: &str| sandbox.run(&format!("policy explain {options}")).stdout;
    // Without a label among labelled ones a tool counts as all three.
    let pay = "pay: ask\n  does: private, untrusted, acts\n  session has met: nothing\n  because: asks each time\n  \
               because: rule of two: has all three effects\n  decided by: a, b\n  waits for at most: 30 s\n";
    assert_eq!(explain("--tools tools.toml --call pay"), pay);
    let bare = "bare: allow\n  does: acts\n  session has met: nothing\n";
    assert_eq!(explain("--tools tools.toml --call bare --effects acts"), bare);
    // Nobody reads the result, so the session meets nothing by it.
    sandbox.write("strict.toml", "rule_of_two = \"strict\"");
    let read = "read: allow\n  does: private, untrusted\n  session has met: acts\n";
    assert_eq!(explain("--tools tools.toml --policy strict.toml --call read --taint acts"), read);
    let alone = "x: ask\n  does: acts\n  session has met: private, untrusted\n  because: rule of two: something before \
                 brought private data; something before brought untrusted content\n";
    assert_eq!(explain("--call x --effects acts --taint private,untrusted"), alone);
}

#[test]
fn what_explain_cannot_explain_is_usage() {
    let sandbox = with_policy(POLICY, "");
    let cases = [
        ("--call sned --tools tools.toml", "error: tools.toml: has no tool \"sned\"\n"),
        (
            "--call send --args {",
            "error: --args: \"{\" is not one JSON value: EOF while parsing an object at line 1 column 1\n",
        ),
        (
            "--call send --taint acts,reads",
            "error: invalid value 'reads' for '--taint <EFFECTS>': \"reads\" is none of: private, untrusted, acts\n",
        ),
    ];
    for (options, message) in cases {
        let ran = sandbox.run(&format!("policy explain {options}"));
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{options}");
        assert!(ran.stderr.starts_with(message), "{options}: {}", ran.stderr);
    }
}

#[test]
fn a_denied_call_is_not_run_and_the_program_may_catch_it() {
    let sandbox = with_policy(POLICY, "await tools.send({ to: 'x@evil.example' })");
    let ran = sandbox.run("run p.js --tools tools.toml --policy policy.toml");
    let told = "Denied: send: \"mail stays in the house\" (policy line 3)\nat line 1, column 13\n  \
                await tools.send({ to: 'x@evil.example' })\n              ^\n    at <eval> (program-1.js:1:12)\n";
    assert_eq!(ran.parts(), (Some(5), "", told));
    sandbox.write("p.js", "await tools.send({ to: 'x@evil.example' }).catch((error) => error.code)");
    let ran = sandbox.run("run p.js --tools tools.toml --policy policy.toml");
    assert_eq!(ran.parts(), (Some(0), "'denied'\n", ""));
    assert!(sandbox.lines("sent.jsonl").is_empty());
    assert_eq!(sandbox.run("run p.js --tools tools.toml").parts(), (Some(0), "{ sent: true }\n", ""));
}

#[test]
fn a_pause_says_where_why_who_and_until_when() {
    let source = "const all = [await tools.budget({}), await tools.inbox({})];\nawait tools.send({ to: 'ann@own.example', pages: 4 })";
    let sandbox = with_policy(POLICY, source);
    let text = sandbox.run("run p.js --tools tools.toml --policy policy.toml --save p.chry");
    let until = text.stderr.lines().find_map(|line| line.strip_prefix("      until ")).unwrap().to_owned();
    let reason = "rule of two: budget (call 1.1, line 1) brought private data; inbox (call 1.2, line 1) brought untrusted content";
    let told = format!(
        "paused: 1 call waits for a decision\n  1.3 send (line 2) {{\"pages\":4,\"to\":\"ann@own.example\"}}\n      \
         \"long letters are read first\" (policy line 11); {reason}\n      to be decided by: editor\n      \
         until {until}\nsaved: p.chry\n"
    );
    assert_eq!(text.parts(), (Some(3), "", told.as_str()));

    let report = sandbox.run("resume p.chry --tools tools.toml --policy policy.toml --json").json();
    let mut call = report["pending"][0].clone();
    let (digest, token) = (call["digest"].take(), call["token"].take());
    assert!([&digest, &token].iter().all(|hash| hash.as_str().is_some_and(|hash| hash.len() == 64)), "{report}");
    let program = Sha256::digest(source).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    });
    let expected = json!({
        "call": "1.3", "name": "send", "path": "tools.send", "line": 2, "column": 13,
        "args": { "pages": 4, "to": "ann@own.example" }, "digest": null, "token": null, "program": program,
        "reasons": ["\"long letters are read first\" (policy line 11)", reason],
        "effects": ["acts"],
        "met": [
            { "effect": "private", "by": "budget (call 1.1, line 1)" },
            { "effect": "untrusted", "by": "inbox (call 1.2, line 1)" },
        ],
        "policy": version(POLICY), "roles": ["editor"], "expires_at": until, "allowed": ["approve", "reject"],
    });
    assert_eq!(call, expected);
}

#[test]
fn a_policy_that_became_stricter_wins_over_an_approval() {
    let sandbox =
        with_policy("", "await tools.budget({}); await tools.inbox({}); await tools.send({ to: 'x@evil.example' })");
    sandbox.save();
    sandbox.write("strict.toml", POLICY);
    let ran = sandbox.resume("--policy strict.toml --approve 1.3");
    assert_eq!(ran.exit, Some(5), "{ran:?}");
    assert!(ran.stderr.starts_with("Denied: send: \"mail stays in the house\" (policy line 3)\n"), "{ran:?}");
    assert!(sandbox.lines("sent.jsonl").is_empty());
}

#[test]
fn an_edit_past_the_policy_leaves_the_file_alone() {
    let sandbox = with_policy(
        POLICY,
        "await tools.budget({}); await tools.inbox({}); await tools.send({ to: 'ann@own.example', pages: 1 })",
    );
    assert_eq!(sandbox.run("run p.js --tools tools.toml --policy policy.toml --save p.chry").exit, Some(3));
    let before = sandbox.bytes("p.chry");
    let ran = sandbox.resume("--policy policy.toml --edit 1.3 {\"to\":\"x@evil.example\"}");
    let message = "error: p.chry: call 1.3: send: \"mail stays in the house\" (policy line 3)\n";
    assert_eq!(ran.parts(), (Some(2), "", message));
    let longer = sandbox.resume("--policy policy.toml --edit 1.3 {\"to\":\"ann@own.example\",\"pages\":9}");
    let message = "error: p.chry: call 1.3: send with these arguments is to be decided by: editor\n";
    assert_eq!(longer.parts(), (Some(2), "", message));
    assert_eq!(sandbox.bytes("p.chry"), before);
    let ran = sandbox.resume("--policy policy.toml --edit 1.3 {\"to\":\"bob@own.example\",\"pages\":2}");
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert_eq!(sandbox.lines("sent.jsonl"), [r#"{"pages":2,"to":"bob@own.example"}"#]);
}

#[test]
fn the_prompt_goes_by_the_policy_and_by_who_sits_there() {
    let sandbox = with_policy(POLICY, "");
    let lines = "await tools.send({ to: 'x@evil.example' }).catch((error) => error.message)\n\
                 await tools.send({ to: 'ann@own.example', pages: 4 })\napprove\n";
    sandbox.write("lines", lines);
    let at_prompt = |options: &str| {
        let mut command = sandbox.command(&format!("repl --tools tools.toml --policy policy.toml {options}"));
        command.stdin(std::fs::File::open(sandbox.path("lines")).unwrap());
        finish(&mut command)
    };
    let ran = at_prompt("");
    assert_eq!(ran.exit, Some(3), "{ran:?}");
    assert_eq!(ran.stdout, "'send: \"mail stays in the house\" (policy line 3)'\n");
    assert!(ran.stderr.contains("call 2.2 is to be decided by: editor\n"), "{ran:?}");
    assert!(sandbox.lines("sent.jsonl").is_empty());
    let ran = at_prompt("--role editor");
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert_eq!(ran.stdout.lines().last(), Some("{ sent: true }"));
    assert_eq!(sandbox.lines("sent.jsonl").len(), 1);
}

#[test]
fn a_policy_may_switch_the_rule_of_two_on_or_off_by_name() {
    let source = "await tools.budget({}); await tools.inbox({}); await tools.send({})";
    let sandbox = with_policy("rule_of_two = \"off\"", source);
    let ran = sandbox.run("run p.js --tools tools.toml --policy policy.toml");
    assert_eq!(ran.parts(), (Some(0), "{ sent: true }\n", ""));
    sandbox.write("strict.toml", "rule_of_two = \"strict\"");
    sandbox.write("q.js", "await tools.send({}); await tools.budget({}); await tools.inbox({})");
    let ran = sandbox.run("run q.js --tools tools.toml --policy strict.toml --json");
    let reasons =
        json!(["rule of two: send (call 1.1, line 1) acted on the world; budget (call 1.2, line 1) brought private \
                          data; this call brings untrusted content"]);
    assert_eq!((ran.exit, &ran.json()["pending"][0]["reasons"]), (Some(3), &reasons));
    // Without labels and without a word of the policy it is off, which is told.
    let bare = Sandbox::with("[tools.x]\ncommand = [\"echo\", \"1\"]", "await tools.x({})");
    bare.write("policy.toml", "rule_of_two = \"off\"");
    let off = bare.run("run p.js --tools tools.toml");
    assert_eq!(off.parts(), (Some(0), "1\n", "note: no tool declares effects, so the rule of two is off\n"));
    assert_eq!(bare.run("run p.js --tools tools.toml --policy policy.toml").parts(), (Some(0), "1\n", ""));
}

/// The blocks of rules in the page for operators are rules, with examples that hold.
#[test]
fn the_rules_of_the_page_are_read() {
    let page = include_str!("../../../docs/policy.md");
    let blocks: Vec<&str> = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let rules: Vec<&&str> = blocks.iter().filter(|block| !block.contains("[tools.")).collect();
    assert!(rules.len() >= 4, "{} blocks", rules.len());
    for block in rules {
        Rules::parse(block).unwrap_or_else(|error| panic!("{error}\n{block}"));
    }
}

#[test]
fn a_policy_is_not_lost_by_being_forgotten() {
    let source = "await tools.budget({}); await tools.inbox({}); await tools.send({ to: 'ann@own.example', pages: 1 })";
    let sandbox = with_policy(POLICY, source);
    assert_eq!(sandbox.run("run p.js --tools tools.toml --policy policy.toml --save p.chry").exit, Some(3));
    let checked = sandbox.run("policy check policy.toml --json").json();
    let version = checked["version"].as_str().unwrap();
    let before = sandbox.bytes("p.chry");
    let message =
        format!("error: p.chry: was saved under policy {version}: give it with --policy, or say --without-policy\n");
    for options in ["", "--approve 1.3", "--fork --approve 1.3"] {
        assert_eq!(sandbox.resume(options).parts(), (Some(2), "", message.as_str()), "{options}");
        assert_eq!(sandbox.bytes("p.chry"), before);
    }
    let ran = sandbox.resume("--without-policy --approve 1.3 --json");
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    let note = format!("it was saved under policy {version} and goes on without one");
    assert_eq!(ran.json()["notes"], serde_json::json!([note]));
}
