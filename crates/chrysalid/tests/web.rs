//! What programs expect beside the language: URLs, text, clones, events, random numbers, texts in the way of a locale.
//!
//! `cases/web` holds expressions and what they give. The values were compared with those of Node 20; where a row has a
//! `node` as well, Node gives that, and we differ on purpose: a newer state of the URL standard, windows-1252 as the
//! encoding standard has it, a `DOMException` that survives a clone, or a plainer kind of error.

use std::path::Path;
use std::time::Duration;

use chrysalid::{Capabilities, Decision, FailureKind, LogLine, Session, Value};
use serde_json::{Value as Json, json};

use crate::support::{BOTH, ENGINE, World, begin, eval, fails, json, run, session, text, with_limits};

fn file(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/web").join(name)).unwrap()
}

fn rows(name: &str) -> Vec<Json> {
    serde_json::from_str(&file(name)).unwrap()
}

const PARTS: &str = "[u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, \
                     u.search, u.hash]";

/// A program that gives the parts of a URL, or null where the text is none.
fn parts_of_url(row: &Json) -> String {
    let base = row.get("base").map(|base| format!(", {base}")).unwrap_or_default();
    let set = match (row["set"].as_str(), &row["to"]) {
        (Some(part), to) => format!("u.{part} = {to};"),
        _ => String::new(),
    };
    format!("let out = null; try {{ const u = new URL({}{base}); {set} out = {PARTS}; }} catch {{}} out", row["url"])
}

/// A program that gives JSON of an expression, or the name of its error.
fn shown(row: &Json) -> String {
    format!(
        "let out; try {{ out = JSON.stringify({}, (k, x) => x === undefined ? '<undefined>' : typeof x === 'bigint' ? x \
         + 'n' : x); }} catch (x) {{ out = '! ' + x.name; }} out",
        row["run"].as_str().unwrap()
    )
}

fn check_urls(session: &mut Session) {
    for name in ["urls.json", "setters.json"] {
        let rows = rows(name);
        assert!(rows.len() > 100, "{name}");
        for row in rows {
            assert_eq!(eval(session, &parts_of_url(&row)), json(row["parts"].clone()), "{row}");
        }
    }
}

fn check_expressions(name: &str) {
    let mut session = session();
    for row in rows(name) {
        assert_eq!(eval(&mut session, &shown(&row)), text(row["gives"].as_str().unwrap()), "{row}");
    }
}

// ---- URLs ----

#[test]
fn urls_have_the_parts_that_the_standard_gives_them() {
    check_urls(&mut session());
}

#[test]
fn search_parameters_do_as_in_node() {
    check_expressions("search_params.json");
}

#[test]
fn the_class_url_does_as_in_node() {
    check_expressions("url_class.json");
}

#[test]
fn long_urls_take_linear_time() {
    let mut session = session();
    for source in [
        "new URL('http://h/' + 'a/'.repeat(200000)).href.length",
        "new URL('http://h/' + 'a/../'.repeat(80000)).href.length",
        "new URL('http://h/?' + 'a=1&'.repeat(100000)).searchParams.size",
        "new URL('http://' + '@'.repeat(200000) + 'h/').username.length",
        "new URL('http://' + '1.'.repeat(200000) + 'h/').host.length",
        "const u = new URL('http://h/'); for (let i = 0; i < 50000; i++) u.searchParams.append('a', i); u.href.length",
        "URL.canParse('http://' + 'ä'.repeat(300000) + '/')",
        "URL.canParse('http://a' + '\\u0301\\u0316'.repeat(50000) + '/')",
        "URL.canParse('http://' + 'ä.'.repeat(50000) + '/')",
    ] {
        let ended = run(&mut session, source);
        assert!(ended.result.is_ok(), "{source}: {:?}", ended.result);
    }
    assert_eq!(eval(&mut session, "URL.canParse('http://' + 'ä'.repeat(256) + '/')"), Value::from(false));
    assert_eq!(eval(&mut session, "new URL('http://' + 'ä'.repeat(255) + '/').host.length"), Value::from(261));
    assert_eq!(eval(&mut session, "URL.canParse('http://' + 'ä.'.repeat(500) + '/')"), Value::from(true));
    assert_eq!(eval(&mut session, "URL.canParse('http://' + 'ä.'.repeat(501) + '/')"), Value::from(false));
}

// ---- text, clones, events, random numbers ----

#[test]
fn r14_web_helpers_models_use() {
    let source = "[new URL(\"https://e.test/a?x=1&x=2#h\").searchParams.getAll(\"x\").length,\n new TextDecoder().decode(new TextEncoder().encode(\"h\\u00e9\")), structuredClone({d: new Date(5)}).d.getTime(),\n atob(btoa(\"hi\")), crypto.randomUUID().length, typeof queueMicrotask, new URLSearchParams({q: \"a b\"}).toString()].join()";
    assert_eq!(eval(&mut session(), source), text("2,hé,5,hi,36,function,q=a+b"));
}

#[test]
fn texts_and_bytes_do_as_in_node() {
    check_expressions("encoding.json");
}

#[test]
fn clones_do_as_in_node() {
    check_expressions("clone.json");
}

#[test]
fn a_clone_is_bounded_in_depth_and_time() {
    let mut session = session();
    let source = "let d = {}; for (let i = 0; i < 100000; i++) d = { d }; structuredClone(d)";
    let failure = fails(&mut session, source);
    assert_eq!(failure.to_string(), "RangeError: structuredClone: the value is deeper than 1000 levels");
    let source =
        "let a = 1; for (let i = 0; i < 900; i++) a = i % 3 ? [a] : i % 2 ? { a } : new Map([[a, a]]).size && { a };
        let c = structuredClone(a), n = 0; while (typeof c === 'object') { c = c.a ?? c[0]; n++; } n";
    assert_eq!(eval(&mut session, source), Value::from(900));

    let options = with_limits(|limits| limits.cpu_time = Duration::from_millis(200));
    let mut session = ENGINE.session_with(&Capabilities::none(), options).unwrap();
    let source = "const big = Array.from({ length: 20000 }, () => ({})); for (;;) structuredClone(big)";
    assert_eq!(fails(&mut session, source).kind, FailureKind::Timeout);
    assert_eq!(eval(&mut session, "1 + 1"), Value::from(2));
}

#[test]
fn recursion_through_the_helpers_ends_in_an_error_and_not_in_a_trap() {
    let mut session = session();
    for source in [
        "function deep() { let d = { get a() { return deep() } }; for (let i = 0; i < 990; i++) d = { d }; return structuredClone(d) } deep()",
        "function wide() { let d = [{ get a() { return wide() } }]; for (let i = 0; i < 990; i++) d = i % 2 ? [d] : new Map([[1, d]]); return structuredClone(d) } wide()",
        "const t = new EventTarget(); t.addEventListener('x', () => t.dispatchEvent(new Event('x'))); t.dispatchEvent(new Event('x')); throw new RangeError()",
        "function nest() { return new URL({ toString: nest }) } nest()",
        "function list() { return new URLSearchParams({ get a() { return list() } }) } list()",
        "function pairs() { return new URLSearchParams({ [Symbol.iterator]: pairs }) } pairs()",
        "function text() { return new TextEncoder().encode({ toString: text }) } text()",
        "function any() { return AbortSignal.any({ [Symbol.iterator]: any }) } any()",
        "const o = { toJSON() { console.log('%j', o) } }; console.log('%j', o); throw new RangeError()",
        "function locale() { return (1).toLocaleString('en-US', { get style() { return locale() } }) } locale()",
    ] {
        let failure = fails(&mut session, source);
        assert_eq!(
            (failure.kind, failure.name.as_str()),
            (FailureKind::Exception, "RangeError"),
            "{source}: {failure}"
        );
    }
    assert_eq!(eval(&mut session, "1 + 1"), Value::from(2));
}

#[test]
fn events_and_signals_do_as_in_node() {
    check_expressions("events.json");
}

#[test]
fn an_error_in_a_listener_fails_the_program_after_the_others_ran() {
    let mut session = session();
    let source =
        "const t = new EventTarget(); t.addEventListener('x', () => { throw new RangeError('in a listener') });
        t.addEventListener('x', () => console.log('second')); t.dispatchEvent(new Event('x')); console.log('after'); 1";
    let ended = run(&mut session, source);
    assert_eq!(ended.result.unwrap_err().to_string(), "RangeError: in a listener");
    let lines: Vec<_> = ended.logs.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(lines, ["second", "after"]);
}

#[test]
fn random_numbers_come_in_the_forms_of_the_web() {
    check_expressions("crypto.json");
}

#[test]
fn what_crypto_lacks_is_said() {
    let failure = fails(&mut session(), "await crypto.subtle.digest('SHA-256', new Uint8Array(1))");
    assert_eq!(
        eval(&mut session(), "let e; try { crypto.subtle } catch (x) { e = `${x.name}: ${x.message}` } e"),
        text("NotSupportedError: crypto.subtle is not available here: hashes, signatures and ciphers need a tool")
    );
    assert_eq!(failure.kind, FailureKind::Exception);
}

#[test]
fn the_helpers_are_globals_that_a_program_may_replace() {
    let mut session = session();
    let source = "['URL', 'URLSearchParams', 'TextEncoder', 'TextDecoder', 'structuredClone', 'crypto', 'performance', 'Event',
        'CustomEvent', 'EventTarget', 'AbortController', 'AbortSignal', 'DOMException', 'setTimeout', 'setInterval', 'setImmediate',
        'clearTimeout', 'clearInterval', 'clearImmediate', 'queueMicrotask', 'atob', 'btoa', 'console'].filter((name) => {
            const d = Object.getOwnPropertyDescriptor(globalThis, name);
            return !(d && d.writable && d.configurable && !d.enumerable) })";
    assert_eq!(eval(&mut session, source), json(json!([])));
    assert_eq!(eval(&mut session, "const URL = 5; URL + 1"), Value::from(6));
    assert_eq!(eval(&mut session, "globalThis.atob = () => 'mine'; atob('aGk=')"), text("mine"));
}

// ---- timers ----

#[test]
fn r13_set_timeout_with_one_argument_clear_inside_callback() {
    let source = "let n = 0; const id = setInterval(() => { if (++n === 3) clearInterval(id); }, 1);\nawait new Promise(r => setTimeout(r, 40)); clearTimeout(undefined); clearTimeout(12345);\nn";
    let ended = run(&mut session(), source);
    assert_eq!(ended.notes, [""; 0]);
    assert_eq!(ended.result.unwrap(), Value::from(3));
}

#[test]
fn set_immediate_runs_after_the_jobs_and_can_be_cleared() {
    let source = "const seen = []; const gone = setImmediate(() => seen.push('never')); clearImmediate(gone);
        setImmediate((...a) => seen.push('immediate', ...a), 1, 2); queueMicrotask(() => seen.push('job')); seen.push('now');
        await new Promise((r) => setTimeout(r, 1)); [seen, typeof gone]";
    assert_eq!(eval(&mut session(), source), json(json!([["now", "job", "immediate", 1, 2], "number"])));
    assert_eq!(
        fails(&mut session(), "setImmediate(5)").to_string(),
        "TypeError: setImmediate: the first argument is not a function"
    );
}

#[test]
fn an_error_in_a_microtask_fails_the_program() {
    let failure = fails(&mut session(), "queueMicrotask(() => { throw new Error('in a job') }); 1");
    assert_eq!(failure.to_string(), "Error: in a job");
}

#[test]
fn a_timeout_signal_fires_but_keeps_no_program_open() {
    let world = World::new();
    let mut session = ENGINE.session(&Capabilities::none()).unwrap();
    let source = "const s = AbortSignal.timeout(60000); s.aborted";
    assert_eq!(world.run(&mut session, source).value(), Value::from(false));
    assert_eq!(world.time(), begin(), "nothing was waited for");

    let source = "const t = AbortSignal.timeout(5000); await new Promise((r) => t.addEventListener('abort', r));
        [t.reason.name, t.reason.message, t.reason.code]";
    assert_eq!(
        world.run(&mut session, source).value(),
        json(json!(["TimeoutError", "The operation was aborted due to timeout", 23]))
    );
    let waited = world.time().duration_since(begin()).unwrap();
    assert!((Duration::from_secs(5)..Duration::from_secs(6)).contains(&waited), "{waited:?}");
}

#[test]
fn a_timeout_signal_comes_due_during_a_pause() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        let source =
            "const s = AbortSignal.timeout(50000); const seen = []; s.onabort = () => seen.push(s.reason.name);
            await tools.gate({ q: 1 }); await new Promise((r) => setTimeout(r, 0)); [seen.join(), s.aborted]";
        world.run(&mut session, source).waits();
        let mut session = way.pass(session, &world.tools());
        world.advance(Duration::from_mins(1));
        let ended = world.decide(&mut session, "1.1", Decision::Approve);
        assert_eq!(ended.value(), json(json!(["TimeoutError", true])));
    }
}

#[test]
fn the_time_origin_is_where_performance_begins() {
    let source = "Math.abs(performance.timeOrigin + performance.now() - Date.now()) <= 1 && performance.now() >= 0";
    assert_eq!(eval(&mut session(), source), Value::from(true));
}

// ---- locales ----

#[test]
fn numbers_and_dates_are_written_as_in_the_united_states() {
    check_expressions("locale.json");
}

#[test]
fn what_a_locale_would_change_is_refused_or_left_as_it_is() {
    let mut session = session();
    assert_eq!(eval(&mut session, "(1234.5).toLocaleString('de-DE')"), text("1,234.5"));
    assert_eq!(eval(&mut session, "new Date(0).toLocaleDateString('de-DE')"), text("1/1/1970"));
    for (source, message) in [
        (
            "(5).toLocaleString('en-US', { notation: 'compact' })",
            "the option notation is not available here: there is no Intl",
        ),
        (
            "(5).toLocaleString('en-US', { style: 'unit', unit: 'liter' })",
            "the option unit is not available here: there is no Intl",
        ),
        (
            "new Date(0).toLocaleString('en-US', { era: 'long' })",
            "the option era is not available here: there is no Intl",
        ),
    ] {
        assert_eq!(fails(&mut session, source).to_string(), format!("TypeError: {message}"));
    }
    assert_eq!(
        fails(&mut session, "new Date(0).toLocaleString('en-US', { timeZone: 'America/New_York' })").to_string(),
        "RangeError: Invalid time zone specified: America/New_York; only UTC is available here"
    );
}

#[test]
fn the_language_knows_unicode_but_no_intl() {
    let mut session = session();
    assert_eq!(
        eval(
            &mut session,
            "[typeof Intl, 'e\\u0301'.normalize() === '\\u00e9', '\\ufb01'.normalize('NFKC'), 'a'.localeCompare('b'), 'b'.localeCompare('a'),
              'a'.localeCompare('B'), 'é'.localeCompare('z'), 'I'.toLocaleLowerCase('tr'), ['é', 'z', 'a', 'Z'].sort((a, b) => a.localeCompare(b)).join(''),
              new Date().getTimezoneOffset(), new Date(2024, 0, 1).toISOString()]"
        ),
        json(json!([
            "undefined", true, "fi", -1, 1, -1, -1, "i", "aézZ", 0, "2024-01-01T00:00:00.000Z"
        ]))
    );
}

// ---- programs that changed everything ----

/// Expressions that use nothing of the program's own but literals.
const UNTOUCHED: &[&str] = &[
    "new URLSearchParams('a=1&b=2&a=3').toString()",
    "new URLSearchParams({ a: 1, b: 'x y', c: null }).toString()",
    "new URLSearchParams([['a', '1'], ['b', 2]]).toString()",
    "new URLSearchParams('a=1&b=2&a=3').getAll('a')",
    "new URLSearchParams('a=1&b=2').entries().next().value",
    "(() => { const p = new URLSearchParams('b=1&a=2'); p.sort(); p.append('c', 3); p.set('a', 'z'); p.delete('b'); return p.toString(); })()",
    "(() => { const u = new URL('http://h/?a=1'); u.searchParams.append('b', 2); u.search += '&c=3'; return [u.href, u.searchParams.size]; })()",
    "new URL('a').href",
    "URL.canParse('http://a', 'http://b')",
    "new TextDecoder().decode(new TextEncoder().encode('h\\u00e9\\ud83d\\ude00'))",
    "new TextEncoder().encode('abc')",
    "new TextEncoder().encodeInto('abc', new Uint8Array(2))",
    "new TextDecoder('utf-16le', { fatal: true, ignoreBOM: true }).encoding",
    "atob(btoa('hi'))",
    "atob('$')",
    "structuredClone({ a: [1, { b: 2 }, , 'x'], c: { d: undefined, e: null } })",
    "(() => { const s = {}; const c = structuredClone([s, s]); return c[0] === c[1]; })()",
    "structuredClone(new Uint8Array(3))",
    "structuredClone(new ArrayBuffer(3))",
    "structuredClone(/a/g)",
    "structuredClone(1n)",
    "structuredClone(() => 1)",
    "structuredClone(Symbol)",
    "(() => { const b = new ArrayBuffer(3); structuredClone({ b }, { transfer: [b] }); return structuredClone(b); })()",
    "(() => { const c = new AbortController(); let seen = 0; c.signal.addEventListener('abort', (e) => { seen = e.type; }); c.abort(7); return [seen, c.signal.reason]; })()",
    "AbortSignal.any([AbortSignal.abort(5)]).reason",
    "AbortSignal.abort().reason.name",
    "(() => { const t = new EventTarget(); let n = 0; t.addEventListener('x', () => n++, { once: true }); t.dispatchEvent(new Event('x')); t.dispatchEvent(new CustomEvent('x', { detail: 1 })); return n; })()",
    "crypto.randomUUID().length",
    "crypto.getRandomValues(new Uint8Array(0))",
    "typeof setTimeout(() => {}, 0)",
];

#[test]
fn helpers_give_the_same_after_a_program_changed_everything() {
    let mut plain = session();
    let mut changed = session();
    eval(&mut changed, &file("hostile.js"));
    for expression in UNTOUCHED {
        let source = format!("let out; try {{ out = {expression}; }} catch (error) {{ out = error.name; }} out");
        assert_eq!(eval(&mut changed, &source), eval(&mut plain, &source), "{expression}");
    }
}

#[test]
fn urls_are_the_same_after_a_program_changed_everything() {
    let mut changed = session();
    eval(&mut changed, &file("hostile.js"));
    check_urls(&mut changed);
}

#[test]
fn the_console_is_the_same_after_a_program_changed_everything() {
    let source = "console.log('%s is %d %i %f %o', 'a', 1.5, 2.5, '3.5x', { a: 1 }, 'rest', [1, 2]); console.table([{ a: 1, b: 'x' }, { a: [1, 2] }, 5]);
        console.table({ x: { y: 1 } }); console.group('g'); console.warn('two\\nlines'); console.groupEnd(); console.count('n'); console.count('n');
        console.countReset('n'); console.time('t'); console.time('t'); console.assert(false, 'no %s', 'way'); console.dir('text'); console.trace('here'); 1";
    let mut changed = session();
    eval(&mut changed, &file("hostile.js"));
    let lines = run(&mut changed, source).logs;
    assert_eq!(lines.len(), 11);
    let plain = run(&mut session(), source).logs;
    let texts = |lines: &[LogLine]| lines.iter().map(|line| line.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&lines), texts(&plain));
}
