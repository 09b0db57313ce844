//! The console: formats, groups, tables, counts. `cases/web/console.json` was compared with Node 20.

use std::path::Path;

use chrysalid::{Ended, LogLevel, Value};
use serde_json::Value as Json;

use crate::support::{eval, run, session};

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
