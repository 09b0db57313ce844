//! The check of counts notices slower work by its name: each kind of guest work, and work of the host under valgrind.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what does not hold ends in a panic")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Valgrind {
    Hidden,
    AsInstalled,
}

fn counts(command: &str, file: &Path, valgrind: Valgrind, options: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_chrysalid-counts"));
    program.arg(command).arg(file).args(options);
    if valgrind == Valgrind::Hidden {
        program.env("PATH", "");
    }
    program.output().expect("the program starts")
}

fn said(output: &Output) -> String {
    [output.stdout.as_slice(), &output.stderr].map(String::from_utf8_lossy).concat()
}

fn is_told(output: &Output, name: &str) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let told: Vec<&str> = said.lines().filter(|line| line.starts_with("not as recorded: ")).collect();
    let [line] = told.as_slice() else { panic!("{said}") };
    assert!(line.starts_with(&format!("not as recorded: {name}: ")), "{line}");
    assert!(line.contains(" % more than the recorded "), "{line}");
}

/// Names in a part of a recorded file.
fn names(text: &str, part: &str) -> Vec<String> {
    let table: toml::Table = text.parse().unwrap();
    table.get(part).and_then(toml::Value::as_table).unwrap().keys().cloned().collect()
}

#[test]
fn guest_work_that_takes_a_twentieth_more_is_told_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["first.toml", "second.toml"].map(|name| folder.path().join(name));
    for file in [&first, &second] {
        let output = counts("record", file, Valgrind::Hidden, &[]);
        assert!(output.status.success(), "{}", said(&output));
    }
    let text = fs::read_to_string(&first).unwrap();
    assert_eq!(text, fs::read_to_string(&second).unwrap(), "fuel is exact");
    let output = counts("check", &first, Valgrind::Hidden, &[]);
    assert!(output.status.success(), "{}", said(&output));

    let names = names(&text, "fuel");
    assert!(names.iter().any(|name| name == "fib(12)"), "{names:?}");
    for name in names {
        is_told(&counts("check", &first, Valgrind::Hidden, &["--slow", &name]), &name);
    }
}

#[test]
fn work_of_the_host_that_takes_a_twentieth_more_is_told_by_its_name() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("skipped: valgrind is not here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("counts.toml");
    let output = counts("record", &file, Valgrind::AsInstalled, &["--with", "rustc=1"]);
    assert!(output.status.success(), "{}", said(&output));
    let name = "encode a value";
    is_told(&counts("check", &file, Valgrind::AsInstalled, &["--with", "rustc=1", "--slow", name]), name);

    let elsewhere = counts("check", &file, Valgrind::AsInstalled, &["--with", "rustc=2", "--slow", name]);
    let said = said(&elsewhere);
    assert!(elsewhere.status.success(), "{said}");
    let told = "instructions of the host: skipped, they were recorded elsewhere: rustc is \"2\", not \"1\"";
    assert!(said.lines().any(|line| line == told), "{said}");
}

#[test]
fn without_valgrind_the_check_says_so_and_recording_keeps_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("counts.toml");
    fs::write(&file, "[fuel]\n[with]\n\"rustc\" = \"1\"\n[instructions]\n\"encode a value\" = 7\n").unwrap();
    let output = counts("record", &file, Valgrind::Hidden, &["--with", "rustc=2"]);
    let missing = "valgrind is not here; the system's package of that name has it (`apt-get install valgrind`)";
    let told = format!("instructions of the host: left as they are, {missing}");
    assert!(said(&output).lines().any(|line| line == told), "{}", said(&output));
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"rustc\" = \"1\"\n"), "{text}");
    assert!(text.contains("\"encode a value\" = 7\n"), "{text}");

    let output = counts("check", &file, Valgrind::Hidden, &[]);
    assert!(output.status.success(), "{}", said(&output));
    let told = format!("instructions of the host: skipped, {missing}");
    assert!(said(&output).lines().any(|line| line == told), "{}", said(&output));
}
