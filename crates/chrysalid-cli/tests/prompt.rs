//! Decisions at a terminal, which Python's `pty` plays.

use std::process::Command;

use crate::sandbox::{Ran, Sandbox, TOOLS, finish};

/// Runs words on a terminal of their own: waits for each text and types the answer, then prints what the screen showed.
const TERMINAL: &str = r#"
import json, os, pty, select, sys
script, words = json.loads(sys.argv[1]), sys.argv[2:]
pid, screen = pty.fork()
if pid == 0:
    os.execv(words[0], words)
shown = b""
def read():
    global shown
    if not select.select([screen], [], [], 30)[0]:
        sys.exit("nothing more came; the screen: " + repr(shown.decode()))
    try:
        part = os.read(screen, 4096)
    except OSError:
        part = b""
    shown += part
    return part
seen = 0
for text, answer in script:
    text = text.encode().replace(b"\n", b"\r\n")
    while text not in shown[seen:] and read():
        pass
    seen += shown[seen:].find(text) + len(text)
    if answer.startswith("\0"):
        open(answer[1:], "w").close()
    else:
        os.write(screen, answer.encode())
while read():
    pass
_, status = os.waitpid(pid, 0)
sys.stdout.write(shown.decode().replace("\r\n", "\n"))
sys.exit(os.waitstatus_to_exitcode(status))
"#;

fn type_in(sandbox: &Sandbox, script: &[(&str, &str)]) -> Ran {
    type_into(sandbox, "run p.js --tools tools.toml", script)
}

/// Runs a command line on a terminal, and types each answer behind the text it belongs to. An answer that begins with a
/// null character names a file that is made instead.
pub(crate) fn type_into(sandbox: &Sandbox, line: &str, script: &[(&str, &str)]) -> Ran {
    let inner = sandbox.command(line);
    let mut command = Command::new("python3");
    command.arg("-c").arg(TERMINAL).arg(serde_json::to_string(script).unwrap());
    command.arg(inner.get_program()).args(inner.get_args()).current_dir(sandbox.folder());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    finish(&mut command)
}

const ASK: &str = "approve / edit / reject / respond / quit? ";
const PROGRAM: &str = "const all = [];
for (const amount of [1, 2, 3, 4]) all.push(await tools.pay({ amount, to: 'x\\u001b[2J' }).catch((error) => error.message));
all";

#[test]
fn each_call_is_shown_and_decided() {
    let sandbox = Sandbox::with(TOOLS, PROGRAM);
    let ran = type_in(
        &sandbox,
        &[
            (ASK, "what\n"),
            (ASK, "approve\n"),
            (ASK, "reject\n"),
            ("reason", "too much\n"),
            (ASK, "respond\n"),
            ("as JSON: ", "{\n"),
            ("as JSON: ", "\"given\"\n"),
            (ASK, "edit\n"),
            ("as JSON: ", "{}\n"),
            (ASK, "edit\n"),
            ("as JSON: ", "{\"amount\": 9}\n"),
        ],
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.stdout);
    assert_eq!(sandbox.lines("paid.jsonl"), [r#"{"amount":1,"to":"x\u001b[2J"}"#, r#"{"amount":9}"#]);
    for part in [
        "the program waits for a decision\n  1.1 pay (line 2)\n      asks each time\n{\n  \"amount\": 1,\n  \"to\": \"x\\u001b[2J\"\n}\n",
        "not one JSON value: EOF while parsing an object at line 1 column 1\n",
        "call 1.4: pay: missing \"amount\" (integer)\n",
        "'pay was rejected: too much',\n  'given',\n",
    ] {
        assert!(ran.stdout.contains(part), "{part}\n---\n{}", ran.stdout);
    }
}

/// A tool that answers when there is a file `go`.
pub(crate) const SLOW: &str = r#"
[tools.slow]
command = ["sh", "-c", "while [ ! -e go ]; do sleep 0.01; done; echo 1"]
"#;

#[test]
fn what_was_typed_before_the_question_decides_nothing() {
    let source =
        "console.log('be' + 'gan'); await tools.slow({}); await tools.pay({ amount: 1 }).catch((error) => error.name)";
    let sandbox = Sandbox::with(&format!("{TOOLS}{SLOW}"), source);
    let ran =
        type_in(&sandbox, &[("began\n", "approve\n"), ("approve\n", "\0go"), (ASK, "reject\n"), ("reason", "\n")]);
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("nothing: \n'ToolRejected'\n"), "{}", ran.stdout);
    assert!(sandbox.lines("paid.jsonl").is_empty());
}

#[test]
fn quitting_is_a_pause() {
    let sandbox = Sandbox::with(TOOLS, PROGRAM);
    let ran = type_in(&sandbox, &[(ASK, "approve\n"), (ASK, "quit\n")]);
    assert_eq!(ran.exit, Some(3), "{}", ran.stdout);
    assert!(
        ran.stdout.ends_with("warning: the run is not saved and ends here; --save FILE keeps it\n"),
        "{}",
        ran.stdout
    );
    assert_eq!(sandbox.lines("paid.jsonl").len(), 1);
    let ran = type_in(&sandbox, &[(ASK, "\u{3}")]);
    assert_eq!(ran.exit, Some(3), "{}", ran.stdout);
}

#[test]
fn a_note_from_before_a_question_is_told_at_the_end() {
    let sandbox = Sandbox::with(TOOLS, "export default async () => (await tools.pay({ amount: 1 })).paid");
    let ran = type_in(&sandbox, &[(ASK, "approve\n")]);
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    let told = "true\nnote: no tool declares effects, so the rule of two is off\nnote: the default export was called\n";
    assert!(ran.stdout.ends_with(told), "{}", ran.stdout);
}
