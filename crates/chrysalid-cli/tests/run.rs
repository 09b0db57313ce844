//! `chrysalid run`: streams and exit statuses.

use std::io::Write;
use std::process::Stdio;

use crate::sandbox::{Sandbox, TOOLS};

fn program(source: &str) -> Sandbox {
    Sandbox::with("", source)
}

#[test]
fn w14_out_goes_to_stdout_and_the_error_to_stderr() {
    let ran = program("console.log(\"out\"); throw new Error(\"bad\")").run("run p.js");
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), "out\n"));
    let told = "Error: bad\n\
                at line 1, column 31\n  \
                console.log(\"out\"); throw new Error(\"bad\")\n                                \
                ^\n    \
                at <eval> (program-1.js:1:31)\n";
    assert_eq!(ran.stderr, told);
}

#[test]
fn lines_go_by_their_level_and_the_value_comes_last() {
    let source =
        "for (const level of ['log', 'info', 'debug', 'warn', 'error']) console[level](level, { n: 1 });\n[1, 'a']";
    let ran = program(source).run("run p.js");
    let out = "log { n: 1 }\ninfo { n: 1 }\ndebug { n: 1 }\n[ 1, 'a' ]\n";
    assert_eq!(ran.parts(), (Some(0), out, "warn { n: 1 }\nerror { n: 1 }\n"));
}

#[test]
fn a_program_without_a_value_prints_none() {
    assert_eq!(program("const a = 1;").run("run p.js").parts(), (Some(0), "", ""));
}

#[test]
fn a_dash_reads_standard_input() {
    let sandbox = Sandbox::new();
    let mut child = sandbox.command("run -").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"6 * 7").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"42\n"[..]));
}

#[test]
fn limits_exit_with_4() {
    let ran = program("for (;;) {}").run("run p.js --cpu-time 50ms");
    assert_eq!(ran.parts(), (Some(4), "", "Timeout: the program used more than 50ms of CPU time\n"),);
    let ran =
        program("const all = []; for (;;) all.push(new Array(1000).fill(all.length))").run("run p.js --memory 8MiB");
    assert_eq!(
        ran.parts(),
        (
            Some(4),
            "",
            "note: the session is back at what it was before this program\nOutOfMemory: the program used more than 8388608 bytes of memory\n"
        ),
    );
    let ran = program("await new Promise((done) => setTimeout(done, 5000))").run("run p.js --wall-time 50ms");
    assert_eq!(ran.parts(), (Some(4), "", "WallTimeout: the program used more than 50ms of wall-clock time\n"),);
}

#[test]
fn an_error_that_only_has_the_name_of_a_denial_is_none() {
    let source = "const error = new Error('no'); error.name = 'Denied'; throw error";
    let ran = program(source).run("run p.js");
    assert_eq!(ran.exit, Some(1));
    assert!(ran.stderr.starts_with("Denied: no\n"), "{ran:?}");
}

#[test]
fn a_program_of_10_mb_is_refused_by_name_and_bound() {
    let ran = program(&" ".repeat(10_000_000)).run("run p.js");
    let message = "error: p.js: source of 10000000 bytes is more than the limit of 262144 bytes\n";
    assert_eq!(ran.parts(), (Some(4), "", message));
}

#[test]
fn a_program_without_end_is_refused_at_the_bound() {
    let message = "error: /dev/zero: source is more than the limit of 262144 bytes\n";
    assert_eq!(Sandbox::new().run("run /dev/zero").parts(), (Some(4), "", message));
}

#[test]
fn a_pipe_may_hold_a_program() {
    let sandbox = Sandbox::new();
    sandbox.pipe("p.js");
    let pipe = sandbox.path("p.js");
    let writer = std::thread::spawn(move || std::fs::write(pipe, "6 * 7").unwrap());
    assert_eq!(sandbox.run("run p.js").parts(), (Some(0), "42\n", ""));
    writer.join().unwrap();
}

#[test]
fn an_error_shows_its_place_its_hint_and_what_caused_it() {
    let source = "const rows = [{ n: 1 }, {}];\nconst first = (row) => row.n.toFixed(1);\n\
                  try { rows.map(first) } catch (cause) {\n  throw new Error('two\\nlines', { cause });\n}";
    let ran = program(source).run("run p.js");
    let told = "Error: two\n  lines\nat line 4, column 13\n    throw new Error('two\\nlines', { cause });\n              ^\n    \
                at <eval> (program-1.js:4:13)\n\
                caused by TypeError: cannot read property 'toFixed' of undefined\n";
    assert_eq!(ran.parts(), (Some(1), "", told));
    let ran = program("import os\nprint(os.name)").run("run p.js");
    let told = "SyntaxError: expected `from` but found `print`\nat line 2, column 1\n  print(os.name)\n  ^\n\
                hint: this looks like Python; this tool runs JavaScript\n";
    assert_eq!(ran.parts(), (Some(1), "", told));
    let ran = program("let a = ;").run("run p.js");
    let told = "SyntaxError: unexpected `;`\nat line 1, column 9\n  let a = ;\n          ^\n";
    assert_eq!(ran.parts(), (Some(1), "", told));
}

#[test]
fn what_cannot_be_read_is_usage() {
    let sandbox = Sandbox::new();
    sandbox.write("latin.js", b"'\xe4'");
    sandbox.write("p.js", "1");
    let cases = [
        ("run gone.js", "error: cannot read gone.js: No such file or directory (os error 2)\n"),
        ("run .", "error: cannot read .: Is a directory (os error 21)\n"),
        ("run latin.js", "error: latin.js: not UTF-8 text\n"),
        ("run p.js --tools gone.toml", "error: cannot read gone.toml: No such file or directory (os error 2)\n"),
    ];
    for (line, message) in cases {
        assert_eq!(sandbox.run(line).parts(), (Some(2), "", message), "{line}");
    }
    for (line, start) in [
        ("run", "error: the following required arguments were not provided"),
        ("run p.js --nope", "error: unexpected argument '--nope' found"),
        ("run p.js --cpu-time 5", "error: invalid value '5' for '--cpu-time <TIME>': \"5\" has no unit"),
        ("run p.js --memory 1KiB", "error: memory limit of 1024 bytes is not between 4194304 and 268435456\n"),
        ("fly p.js", "error: unrecognized subcommand 'fly'"),
    ] {
        let ran = sandbox.run(line);
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{line}");
        assert!(ran.stderr.starts_with(start), "{line}: {}", ran.stderr);
    }
    assert_eq!(sandbox.run("run p.js --memory 512MiB").parts(), (Some(0), "1\n", ""));
}

#[test]
fn help_and_version_are_no_errors() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run("--version").parts(), (Some(0), "chrysalid 0.1.0\n", ""));
    let help = sandbox.run("--help");
    assert_eq!((help.exit, help.stderr.as_str()), (Some(0), ""));
    assert!(help.stdout.contains("Exit status: 0 done, 1 the program failed, 2 usage, 3 paused"), "{}", help.stdout);
}

#[test]
fn a_pause_that_nobody_keeps_is_told() {
    let sandbox = Sandbox::with(TOOLS, "console.log('before'); await tools.pay({ amount: 5 })");
    let ran = sandbox.run("run p.js --tools tools.toml");
    let told = "note: no tool declares effects, so the rule of two is off\n\
                paused: 1 call waits for a decision\n  \
                1.1 pay (line 1) {\"amount\":5}\n      asks each time\n\
                warning: the run is not saved and ends here; --save FILE keeps it\n";
    assert_eq!(ran.parts(), (Some(3), "before\n", told));
    assert_eq!(sandbox.names(), ["p.js", "tools.toml"]);
}

#[test]
fn a_pause_is_saved_and_nothing_else_is_left() {
    let sandbox = Sandbox::with(TOOLS, "await tools.pay({ amount: 5 })");
    let ran = sandbox.run("run p.js --tools tools.toml --save p.chry");
    assert_eq!(ran.exit, Some(3));
    assert!(ran.stderr.ends_with("saved: p.chry\n"), "{}", ran.stderr);
    assert_eq!(sandbox.names(), ["p.chry", "p.js", "tools.toml"]);
    sandbox.write("q.js", "1");
    assert_eq!(sandbox.run("run q.js --save q.chry").parts(), (Some(0), "1\n", ""));
    assert_eq!(sandbox.names(), ["p.chry", "p.js", "q.js", "tools.toml"]);
}

#[test]
fn a_file_that_matters_is_not_replaced() {
    let sandbox = Sandbox::with(TOOLS, "await tools.look({}); await tools.pay({ amount: 5 })");
    sandbox.save();
    let before = sandbox.bytes("p.chry");
    let waits = "error: p.chry: holds a program that still waits: resume it, or remove the file\n";
    let ran = sandbox.run("run p.js --tools tools.toml --save p.chry");
    assert_eq!(ran.parts(), (Some(2), "", waits));
    let source = "error: p.js: is a file of another kind, and is not replaced\n";
    assert_eq!(sandbox.run("run p.js --tools tools.toml --save p.js").parts(), (Some(2), "", source));
    let missing = sandbox.run("run p.js --tools tools.toml --save no/p.chry");
    assert_eq!(
        missing.parts(),
        (Some(6), "", "error: cannot write no/p.chry: No such file or directory (os error 2)\n")
    );
    assert_eq!(sandbox.bytes("p.chry"), before);
    assert_eq!(sandbox.lines("looked.txt").len(), 1);
}

#[test]
fn a_late_timer_pauses_a_program_that_is_saved() {
    let sandbox = Sandbox::with("", "await new Promise((done) => setTimeout(done, 3600e3)); 'late'");
    let ran = sandbox.run("run p.js --save p.chry --json");
    let report = ran.json();
    assert_eq!(
        (ran.exit, report["status"].as_str(), report["saved"].as_str()),
        (Some(3), Some("paused"), Some("p.chry"))
    );
    let wake_at = report["wake_at"].as_str().unwrap().to_owned();
    let before = sandbox.bytes("p.chry");
    let again = sandbox.run("resume p.chry");
    assert_eq!(again.parts(), (Some(3), "", format!("paused until {wake_at}\nsaved: p.chry\n").as_str()));
    assert_eq!(sandbox.bytes("p.chry"), before);
}
