//! Commands as tools: what they get, and every way in which they go wrong.

use std::fmt::Write;
use std::time::{Duration, Instant};

use crate::sandbox::{Ran, Sandbox, until};

/// Tools by name and shell script; the program asks each, and its value is what came.
fn ask(tools: &[(&str, &str)]) -> Ran {
    sandbox(tools, "").run("run p.js --tools tools.toml --json")
}

fn sandbox(tools: &[(&str, &str)], more: &str) -> Sandbox {
    let mut manifest = String::new();
    let mut source = "const all = [];\n".to_owned();
    for (name, script) in tools {
        writeln!(manifest, "[tools.{name}]\ncommand = [\"sh\", \"-c\", '''{script}''']\n{more}").unwrap();
        writeln!(
            source,
            "all.push(await tools.{name}({{ n: 1, t: 'ü' }}).catch((error) => `${{error.name}}: ${{error.message}}`));"
        )
        .unwrap();
    }
    source += "all";
    Sandbox::with(&manifest, &source)
}

fn one(script: &str) -> String {
    let ran = ask(&[("x", script)]);
    ran.json()["value"][0].as_str().unwrap_or_else(|| panic!("{ran:?}")).to_owned()
}

#[test]
fn a_command_gets_its_argument_folder_and_variables() {
    let sandbox = sandbox(
        &[
            ("cat", "cat"),
            ("vars", "env | grep ^CHRYSALID | cut -c1-30 | sort > vars; env >> all; pwd > where; echo null"),
        ],
        "",
    )
    .set("CHRYSALID_SECRET", "s3cret");
    std::fs::create_dir(sandbox.path("elsewhere")).unwrap();
    let ran = sandbox.run("run p.js --tools tools.toml --json");
    assert_eq!(ran.json()["value"], serde_json::json!([{ "n": 1, "t": "ü" }, null]));
    let vars = sandbox.lines("vars");
    assert_eq!(vars[0], "CHRYSALID_CALL=1.2");
    assert!(vars[1].starts_with("CHRYSALID_IDEMPOTENCY_KEY=") && vars.len() == 2, "{vars:?}");
    let all = sandbox.lines("all").join("\n");
    assert!(all.contains("PATH=") && !all.contains("s3cret") && !all.contains("0f101112131415"));
    assert_eq!(sandbox.lines("where"), [sandbox.folder().canonicalize().unwrap().to_str().unwrap()]);
}

#[test]
fn a_command_that_fails_says_why_in_its_last_line() {
    assert_eq!(one("echo first >&2; echo 'no such order: 5' >&2; echo >&2; exit 3"), "ToolError: no such order: 5");
    assert_eq!(one("exit 3"), "ToolError: tool x ended with exit status 3");
}

#[test]
fn a_command_that_prints_rubbish_is_told_apart() {
    let start = "ToolError: tool x printed something that is not one JSON value: ";
    assert_eq!(one("echo hello"), start.to_owned() + "expected value at line 1 column 1");
    assert_eq!(one("echo 1 2"), start.to_owned() + "trailing characters at line 1 column 3");
    assert_eq!(one("true"), start.to_owned() + "EOF while parsing a value at line 1 column 0");
    assert_eq!(one("printf '\\377'"), start.to_owned() + "expected value at line 1 column 1");
    assert_eq!(one("head -c 5000000 /dev/zero"), "ToolError: tool x printed more than 4194304 bytes");
    assert_eq!(one("yes"), "ToolError: tool x printed more than 4194304 bytes");
}

#[test]
fn a_command_that_a_signal_ends_says_which() {
    assert_eq!(one("kill -9 $$"), "ToolError: tool x was ended by signal 9 (SIGKILL)");
    assert_eq!(one("kill -TERM $$"), "ToolError: tool x was ended by signal 15 (SIGTERM)");
}

#[test]
fn a_command_that_is_not_there_is_told() {
    let sandbox = Sandbox::with(
        "[tools.a]\ncommand = [\"no-such-program\"]\n[tools.b]\ncommand = [\"./gone\"]\n[tools.c]\ncommand = [\"./plain\"]",
        "const all = [];\nfor (const x of ['a', 'b', 'c']) all.push(await tools[x]({}).catch((error) => error.message));\nall",
    );
    sandbox.write("plain", "");
    let ran = sandbox.run("run p.js --tools tools.toml --json");
    let value = serde_json::json!([
        "tool a: its command \"no-such-program\" was not found",
        "tool b: its command \"gone\" was not found",
        "tool c: its command \"plain\" may not be run",
    ]);
    assert_eq!(ran.json()["value"], value);
}

#[test]
fn a_command_that_hangs_is_killed_with_all_it_started() {
    let script = "sleep 1000 & echo $! > pid; sleep 1000";
    let sandbox = sandbox(&[("x", script)], "timeout = \"300ms\"");
    let begin = Instant::now();
    let ran = sandbox.run("run p.js --tools tools.toml --json");
    assert_eq!(ran.json()["value"][0], "ToolTimeout: x did not answer within 300ms");
    assert!(begin.elapsed() < Duration::from_secs(10));
    gone(&sandbox);
}

#[test]
fn a_program_that_ends_takes_its_commands_along() {
    let script = "sleep 1000 & echo $! > pid; wait";
    let sandbox = sandbox(&[("x", script)], "");
    let ran = sandbox.run("run p.js --tools tools.toml --json --wall-time 500ms");
    assert_eq!(ran.json()["error"]["code"], "wall_timeout");
    gone(&sandbox);
}

#[test]
fn what_a_command_leaves_behind_does_not_hold_the_call() {
    let sandbox = sandbox(&[("x", "sleep 1000 & echo $! > pid; echo 5")], "");
    let begin = Instant::now();
    let ran = sandbox.run("run p.js --tools tools.toml --json");
    assert_eq!(ran.json()["value"], serde_json::json!([5]));
    assert!(begin.elapsed() < Duration::from_secs(10));
    gone(&sandbox);
}

/// The process whose id is in `pid` ends.
fn gone(sandbox: &Sandbox) {
    let pid = sandbox.lines("pid")[0].clone();
    let stat = format!("/proc/{pid}/stat");
    // One that nobody has reaped yet counts as gone.
    until("the process is gone", || std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z ")));
}

#[test]
fn a_command_need_not_read_and_may_answer_much() {
    let source = "const big = 'x'.repeat(500_000);\nconst n = (await tools.many({ big })).length;\n[n, await tools.deaf({ big })]";
    let sandbox = Sandbox::with(
        "[tools.deaf]\ncommand = [\"echo\", \"1\"]\n[tools.many]\ncommand = [\"sh\", \"-c\", \"cat > /dev/null; echo noise >&2; \
         head -c 1000000 /dev/zero | tr '\\\\0' 'y' | sed 's/.*/\\\"&\\\"/'\"]",
        source,
    );
    let ran = sandbox.run("run p.js --tools tools.toml --json");
    assert_eq!(ran.json()["value"], serde_json::json!([1_000_000, 1]), "{}", ran.stderr);
}

#[test]
fn limits_of_a_tool_are_the_programs_errors() {
    let sandbox = Sandbox::with(
        "[tools.x]\ncommand = [\"echo\", \"1\"]\nmax_calls = 1\ninput = { type = \"object\", required = [\"a\"] }",
        "const all = [];\nfor (const a of [{}, { a: 1 }, { a: 1 }]) all.push(await tools.x(a).catch((error) => error.name));\nall",
    );
    let ran = sandbox.run("run p.js --tools tools.toml --json");
    assert_eq!(ran.json()["value"], serde_json::json!(["ToolInputError", 1, "CallBudgetExceeded"]));
}

#[test]
fn a_tools_file_is_a_regular_file_within_a_bound() {
    let sandbox = Sandbox::with("", "1");
    sandbox.write("big.toml", "#".repeat((4 << 20) + 1));
    sandbox.pipe("pipe");
    let cases = [
        ("/dev/zero", "/dev/zero: is not a regular file"),
        ("pipe", "pipe: is not a regular file"),
        (".", ".: is not a regular file"),
        ("big.toml", "big.toml: tools file of 4194305 bytes is more than the limit of 4194304 bytes"),
    ];
    for (file, message) in cases {
        for command in ["run p.js", "resume p.chry", "repl", "tools"] {
            let ran = sandbox.run(&format!("{command} --tools {file}"));
            assert_eq!(ran.parts(), (Some(2), "", format!("error: {message}\n").as_str()), "{command} {file}");
        }
    }
}

/// A call that gives and takes values as deep as they may be.
#[test]
fn json_is_as_deep_as_a_value_may_be() {
    let source = "let deep = 1;\nfor (let level = 0; level < 512; level++) deep = [deep];\n\
                  const depth = (value) => { let levels = 0; while (Array.isArray(value)) { value = value[0]; levels++ } return levels };\n\
                  const all = [depth(await tools.cat(deep)), await tools.deeper({}).catch((error) => error.message)];\n\
                  const given = depth(await tools.ask({})); [...all, given]";
    let tools = format!(
        "[tools.cat]\ncommand = [\"cat\"]\n[tools.deeper]\ncommand = [\"echo\", \"{}\"]\n\
         [tools.ask]\ncommand = [\"cat\"]\napproval = \"ask\"\n",
        "[".repeat(513) + &"]".repeat(513)
    );
    let sandbox = Sandbox::with(&tools, source);
    sandbox.save();
    let given = "[".repeat(512) + &"]".repeat(512);
    let ran = sandbox.resume(&format!("--respond 1.3 {given} --json"));
    let refused = "tool deeper printed something that is not one JSON value: it is nested deeper than 512 levels";
    assert_eq!(ran.json()["value"], serde_json::json!([512, refused, 512]), "{ran:?}");
}

#[test]
fn a_wrong_tools_file_is_usage_and_names_the_line() {
    let keys = "`description`, `command`, `input`, `output`, `effects`, `approval`, \
                `approval_role`, `approval_expires`, `deliver`, `subagent`, `timeout`, `concurrency`, `max_calls`, \
                `max_calls_per_session`, `idempotent`";
    let cases = [
        (
            "[tools.x]\ncommand = [\"x\"]\nretries = 3",
            format!("tools.toml:3: unknown key `retries`, expected one of {keys}"),
        ),
        ("[tools.x]\ncommand = \"x\"", "tools.toml:2: invalid type: string \"x\", expected a sequence".into()),
        (
            "\n[tools.\"a..b\"]\ncommand = [\"x\"]",
            "tools.toml:2: tool name \"a..b\" is not made of visible parts joined by dots, at most 256 bytes".into(),
        ),
        (
            "[tools.get-user]\ncommand = [\"x\"]\n[tools.getUser]\ncommand = [\"x\"]",
            "tools.toml: tools \"get-user\" and \"getUser\" cannot both be reached: they meet at tools.getUser".into(),
        ),
        (
            "[tools.a]\ncommand = [\"x\"]\n[tools.\"a.b\"]\ncommand = [\"x\"]",
            "tools.toml: tools \"a\" and \"a.b\" cannot both be reached: they meet at tools.a".into(),
        ),
    ];
    for (manifest, message) in cases {
        let sandbox = Sandbox::with(manifest, "1");
        let ran = sandbox.run("run p.js --tools tools.toml");
        assert_eq!(ran.parts(), (Some(2), "", format!("error: {message}\n").as_str()), "{manifest}");
    }
    let schema = Sandbox::with("[tools.x]\ncommand = [\"x\"]\ninput = { type = \"objekt\" }", "1");
    let ran = schema.run("run p.js --tools tools.toml");
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.starts_with("error: tools.toml:1: input schema of \"x\" does not compile: "), "{}", ran.stderr);
}
