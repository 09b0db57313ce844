//! Guests that are wrong as modules: an engine refuses them, whatever they would have done.

use std::time::{Duration, Instant};

use chrysalid::{Capabilities, Engine, Error, ErrorKind, Value};

use super::{PATIENCE, SANE, options, sane, shown};
use crate::script::{WAT, source};
use crate::support::{World, builder, eval, session};

/// Loading a guest may take this long: initialising it is bounded.
const LOADED: Duration = Duration::from_mins(1);

fn load(wasm: Vec<u8>) -> Result<Engine, Error> {
    builder().no_cache().guest(wasm).build()
}

/// The guest with one part of its text in place of another.
#[track_caller]
fn changed(part: &str, other: &str) -> Vec<u8> {
    assert!(WAT.contains(part), "{part}");
    wat::parse_str(WAT.replacen(part, other, 1)).unwrap_or_else(|error| panic!("{other}: {error}"))
}

/// The guest with something more in it.
fn with(more: &str) -> Vec<u8> {
    changed("(type $nothing (func))", &format!("(type $nothing (func)) {more}"))
}

#[track_caller]
fn refused(name: &str, wasm: Vec<u8>) -> String {
    let begun = Instant::now();
    let Err(error) = load(wasm) else { panic!("{name}: it was loaded") };
    assert_eq!(error.kind(), ErrorKind::Guest, "{name}: {error}");
    assert!(begun.elapsed() < LOADED, "{name} took {:?}", begun.elapsed());
    error.to_string()
}

const INIT: &str = r#"(func (export "init") (result i32) (i32.const 0))"#;
const INITIALIZE: &str = r#"(func (export "_initialize"))"#;
const VERSION: &str = r#"(func (export "abi_version") (result i32) (i32.const 5))"#;
const MEMORY: &str = r#"(memory (export "memory") 16)"#;
const TABLE: &str = "(table 4 4 funcref)";
const STACK: &str = r#"(global $stack (export "__stack_pointer") (mut i32) (i32.const 65536))"#;
const BOARD: &str = r#"(global (export "board") i32 (i32.const 65536))"#;

#[test]
fn bytes_that_are_no_module() {
    for (name, bytes) in [
        ("nothing", Vec::new()),
        ("text", b"(module)".to_vec()),
        ("a magic number", b"\0asm".to_vec()),
        ("an empty module", b"\0asm\x01\0\0\0".to_vec()),
        ("a component", b"\0asm\x0d\0\x01\0".to_vec()),
        ("a version that is none", b"\0asm\x02\0\0\0".to_vec()),
        ("20 MiB of zeros", vec![0; 20 << 20]),
        ("20 MiB after a magic number", [&b"\0asm\x01\0\0\0"[..], &vec![0xff; 20 << 20]].concat()),
        ("JavaScript", b"export default 1".to_vec()),
    ] {
        refused(name, bytes);
    }
}

#[test]
fn a_module_cut_at_any_place() {
    let whole = super::GUEST.clone();
    for length in (0..whole.len()).step_by(97) {
        refused(&format!("{length} bytes"), whole[..length].to_vec());
    }
}

#[test]
fn exports_that_are_missing_or_of_another_type() {
    let functions = [
        "inbox",
        "configure",
        "tools",
        "modules",
        "start",
        "pump",
        "settle",
        "loose",
        "outcome",
        "finish",
        "collect",
        "freed",
        "init",
        "abi_version",
        "_initialize",
    ];
    for name in functions.into_iter().chain(["board", "memory", "__stack_pointer"]) {
        let export = format!("(export \"{name}\")");
        let message = refused(name, changed(&export, ""));
        assert!(message.starts_with("guest: "), "{name}: {message}");
        refused(name, changed(&export, &format!("(export \"{name}2\")")));
    }
    for (name, part, other) in [
        ("inbox takes nothing", r#"(export "inbox") (param $length i32)"#, r#"(export "inbox") (param $length i64)"#),
        (
            "pump answers nothing",
            r#"(func (export "pump") (result i32) (call $entry (i32.const 6) (i32.const 0)))"#,
            r#"(func (export "pump"))"#,
        ),
        (
            "finish takes something",
            r#"(export "finish") (result i32)"#,
            r#"(export "finish") (param i32) (result i32)"#,
        ),
        ("a version of 64 bits", VERSION, r#"(func (export "abi_version") (result i64) (i64.const 5))"#),
        ("initialisation answers nothing", INIT, r#"(func (export "init"))"#),
        ("a board that is a function", BOARD, r#"(func (export "board"))"#),
        ("a board of 64 bits", BOARD, r#"(global (export "board") i64 (i64.const 65536))"#),
        ("memory that is a table", MEMORY, r#"(memory 16) (table (export "memory") 4 4 funcref)"#),
    ] {
        refused(name, changed(part, other));
    }
}

#[test]
fn another_version_of_the_abi() {
    for version in ["0", "1", "4", "6", "-1"] {
        let other = VERSION.replace("i32.const 5", &format!("i32.const {version}"));
        let told = version.parse::<i32>().unwrap().cast_unsigned();
        assert_eq!(
            refused(version, changed(VERSION, &other)),
            format!("guest: it speaks version {told} of the ABI, this engine speaks 5")
        );
    }
}

#[test]
fn imports_that_are_not_ours() {
    let import = r#"(import "chrysalid" "random" (func $random (param i32 i32)))"#;
    for more in [
        r#"(import "chrysalid" "exec" (func (param i32)))"#,
        r#"(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))"#,
        r#"(import "env" "memory" (memory 1))"#,
        r#"(import "env" "table" (table 1 funcref))"#,
        r#"(import "env" "global" (global i32))"#,
        r#"(import "chrysalid" "random" (func (param i64)))"#,
        r#"(import "chrysalid" "call" (func (param i32 i32 i32 i32)))"#,
        r#"(import "env" "tag" (tag (param i32)))"#,
        r#"(import "__wizer_" "call" (func))"#,
    ] {
        refused(more, changed(import, &format!("{import} {more}")));
    }
}

#[test]
fn forms_of_modules_that_no_guest_needs() {
    for more in [
        "(memory $second 1)",
        "(table $second 4 4 funcref)",
        "(tag $tag)",
        "(func (drop (table.grow 0 (ref.null func) (i32.const 1))))",
        "(func (table.set 0 (i32.const 0) (ref.null func)))",
        "(global (mut funcref) (ref.null func))",
        "(global (mut v128) (v128.const i64x2 1 1))",
    ] {
        refused(more, with(more));
    }
    for (part, other) in [
        (MEMORY, r#"(memory (export "memory") i64 16)"#),
        (MEMORY, r#"(memory (export "memory") 16 32 shared)"#),
        (MEMORY, r#"(memory (export "memory") 0)"#),
        (TABLE, "(table 10000000 10000000 funcref)"),
        (STACK, r#"(global $stack (export "__stack_pointer") (mut i64) (i64.const 65536))"#),
        (BOARD, r#"(global (export "board") i32 (i32.const -1))"#),
        (BOARD, r#"(global (export "board") i32 (i32.const 1048570))"#),
        // More than any session of the engine may have.
        (MEMORY, r#"(memory (export "memory") 8192)"#),
        (MEMORY, r#"(memory (export "memory") 65536)"#),
        (MEMORY, r#"(memory (export "memory") 65536 65536)"#),
    ] {
        // The 64-bit memory and stack need other instructions; their text is refused before the module is.
        let text = WAT.replacen(part, other, 1);
        if let Ok(wasm) = wat::parse_str(&text) {
            refused(other, wasm);
        }
    }
}

#[test]
fn initialisations_that_do_not_come_back() {
    let init = |body: &str| changed(INIT, &format!(r#"(func (export "init") (result i32) {body} (i32.const 0))"#));
    for body in
        ["unreachable", "(return (i32.const 1))", "(return (i32.const -1))", "(i32.store (i32.const -4) (i32.const 1))"]
    {
        refused(body, init(body));
    }
    refused("a start that traps", with("(func $begin unreachable) (start $begin)"));
    // Each takes as long as loading may take.
    let endless = [
        ("init", init("(loop (br 0))")),
        ("init that grows", init("(loop $again (drop (memory.grow (i32.const 1))) (br $again))")),
        ("_initialize", changed(INITIALIZE, r#"(func (export "_initialize") (loop (br 0)))"#)),
        ("start", with("(func $begin (loop (br 0))) (start $begin)")),
        ("version", changed(VERSION, r#"(func (export "abi_version") (result i32) (loop (br 0)) (i32.const 5))"#)),
    ];
    std::thread::scope(|scope| {
        for (name, wasm) in endless {
            scope.spawn(move || refused(name, wasm));
        }
    });
}

#[test]
fn what_a_guest_asks_of_the_host_while_it_is_initialised_is_not_done() {
    let body = r#"(func (export "init") (result i32) (local $times i32)
        (loop $again
          (call $log (i32.const 0) (i32.const -1) (i32.const -1))
          (call $random (i32.const -1) (i32.const -1))
          (drop (call $now (i32.const 9)))
          ;; No number: what it gets is kept in memory, where the program's value will be.
          (i32.store (i32.const 66060)
            (call $call (i32.const -1) (i32.const -1) (i32.const -1) (i32.const -1)
              (i32.const -1) (i32.const -1) (i32.const -1) (i32.const -1)))
          (local.set $times (i32.add (local.get $times) (i32.const 1)))
          (br_if $again (i32.lt_u (local.get $times) (i32.const 100000))))
        (i32.const 0))"#;
    let engine = load(changed(INIT, body)).unwrap();
    let world = World::new();
    let mut session = engine.session_with(&world.tools(), options()).unwrap();
    let looks = crate::script::out(super::OUTCOME, 66059, 2);
    let ended = world.run(&mut session, &source(&[super::bytes(super::START, 66059, b"\x04"), looks].concat())).ended();
    assert_eq!(shown(&ended), "0 | Intact");
    assert_eq!((ended.logs, ended.calls), (Vec::new(), Vec::new()));
}

#[test]
fn a_start_function_runs_once_and_in_no_session() {
    let more = "(func $begin (i32.store8 (i32.const 66049) (i32.add (i32.load8_u (i32.const 66049)) (i32.const 2))))
        (start $begin)";
    let engine = load(with(more)).unwrap();
    let world = World::new();
    for _ in 0..3 {
        let mut session = engine.session_with(&world.tools(), options()).unwrap();
        assert_eq!(shown(&world.run(&mut session, &sane()).ended()), SANE);
    }
}

#[test]
fn data_and_sections_without_number() {
    // 20 MiB that nobody reads: taken, and of no cost to a session.
    let length = [0x80, 0x80, 0x80, 0x0a];
    let custom = [&super::GUEST[..], &[0], &length[..], &[4], b"note", &vec![7; (20 << 20) - 5]].concat();
    let begun = Instant::now();
    let engine = load(custom).unwrap();
    let world = World::new();
    let mut session = engine.session_with(&world.tools(), options()).unwrap();
    assert_eq!(shown(&world.run(&mut session, &sane()).ended()), SANE);
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());

    // 20 MiB of data: more than a session of 8 MiB has room for, and one of 64 MiB takes it.
    let text = WAT.replacen(MEMORY, r#"(memory (export "memory") 400)"#, 1);
    let data = "\\07".repeat(1 << 20);
    let segments: String = (1..=20)
        .fold(String::new(), |segments, mib| segments + &format!("(data (i32.const {}) \"{data}\")", mib << 20));
    let engine = load(
        wat::parse_str(text.replacen("(type $nothing (func))", &format!("(type $nothing (func)) {segments}"), 1))
            .unwrap(),
    )
    .unwrap();
    let error = engine.session_with(&world.tools(), options()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Guest);
    let mut session = engine.session(&world.tools()).unwrap();
    assert_eq!(shown(&world.run(&mut session, &sane()).ended()), SANE);

    // Data behind the end of memory.
    refused("data behind memory", with("(data (i32.const 1048570) \"12345678\")"));
    refused("data at the end of addresses", with("(data (i32.const -1) \"1\")"));
}

#[test]
fn an_older_guest_that_is_none_harms_nobody_until_it_is_asked_for() {
    let engine = builder().older_guest(b"nothing".to_vec()).build().unwrap();
    let mut session_of_it = engine.session(&Capabilities::none()).unwrap();
    assert_eq!(eval(&mut session_of_it, "1 + 1"), Value::from(2));
    assert_eq!(eval(&mut session(), "1 + 1"), Value::from(2));
}
