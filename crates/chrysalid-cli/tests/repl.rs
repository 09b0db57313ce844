//! `chrysalid repl`: programs as lines without a terminal, and typed at one.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdin, Stdio};

use chrysalid::{Engine, Key};
use serde_json::json;

use crate::prompt::{SLOW, type_into};
use crate::sandbox::{KEY, Ran, Sandbox, TOOLS, until, waiting_to_pay};

const LINE: &str = "repl --tools tools.toml";
const NO_EFFECTS: &str = "note: no tool declares effects, so the rule of two is off\n";
const WAITS: &str =
    "\nthe program waits for a decision\n  1.1 pay (line 1)\n      asks each time\n{\n  \"amount\": 5\n}\n";
const OPEN: &str = "note: left open: .resume goes on with it, .save FILE keeps it, .cancel ends it\n";

fn begin(sandbox: &Sandbox, line: &str) -> (Child, ChildStdin) {
    let mut command = sandbox.command(line);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stdin = child.stdin.take().unwrap();
    (child, stdin)
}

fn end(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    Ran {
        exit: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Without a terminal.
fn feed(sandbox: &Sandbox, line: &str, input: impl AsRef<[u8]>) -> Ran {
    let (child, mut stdin) = begin(sandbox, line);
    // It may end before it has read everything.
    let _ = stdin.write_all(input.as_ref());
    drop(stdin);
    end(child)
}

fn paid(sandbox: &Sandbox) -> Vec<String> {
    sandbox.lines("paid.jsonl")
}

#[test]
fn programs_share_a_session() {
    let input = "const a = 20\n\nconst a = 21; // again\nconst twice = (x) => {\n\n  return x * 2\n}\n`a ${twice(a)}\nb`\ntwice(a)\nnull";
    let ran = feed(&Sandbox::new(), "repl", input);
    let told = "note: `twice` is defined but not called\n";
    assert_eq!(ran.parts(), (Some(0), "[Function: twice]\n'a 42\\nb'\n42\nnull\n", told));
}

#[test]
fn lines_go_by_their_level_and_steer_nothing() {
    let input = "console.log('out\\x1b[2J', [1]); console.warn('warned'); console.error('bad'); '\\u202e'\nundefined\n'undefined'";
    let ran = feed(&Sandbox::new(), "repl", input);
    assert_eq!(ran.parts(), (Some(0), "out\\x1b[2J [ 1 ]\n'\\u{202e}'\n'undefined'\n", "warned\nbad\n"));
}

#[test]
fn the_last_program_decides_the_exit_status() {
    let sandbox = Sandbox::new();
    let ran = feed(&sandbox, "repl", "1\nconst f = () => {\n  throw new TypeError('no\\x07')\n}\nf()");
    let told = "note: `f` is defined but not called\n\
                TypeError: no\\u{7}\nat line 1, column 1\n  f()\n  ^\n    \
                at f (program-2.js:2:13)\n    at <eval> (program-3.js:1:1)\n";
    assert_eq!(ran.parts(), (Some(1), "1\n[Function: f]\n", told));
    assert_eq!(feed(&sandbox, "repl", "throw 1\n2\n.nope\n").exit, Some(0));
    assert_eq!(feed(&sandbox, "repl", "f(").exit, Some(1));
    assert_eq!(feed(&sandbox, "repl", "").parts(), (Some(0), "", ""));
    assert_eq!(feed(&sandbox, "repl", "1\n.exit\n2").parts(), (Some(0), "1\n", ""));
}

#[test]
fn a_limit_ends_the_program_and_not_the_session() {
    let ran = feed(&Sandbox::new(), "repl --cpu-time 50ms", "let a = 7\nfor (;;) {}\na");
    assert_eq!(ran.parts(), (Some(0), "7\n", "Timeout: the program used more than 50ms of CPU time\n"));
}

#[test]
fn input_that_is_no_program_ends_the_session() {
    let sandbox = Sandbox::new();
    let ran = feed(&sandbox, "repl", format!("[{}\n1", "1,\n".repeat(100_000)));
    let told = "error: a program of standard input is larger than the limit of its source\n";
    assert_eq!(ran.parts(), (Some(4), "", told));
    let ran = feed(&sandbox, "repl", "x".repeat(300_000));
    assert_eq!(ran.parts(), (Some(4), "", told));
    let ran = feed(&sandbox, "repl", b"1\n'\xe4'\n2");
    assert_eq!(ran.parts(), (Some(2), "1\n", "error: standard input: not UTF-8 text\n"));
}

#[test]
fn wrong_options_are_usage() {
    let sandbox = Sandbox::new();
    for (line, start) in [
        ("repl p.js", "error: unexpected argument 'p.js' found"),
        ("repl --memory 1KiB", "error: memory limit of 1024 bytes is not between 4194304 and 268435456\n"),
        ("repl --tools gone.toml", "error: cannot read gone.toml: No such file or directory (os error 2)\n"),
        ("repl --key-file gone", "error: "),
    ] {
        let ran = feed(&sandbox, line, "1");
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{line}");
        assert!(ran.stderr.starts_with(start), "{line}: {}", ran.stderr);
    }
    assert_eq!(feed(&sandbox, "repl --json", "1").json()["error"]["code"], "usage");
}

#[test]
fn tools_limits_and_calls_are_listed() {
    let tools = format!(
        "{TOOLS}\n[tools.\"mail.send\"]\ndescription = \"\"\"\nSends a mail.\nAt once.\"\"\"\ncommand = [\"x\"]\n"
    );
    let sandbox = Sandbox::with(&tools, "");
    let input = ".tools\n.calls\n.limits\nawait tools.look({}); await tools.look({}) + 1\n.calls\n.limits\n";
    let ran = feed(&sandbox, "repl --tools tools.toml --memory 32MiB --wall-time 2m", input);
    // Times differ from run to run.
    let told: String = ran.stdout.lines().map(without_milliseconds).collect();
    let limits = |cpu: &str, calls: u32| {
        format!(
            "memory             32 MiB\n\
             CPU time           5s a program; {cpu} ms used by the last\n\
             wall-clock time    120s a program, outside of pauses\n\
             calls              256 a program; {calls} made by the last\n\
             calls at one time  32\n\
             calls that wait    64\n\
             argument           1 MiB\n\
             result of a call   4 MiB\n\
             value              1 MiB, depth 512, 1000000 parts\n\
             console            64 KiB a program\n\
             source             256 KiB a program\n\
             host memory        64 MiB\n\
             snapshot           as memory\n"
        )
    };
    let expected = [
        "look\nmail.send  Sends a mail.\npay\nthe last program made no calls\n",
        &limits("N", 0),
        "8\n1.1 look: completed, N ms\n1.2 look: completed, N ms\n",
        &limits("N", 2),
    ]
    .concat();
    assert_eq!((ran.exit, told.as_str(), ran.stderr.as_str()), (Some(0), expected.as_str(), NO_EFFECTS));
    assert!(ran.stdout.contains("5s a program; 0 ms used by the last\n"), "{}", ran.stdout);
}

/// The line with each number before `ms` made an N.
fn without_milliseconds(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let shown = words.iter().enumerate().map(|(place, word)| {
        let is_time = words.get(place + 1) == Some(&"ms") && word.parse::<u64>().is_ok();
        if is_time { "N" } else { word }
    });
    shown.collect::<Vec<_>>().join(" ") + "\n"
}

#[test]
fn one_tool_is_declared_by_its_name_or_path() {
    let tools = "[tools.\"mail-send\"]\ndescription = \"Sends a mail.\"\ncommand = [\"x\"]\napproval = \"ask\"\n\
                 input = { type = \"object\", required = [\"to\"], properties = { to = { type = \"string\" } } }\n\
                 output = { type = \"boolean\" }\n";
    let sandbox = Sandbox::with(tools, "");
    let ran =
        feed(&sandbox, LINE, ".tools mail-send\n.tools mailSend\n.tools tools.mailSend\n.tools mailsend\n.tools zzz");
    let declared = "declare const tools: {\n  /**\n   * Sends a mail.\n   * Its name is \"mail-send\".\n   \
                    * A person may be asked before it runs.\n   */\n  \
                    mailSend(input: { to: string }): Promise<boolean>;\n};\n";
    let told =
        format!("{NO_EFFECTS}error: no tool mailsend; is it mail-send?\nerror: no tool zzz; .tools lists them\n");
    assert_eq!(ran.parts(), (Some(0), declared.repeat(3).as_str(), told.as_str()));
}

#[test]
fn programs_import_from_the_folder() {
    let sandbox = Sandbox::new();
    sandbox
        .write("stats.ts", "export const mean = (all: number[]): number => all.reduce((a, b) => a + b) / all.length;");
    let input = "import { mean } from 'stats'; mean([1, 2, 6])\nmean([4])\n.clear\n(await import('./stats')).mean([5])";
    assert_eq!(feed(&sandbox, "repl --modules .", input).parts(), (Some(0), "3\n4\n5\n", ""));
}

#[test]
fn a_note_is_shown_once_and_at_the_pause() {
    let sandbox = Sandbox::with(TOOLS, "");
    let ran =
        feed(&sandbox, LINE, "export default async () => await tools.pay({ amount: 5 })\nquit\n.resume\napprove\n");
    let told = format!("{NO_EFFECTS}note: the default export was called\n{WAITS}{OPEN}{WAITS}");
    assert_eq!(ran.parts(), (Some(0), "{ paid: true }\n", told.as_str()));
}

#[test]
fn commands_that_cannot_be_done_say_why() {
    let sandbox = Sandbox::new();
    let input = ".tools\n.sav x\n.save\n.resume\n.cancel\n.load gone.chry\n.save no/p.chry\n.help me\n.5 + 1";
    let told = "error: no command .sav; is it .save?\n\
                error: which file? write .save FILE\n\
                error: no program waits\n\
                error: no program waits\n\
                error: cannot read gone.chry: No such file or directory (os error 2)\n\
                error: cannot write no/p.chry: No such file or directory (os error 2)\n\
                error: .help stands alone, and nothing is expected behind it\n";
    let ran = feed(&sandbox, "repl", input);
    assert_eq!(ran.parts(), (Some(0), "no tools: --tools FILE names some\n1.5\n", told));
    let help = feed(&sandbox, "repl", ".help");
    assert!(help.stdout.starts_with(".calls        calls of the last program, and how they ended\n"), "{help:?}");
    assert_eq!(help.stdout.lines().count(), 10);
}

#[test]
fn answers_are_the_next_lines() {
    let sandbox = Sandbox::with(TOOLS, "");
    let one = "try { await tools.pay({ amount: 5 }) } catch (error) { error.message }\n";
    let input = format!("{one}approve\n{one}reject\ntoo dear\n{one}respond\n[7]\n{one}edit\n{{\"amount\":6}}\n");
    let ran = feed(&sandbox, LINE, input);
    let values =
        "{ paid: true }\n'pay was rejected: too dear'\n[ 7 ]\n{ paid: true, edited_by_human: { amount: 6 } }\n";
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(0), values), "{}", ran.stderr);
    assert!(ran.stderr.starts_with(&format!("{NO_EFFECTS}{WAITS}\nthe program waits")), "{}", ran.stderr);
    assert_eq!(paid(&sandbox), [r#"{"amount":5}"#, r#"{"amount":6}"#]);
}

#[test]
fn a_line_that_is_no_answer_approves_nothing() {
    let sandbox = Sandbox::with(TOOLS, "");
    let ran = feed(&sandbox, LINE, "await tools.pay({ amount: 5 })\nconst next = 1\nnext\n.resume\nrespond\n{\n");
    let told = format!(
        "{NO_EFFECTS}{WAITS}\"const next = 1\" is none of: approve / edit / reject / respond / quit\n{OPEN}\
         error: a program waits: .resume goes on with it, .cancel ends it\n\
         {WAITS}not one JSON value: EOF while parsing an object at line 1 column 1\n{OPEN}\
         warning: the program that waits is not saved and ends here\n"
    );
    assert_eq!(ran.parts(), (Some(3), "", told.as_str()));
    assert!(paid(&sandbox).is_empty());
}

#[test]
fn a_pause_that_is_left_open_can_be_taken_up_or_cancelled() {
    let sandbox = Sandbox::with(TOOLS, "");
    let input = "let n = 1; await tools.pay({ amount: 5 }); n = 2\nquit\n.calls\n.resume\napprove\nn\n\
                 n = 3; await tools.pay({ amount: 5 }); n = 4\nquit\n.cancel\nn\n.calls\n";
    let ran = feed(&sandbox, LINE, input);
    assert_eq!(
        (ran.exit, ran.stdout.as_str()),
        (Some(0), "1.1 pay: waiting\n2\n2\n3\nthe last program made no calls\n"),
        "{ran:?}"
    );
    assert_eq!(paid(&sandbox), [r#"{"amount":5}"#]);
    assert!(ran.stderr.ends_with(&format!("{OPEN}Cancelled: the program was interrupted\n")), "{}", ran.stderr);
}

#[test]
fn what_is_saved_in_one_process_is_approved_in_another() {
    let sandbox = Sandbox::with(TOOLS, "");
    let program =
        "const n = await tools.look({})\nconst r = await tools.pay({ amount: 5 }); [n, r.paid]\n.save p.chry\n";
    let ran = feed(&sandbox, LINE, program);
    let waits = WAITS.replace("1.1", "2.2");
    assert_eq!(ran.parts(), (Some(3), "", format!("{NO_EFFECTS}{waits}{OPEN}saved: p.chry\nsaved: p.chry\n").as_str()));
    assert_eq!(std::fs::metadata(sandbox.path("p.chry")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(sandbox.inspect("p.chry")["state"], "waiting");
    assert!(sandbox.state().join("chrysalid/guests").is_dir());

    let ran = feed(&sandbox, LINE, ".load p.chry\napprove\nn + 1\n");
    assert_eq!(ran.parts(), (Some(0), "[ 7, true ]\n8\n", format!("{NO_EFFECTS}loaded: p.chry\n{waits}").as_str()));
    assert_eq!((paid(&sandbox).len(), sandbox.lines("looked.txt").len()), (1, 1));

    let inspected = sandbox.inspect("p.chry");
    let run = inspected["ended"]["run"].as_str().unwrap();
    assert_eq!(inspected["ended"]["status"], "done");
    let ran = feed(&sandbox, LINE, ".load p.chry\napprove\n");
    let told = format!("{NO_EFFECTS}error: p.chry: was resumed already; its run {run} is done\n");
    assert!(ran.stderr.starts_with(&told), "{}", ran.stderr);
    assert_eq!(paid(&sandbox).len(), 1);
}

#[test]
fn of_two_that_have_a_pause_one_goes_on() {
    let sandbox = Sandbox::with(TOOLS, "await tools.pay({ amount: 5 })");
    sandbox.save();
    let (child, mut stdin) = begin(&sandbox, LINE);
    stdin.write_all(b".load p.chry\n.tools\n1\n").unwrap();
    // It has loaded by the time it has answered; the other one is quicker to decide.
    until("loaded", || sandbox.inspect("p.chry")["state"] == "waiting");
    let mut child = child;
    wait_for_line(&mut child, "look");
    assert_eq!(sandbox.resume("--approve 1.1").exit, Some(0));
    stdin.write_all(b".resume\napprove\n.save q.chry\n.cancel\n").unwrap();
    drop(stdin);
    let ran = end(child);
    let taken = "error: p.chry: was resumed already; its run ";
    assert_eq!(ran.stderr.matches(taken).count(), 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("Cancelled: the program was interrupted\n"), "{}", ran.stderr);
    assert_eq!(paid(&sandbox), [r#"{"amount":5}"#]);
    assert!(!sandbox.path("q.chry").exists());
}

/// Reads stdout up to a line.
fn wait_for_line(child: &mut Child, line: &str) {
    use std::io::Read;
    let stdout = child.stdout.as_mut().unwrap();
    let mut seen = Vec::new();
    while !seen.ends_with(format!("{line}\n").as_bytes()) {
        let mut byte = [0];
        assert_eq!(stdout.read(&mut byte).unwrap(), 1, "never: {line}");
        seen.push(byte[0]);
    }
}

#[test]
fn a_loaded_run_stays_in_its_file_at_every_pause() {
    let sandbox = Sandbox::with(TOOLS, "await tools.pay({ amount: 5 }); await tools.pay({ amount: 6 }); 'both'");
    sandbox.save();
    let ran = feed(&sandbox, LINE, ".load p.chry\napprove\nquit\n");
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(3), ""));
    let left = "note: left open in p.chry: .resume goes on with it, .cancel ends it\nsaved: p.chry\n";
    assert!(ran.stderr.ends_with(left), "{}", ran.stderr);
    let inspected = sandbox.inspect("p.chry");
    assert_eq!((&inspected["state"], &inspected["pending"][0]["call"]), (&json!("waiting"), &json!("1.2")));
    let ran = feed(&sandbox, LINE, ".load p.chry\n.save q.chry\n.resume\napprove\n");
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(0), "'both'\n"), "{}", ran.stderr);
    assert_eq!(sandbox.inspect("p.chry")["state"], "forwarded");
    assert_eq!(sandbox.inspect("q.chry")["ended"]["status"], "done");
    assert_eq!(paid(&sandbox), [r#"{"amount":5}"#, r#"{"amount":6}"#]);
}

#[test]
fn the_claim_of_a_loaded_run_tells_who_decided_what() {
    let tools = "[tools.stuck]\ncommand = [\"sh\", \"-c\", \"touch stuck; sleep 1000\"]\napproval = \"ask\"\n";
    let sandbox = Sandbox::with(tools, "await tools.stuck({})");
    sandbox.save();
    let (mut child, mut stdin) = begin(&sandbox, LINE);
    stdin.write_all(b".load p.chry\napprove\n").unwrap();
    until("the call runs", || sandbox.path("stuck").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let claims = &sandbox.inspect("p.chry")["claims"];
    assert_eq!(claims[0]["decisions"], json!([{ "call": "1.1", "decision": "approve" }]));
    assert_eq!(claims[0]["calls"][0]["status"], "unknown");
    let ran = feed(&sandbox, LINE, ".load p.chry\n");
    let told = "error: p.chry: was resumed already, and that process ended without a word; \
                begun, and whether they were done is not known: 1.1 stuck; --fork goes on from the pause before it\n";
    assert!(ran.stderr.ends_with(told), "{}", ran.stderr);
}

#[test]
fn a_snapshot_of_the_library_is_loaded_and_claimed() {
    let engine = Engine::builder().pool_slots(0).key(Key::from_text(KEY).unwrap()).build().unwrap();
    let snapshot = waiting_to_pay(&engine, "(await tools.pay({ amount: 5 })).paid").snapshot().unwrap();
    let sandbox = Sandbox::with(TOOLS, "");
    sandbox.write("s.chry", &snapshot);
    assert_eq!(feed(&sandbox, LINE, ".load s.chry\nquit\n").exit, Some(3));
    assert_eq!(sandbox.bytes("s.chry"), snapshot);
    let ran = feed(&sandbox, LINE, ".load s.chry\napprove\n");
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(0), "true\n"), "{}", ran.stderr);
    assert_eq!(sandbox.inspect("s.chry")["state"], "ended");
    assert_eq!(paid(&sandbox).len(), 1);
}

#[test]
fn an_idle_session_is_saved_again_and_loaded_as_often_as_wanted() {
    let sandbox = Sandbox::new();
    let ran = feed(&sandbox, "repl", "let n = 1\n.save s.chry\nn = 2\n.save s.chry\n.clear\ntypeof n\n.load s.chry\nn");
    let told = "saved: s.chry\nsaved: s.chry\nloaded: s.chry\n";
    assert_eq!(ran.parts(), (Some(0), "2\n'undefined'\n2\n", told));
    let before = sandbox.bytes("s.chry");
    for _ in 0..2 {
        assert_eq!(feed(&sandbox, "repl", ".load s.chry\nn += 1").parts(), (Some(0), "3\n", "loaded: s.chry\n"));
    }
    assert_eq!(sandbox.bytes("s.chry"), before);
    // Somebody else's session is not replaced.
    let ran = feed(&sandbox, "repl", "let m = 1\n.save s.chry");
    let message = "error: s.chry: holds a program that still waits: resume it, or remove the file\n";
    assert_eq!(ran.parts(), (Some(0), "", message));
    sandbox.write("notes.txt", "mine");
    let ran = feed(&sandbox, "repl", ".save notes.txt");
    assert_eq!(ran.parts(), (Some(0), "", "error: notes.txt: is a file of another kind, and is not replaced\n"));
    assert_eq!(sandbox.bytes("s.chry"), before);
    assert_eq!(sandbox.names(), ["notes.txt", "s.chry"]);
}

#[test]
fn a_program_that_waits_is_not_dropped_for_another() {
    let sandbox = Sandbox::with(TOOLS, "");
    let ran = feed(&sandbox, LINE, "await tools.pay({ amount: 5 })\n.load s.chry\n.clear\n1");
    let told = format!(
        "{NO_EFFECTS}{WAITS}{OPEN}\
         error: a program waits and is not saved: .save FILE keeps it, .cancel ends it\n\
         warning: the program that waited was not saved and ends here\n"
    );
    assert_eq!(ran.parts(), (Some(0), "1\n", told.as_str()));
}

#[test]
fn late_timers_are_sat_out() {
    let source = "await new Promise((done) => setTimeout(done, 3600e3)); 'late'";
    let sandbox = Sandbox::with("", source);
    let (child, mut stdin) = begin(&sandbox, "repl");
    stdin.write_all(format!("{source}\n").as_bytes()).unwrap();
    let mut child = child;
    let stderr = child.stderr.as_mut().unwrap();
    let mut told = [0; 18];
    std::io::Read::read_exact(stderr, &mut told).unwrap();
    assert_eq!(&told, b"note: paused until");
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    assert_eq!(end(child).exit, Some(130));
}

#[test]
fn a_signal_ends_a_session_without_a_terminal() {
    let tools = "[tools.stuck]\ncommand = [\"sh\", \"-c\", \"sleep 1000 & echo $! > pid; touch stuck; wait\"]\n";
    let sandbox = Sandbox::with(tools, "");
    let (child, mut stdin) = begin(&sandbox, LINE);
    stdin.write_all(b"await tools.stuck({})\n1\n").unwrap();
    until("the call runs", || sandbox.path("stuck").exists());
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::TERM).unwrap();
    let ran = end(child);
    let told = format!("{NO_EFFECTS}Cancelled: the program was interrupted\n");
    assert_eq!(ran.parts(), (Some(1), "", told.as_str()));
    let pid = sandbox.lines("pid")[0].clone();
    until("the process is gone", || {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| stat.contains(") Z "))
    });
}

#[test]
fn without_a_key_a_session_runs_and_is_not_saved() {
    let sandbox = Sandbox::new().set("CHRYSALID_KEY", "nonsense");
    let ran = feed(&sandbox, "repl", "6 * 7\n.save s.chry");
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(0), "42\n"));
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("note: sessions cannot be saved: "), "{lines:?}");
    assert!(lines[1].starts_with("error: "), "{lines:?}");
    assert!(sandbox.names().is_empty());
}

// ---- at a terminal ----

/// Types each answer behind the text it belongs to; what the screen showed.
fn type_at(sandbox: &Sandbox, script: &[(&str, &str)]) -> Ran {
    type_into(sandbox, LINE, script)
}

fn at_terminal() -> Sandbox {
    Sandbox::with(TOOLS, "").set("TERM", "xterm").set("NO_COLOR", "")
}

/// The line editor begins to read keys: it asks for pasted text to be marked.
const READY: &str = "\u{1b}[?2004h";
const UP: &str = "\u{1b}[A";
const LEFT: &str = "\u{1b}[D";
const CTRL_A: &str = "\u{1}";
const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";
const BACKSPACE: &str = "\u{7f}";

#[test]
fn lines_are_edited_and_remembered() {
    let sandbox = at_terminal();
    let edit = format!("{UP}{LEFT}{BACKSPACE}{CTRL_A}4\r");
    let ran = type_at(
        &sandbox,
        &[(READY, "1 + 1\r"), ("2\n", ""), (READY, edit.as_str()), ("41 +1", ""), ("42\n", ""), (READY, CTRL_D)],
    );
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    let begin = "\u{1b}[2mchrysalid 0.1.0; .help lists the commands\u{1b}[0m\n\
                 \u{1b}[2mnote: no tool declares effects, so the rule of two is off\u{1b}[0m\n";
    assert!(ran.stdout.starts_with(begin), "{}", ran.stdout);

    let history = sandbox.state().join("chrysalid/repl_history");
    assert_eq!(std::fs::read_to_string(&history).unwrap(), "#V2\n1 + 1\n41 +1\n");
    assert_eq!(std::fs::metadata(&history).unwrap().permissions().mode() & 0o777, 0o600);
    let again = format!("{UP}{UP}\r");
    let ran = type_at(&sandbox, &[(READY, again.as_str()), ("2\n", ""), (READY, CTRL_D)]);
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&history).unwrap(), "#V2\n1 + 1\n41 +1\n1 + 1\n");
}

#[test]
fn without_a_state_folder_nothing_is_remembered() {
    let sandbox = at_terminal();
    sandbox.write("file", "");
    let not_a_folder = sandbox.path("file").to_str().unwrap().to_owned();
    let sandbox = sandbox.set("XDG_STATE_HOME", &not_a_folder);
    let again = format!("{UP}\r");
    let ran = type_at(&sandbox, &[(READY, "6 * 7\r"), ("42\n", ""), (READY, &again), ("42\n", ""), (READY, CTRL_D)]);
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert_eq!(sandbox.bytes("file"), b"");
}

#[test]
fn a_program_goes_on_while_something_is_open() {
    let sandbox = at_terminal();
    let ran = type_at(
        &sandbox,
        &[
            (READY, "const f = (x) => {\rreturn `${x}\r!`\r}\r"),
            (READY, "f('ha' +\r'ha')\r"),
            ("'haha\\n!'\n", ""),
            // A blank line runs what cannot go on, and an empty one runs nothing.
            (READY, "\r"),
            (READY, "f(\r\r"),
            ("SyntaxError: ", ""),
            (READY, CTRL_D),
        ],
    );
    assert_eq!(ran.exit, Some(1), "{ran:?}");
    let history = std::fs::read_to_string(sandbox.state().join("chrysalid/repl_history")).unwrap();
    assert_eq!(history, "#V2\nconst f = (x) => {\\nreturn `${x}\\n!`\\n}\nf('ha' +\\n'ha')\nf(\n");
}

#[test]
fn ctrl_c_clears_the_line_or_interrupts_the_program() {
    let sandbox = at_terminal();
    let cleared = format!("let a = 1; [{CTRL_C}");
    let ran = type_into(
        &sandbox,
        &format!("{LINE} --cpu-time 60s"),
        &[
            (READY, "let a = 7\r"),
            (READY, &cleared),
            ("\n", ""),
            // The refused call brings the line out before the loop begins.
            (READY, "console.log('be' + 'gan'); await tools.pay({}).catch(() => 0); for (;;) {}\r"),
            ("began\n", CTRL_C),
            ("Cancelled: the program was interrupted\n", ""),
            (READY, "console.log('a' + 'gain'); await new Promise((done) => setTimeout(done, 20e3))\r"),
            ("again\n", CTRL_C),
            ("Cancelled: the program was interrupted\n", ""),
            (READY, "a * 6\r"),
            ("42\n", ""),
            (READY, CTRL_D),
        ],
    );
    assert_eq!(ran.exit, Some(0), "{ran:?}");
}

const ASK: &str = "approve / edit / reject / respond / quit? ";
const PAY: &str = "let n = 5; const r = await tools.pay({ amount: n, to: '\\x1b[2J' }); [n, r]\r";

#[test]
fn calls_are_decided_in_place() {
    let sandbox = at_terminal();
    let ran = type_at(
        &sandbox,
        &[
            (READY, PAY),
            (ASK, "what\r"),
            (ASK, "edit\r"),
            ("as JSON: ", "{ \"amount\"\r"),
            ("not one JSON value: ", ""),
            ("as JSON: ", "{ \"amount\": 9 }\r"),
            ("[ 5, { paid: true, edited_by_human: { amount: 9 } } ]\n", ""),
            (READY, ".calls\r"),
            ("1.1 pay: completed, ", ""),
            (READY, ".exit\r"),
        ],
    );
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    let asked = "the program waits for a decision\n  1.1 pay (line 1)\n      asks each time\n{\n  \"amount\": 5,\n  \"to\": \"\\u001b[2J\"\n}\n";
    assert!(ran.stdout.contains(asked) && !ran.stdout.contains("\u{1b}[2J"), "{}", ran.stdout);
    assert_eq!(paid(&sandbox), [r#"{"amount":9}"#]);
    // Answers are nobody's programs.
    let history = std::fs::read_to_string(sandbox.state().join("chrysalid/repl_history")).unwrap();
    assert_eq!(history.lines().count(), 4, "{history}");
}

#[test]
fn what_was_typed_while_a_program_ran_decides_nothing() {
    let sandbox = at_terminal();
    sandbox.write("tools.toml", format!("{TOOLS}{SLOW}"));
    let source = "console.log('be' + 'gan'); await tools.slow({}); await tools.pay({ amount: 1 })\r";
    let script = [
        (READY, source),
        ("began\n", "approve\n"),
        ("approve\n", "\0go"),
        (ASK, "quit\r"),
        ("left open", ""),
        (READY, CTRL_D),
    ];
    let ran = type_at(&sandbox, &script);
    assert_eq!(ran.exit, Some(3), "{ran:?}");
    assert!(paid(&sandbox).is_empty());
}

#[test]
fn a_pause_is_saved_at_one_terminal_and_approved_at_another() {
    let sandbox = at_terminal();
    let ran = type_at(
        &sandbox,
        &[
            (READY, PAY),
            (ASK, CTRL_C),
            ("left open: .resume goes on with it, .save FILE keeps it, .cancel ends it", ""),
            ("paused> ", "1 + 1\r"),
            ("error: a program waits: .resume goes on with it, .cancel ends it\n", ""),
            ("paused> ", ".resume\r"),
            (ASK, ".save p.chry\r"),
            ("saved: p.chry", ""),
            ("paused> ", CTRL_D),
            ("saved: p.chry", ""),
        ],
    );
    assert_eq!(ran.exit, Some(3), "{ran:?}");
    assert!(paid(&sandbox).is_empty());
    let ran = type_at(
        &sandbox,
        &[
            (READY, ".load p.chry\r"),
            (ASK, "approve\r"),
            ("[ 5, { paid: true } ]\n", ""),
            (READY, "n + 1\r"),
            ("6\n", ""),
            (READY, CTRL_D),
        ],
    );
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert_eq!(paid(&sandbox), [r#"{"amount":5,"to":"\u001b[2J"}"#]);
    assert_eq!(sandbox.inspect("p.chry")["state"], "ended");
    assert_eq!(sandbox.resume("--approve 1.1").exit, Some(6));
    assert_eq!(paid(&sandbox).len(), 1);
}

#[test]
fn nothing_of_a_program_steers_the_terminal() {
    let sandbox = at_terminal();
    let ran = type_at(
        &sandbox,
        &[
            (
                "> ",
                "console.log('\\x1b]0;title\\x07'); console.error('\\x1b[7m'); throw new Error('\\x1b[7m\\x9b7m')\r",
            ),
            ("Error: ", ""),
            (READY, "'\\x1b[7m'\r"),
            ("\n", ""),
            (READY, CTRL_D),
        ],
    );
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    for sequence in ["\u{1b}]", "\u{7}", "\u{1b}[7m", "\u{9b}"] {
        assert!(!ran.stdout.contains(sequence), "{sequence:?} in {:?}", ran.stdout);
    }
    assert!(ran.stdout.contains("Error: \\u{1b}[7m\\u{9b}7m\nat line 1, column 70\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("^\n    at <eval> (program-1.js:1:70)\n"), "{}", ran.stdout);
}
