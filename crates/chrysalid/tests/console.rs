//! The console: formats, groups, tables, counts. `cases/web/console.json` was compared with Node 20.

use std::path::Path;
use std::time::{Duration, Instant};

use chrysalid::{Capabilities, Ended, FailureKind, Heap, LogLevel, Value};
use serde_json::Value as Json;

use crate::support::{ENGINE, eval, run, session, text, with_limits};

fn lines(ended: &Ended) -> Vec<&str> {
    ended.logs.iter().map(|line| line.text.as_str()).collect()
}

#[test]
fn lines_are_as_in_node() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/web/console.json");
    let rows: Vec<Json> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for row in rows {
        let source = format!("{{ {} }} 1", row["run"].as_str().unwrap());
        let ended = run(&mut session(), &source);
        assert_eq!(lines(&ended).join("\n"), row["gives"].as_str().unwrap(), "{row}");
        assert_eq!(ended.result.unwrap(), Value::from(1), "{row}");
    }
}

#[test]
fn r15_console_methods() {
    let source = "console.info(\"i\"); console.debug(\"d\"); console.table([{a: 1, b: \"x\"}]); console.dir({a: 1}); console.group(\"g\"); console.log(\"in\"); console.groupEnd();\nconsole.assert(false, \"bad\"); console.time(\"t\"); console.timeEnd(\"t\"); console.count(); console.trace && \"end\"";
    let ended = run(&mut session(), source);
    let expected = [
        "i",
        "d",
        "┌─────────┬───┬─────┐\n│ (index) │ a │ b   │\n├─────────┼───┼─────┤\n│ 0       │ 1 │ 'x' │\n└─────────┴───┴─────┘",
        "{ a: 1 }",
        "g",
        "  in",
        "Assertion failed: bad",
    ];
    assert_eq!(lines(&ended)[..7], expected);
    assert!(ended.logs[7].text.starts_with("t: ") && ended.logs[7].text.ends_with("ms"), "{}", ended.logs[7].text);
    assert_eq!(ended.logs[8].text, "default: 1");
    assert_eq!(ended.result.unwrap(), Value::from("end"));
}

#[test]
fn values_within_a_format_are_rendered_by_the_host() {
    let source = "console.log('user %o has %d', { id: 1 }, 2, 'more'); console.log('%O', [1, [2]]); console.log('%s', new Map([[1, 2]]), 3);
        console.log('%s', { toString() { throw 1 } }); console.log('a=%o', new Date(0)); console.log('%d', new Date(5)); console.log('%j', { toJSON() { throw 1 } });
        const loop = {}; loop.self = loop; console.log('%j', loop)";
    assert_eq!(
        lines(&run(&mut session(), source)),
        [
            "user { id: 1 } has 2 more",
            "[ 1, [ 2 ] ]",
            "Map(1) { 1 => 2 } 3",
            "{ toString: [Function: toString] }",
            "a= 1970-01-01T00:00:00.000Z",
            "5",
            "[no JSON]",
            "[no JSON]",
        ]
    );
}

#[test]
fn no_method_throws_whatever_it_is_given() {
    let source = "const { proxy, revoke } = Proxy.revocable({}, {}); revoke();
        const nasty = [undefined, null, Symbol('s'), Symbol.iterator, proxy, new Proxy([], { get() { throw 1 }, ownKeys() { throw 2 } }),
            { get a() { throw 3 }, toString() { throw 4 }, toJSON() { throw 5 }, [Symbol.toPrimitive]() { throw 6 } }, Object.create(null),
            10n ** 5000n, -0, NaN, '', '%s %d %j %o %O %c %', [proxy], [[proxy]], [{ get a() { throw 7 } }], new Map([[proxy, proxy]]), new Set([proxy]),
            () => { throw 8 }, class { static get name() { throw 9 } }, Promise.resolve(), new WeakMap(), new Error('e'), new Date(NaN), new Uint8Array(3),
            new DataView(new ArrayBuffer(1)), document => 1, Object.assign([1], { length: 5 }), { length: -1 }, arguments => 1, globalThis, tools];
        let calls = 0;
        for (const name of Object.keys(console)) {
            console[name](); console.groupEnd();
            for (const value of nasty) {
                console[name](value); console[name]('%s %d %i %f %j %o %O', value, value, value, value, value, value, value);
                console[name](value, value); console[name]([value], [value]); console[name]({ a: value }, value); calls += 5;
            }
        }
        while (calls % 5) console.groupEnd(); [Object.keys(console).length, calls]";
    let value = eval(&mut session(), source);
    assert_eq!(value.to_string(), "[ 22, 3520 ]");
}

#[test]
fn methods_work_apart_from_the_console() {
    let ended = run(
        &mut session(),
        "const { log, table, count } = console; [1].forEach(log); count.call(null, 'c'); log.apply(undefined, ['x'])",
    );
    assert_eq!(lines(&ended), ["1 0 [ 1 ]", "c: 1", "x"]);
}

#[test]
fn labels_are_texts_and_missing_ones_are_told() {
    let source = "console.count(Symbol('s')); console.count({}); console.count(null); console.count(undefined); console.countReset('none');
        console.timeEnd('none'); console.timeLog('none'); console.time('t'); console.time('t')";
    let ended = run(&mut session(), source);
    let expected = [
        (LogLevel::Log, "Symbol(s): 1"),
        (LogLevel::Log, "{}: 1"),
        (LogLevel::Log, "null: 1"),
        (LogLevel::Log, "default: 1"),
        (LogLevel::Warn, "Count for 'none' does not exist"),
        (LogLevel::Warn, "No such label 'none'"),
        (LogLevel::Warn, "No such label 'none'"),
        (LogLevel::Warn, "Label 't' already exists"),
    ];
    let found: Vec<_> = ended.logs.iter().map(|line| (line.level, line.text.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_group_ends_with_its_program_and_counts_do_not() {
    let mut session = session();
    let _ = run(&mut session, "console.group('g'); console.count(); throw 1");
    assert_eq!(lines(&run(&mut session, "console.log('fresh'); console.count()")), ["fresh", "default: 2"]);
}

#[test]
fn tables_are_bounded() {
    let ended = run(
        &mut session(),
        "console.table(Array.from({ length: 1200 }, (_, i) => i)); console.table([Object.fromEntries(Array.from({ length: 80 }, (_, i) => ['c' + i, i]))]); console.table([{ a: 'x'.repeat(1e6) }])",
    );
    assert!(ended.logs[0].text.ends_with("┘\n... 200 more rows"), "{}", ended.logs[0].text.len());
    assert_eq!(ended.logs[1].text.lines().next().unwrap().matches('┬').count(), 50);
    assert_eq!(ended.logs[2].text.lines().next().unwrap().chars().count(), 1 + 9 + 1 + 202 + 1);
}

#[test]
fn a_table_of_long_texts_and_large_objects_is_stopped_in_time() {
    let options = with_limits(|limits| limits.cpu_time = Duration::from_millis(300));
    let mut session = ENGINE.session_with(&Capabilities::none(), options).unwrap();
    let cells = "const row = value => Object.fromEntries(Array.from({ length: 50 }, (_, i) => ['c' + i, value]));
        const rows = value => Array.from({ length: 1000 }, () => row(value));
        const large = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => ['k' + i, i]));
        const long = 'é'.repeat(1000000);";
    eval(&mut session, cells);
    for source in ["for (;;) console.table(rows(long))", "for (;;) console.table(rows(large))"] {
        let start = Instant::now();
        let ended = run(&mut session, source);
        assert_eq!(ended.result.unwrap_err().kind, FailureKind::Timeout, "{source}");
        assert_eq!(ended.heap, Heap::Intact, "{source}");
        assert!(start.elapsed() < Duration::from_secs(20), "{source}: {:?}", start.elapsed());
    }
}

#[test]
fn cells_show_the_properties_of_a_list_and_objects_with_few_keys() {
    let source = "const list = [1, 2]; list.more = { b: 1, 1: 2 }; console.table([list]); console.table([{ a: {}, b: { x: 1, y: 2, z: 3 } }])";
    let ended = run(&mut session(), source);
    let expected = [
        "┌─────────┬───┬───┬──────────────────┐\n│ (index) │ 0 │ 1 │ more             │\n├─────────┼───┼───┼──────────────────┤\n│ 0       │ 1 │ 2 │ { '1': 2, b: 1 } │\n└─────────┴───┴───┴──────────────────┘",
        "┌─────────┬────┬──────────┐\n│ (index) │ a  │ b        │\n├─────────┼────┼──────────┤\n│ 0       │ {} │ [Object] │\n└─────────┴────┴──────────┘",
    ];
    assert_eq!(lines(&ended), expected);
}

#[test]
fn names_are_cut_between_characters() {
    let mut session = session();
    let source = "const name = 'x' + 'ä'.repeat(50); const f = () => 1; Object.defineProperty(f, 'name', { value: name });
        class C {} Object.defineProperty(C, 'name', { value: name }); console.log(f); console.log(C); console.log(Symbol('x' + '😀'.repeat(50)))";
    let ended = run(&mut session, source);
    let cut = format!("x{}", "ä".repeat(31));
    assert_eq!(
        lines(&ended),
        [format!("[Function: {cut}]"), format!("[class {cut}]"), format!("Symbol(x{}", "😀".repeat(20))]
    );
    let source =
        "let m; try { (1).toLocaleString('en', { style: 'x' + 'ä'.repeat(40) }) } catch (e) { m = e.message } m";
    let shown = "ä".repeat(19);
    let message = format!("Value x{shown} out of range for Number.prototype.toLocaleString options property style");
    assert_eq!(eval(&mut session, source), text(&message));
    assert_eq!(
        lines(&run(&mut session, "console.log(new URL('http://h/' + 'a'.repeat(2000)))")),
        [format!("URL {{ href: 'http://h/{}...' }}", "a".repeat(951))]
    );
}
