//! The interpreter's two functions (`guest/often.h`): sequences that are done in one step give what their instructions give
//! one by one, and programs that go from one function to the other and back do not notice.

use std::fmt::Write as _;
use std::time::Duration;

use chrysalid::{FailureKind, Value};

use crate::support::{World, eval, fails, session, text, with_limits};

/// Values of each kind, and those at which 32 bits end.
const LEFT: &str = "[0, -0, 1, -1, 2, 7, 8, 255, 32767, 65536, 2147483646, 2147483647, -2147483647, -2147483648, 4294967296, 0.5, \
    -1.5, 1e308, NaN, Infinity, -Infinity, '', '1', '-3', 'a', true, false, null, undefined, 3n, -9007199254740993n, [], [5], {}, \
    { valueOf() { return 4 } }, { valueOf() { throw new Error('no value') } }, Symbol.iterator, () => 1]";

/// Numbers as a source has them: each is another instruction.
const RIGHT: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
    "100",
    "127",
    "128",
    "255",
    "1000",
    "32767",
    "32768",
    "65536",
    "2147483647",
    "2147483648",
    "0.5",
];

const OPERATORS: &[&str] =
    &["+", "-", "*", "/", "%", "**", "&", "|", "^", "<<", ">>", ">>>", "<", "<=", ">", ">=", "==", "!=", "===", "!=="];

/// What an expression gives, as text that tells -0 from 0 and an error from a value.
const TELL: &str = "const tell = (f) => { try { const v = f(); return Object.is(v, -0) ? '-0' : typeof v + ' ' + String(v) } \
    catch (e) { return e.name + ': ' + e.message } };";

#[test]
fn an_operator_and_a_number_give_what_they_give_apart() {
    // On the right side, a number of the source is one step with its operator, an element of an array is not.
    for right in RIGHT {
        let mut cases = String::new();
        for operator in OPERATORS {
            let _ = write!(cases,
                "same(() => l {operator} {right}, () => l {operator} list[0], '{operator}');
                 same(() => {{ if (l {operator} {right}) return 1; return 2 }}, () => {{ const h = l {operator} list[0]; return h ? 1 : 2 }}, 'if {operator}');
                 same(() => {{ let n = 0; while (l {operator} {right}) if (n++ === 3) break; return n }},
                      () => {{ const h = l {operator} list[0]; return h ? 4 : 0 }}, 'while {operator}');\n"
            );
        }
        let source = format!(
            "{TELL} const list = [{right}], wrong = []; let l;
             const same = (one, other, name) => {{ const a = tell(one), b = tell(other); if (a !== b) wrong.push([name, String(typeof l), a, b].join(' | ')) }};
             for (l of {LEFT}) {{ {cases} }}
             wrong.join('\\n')"
        );
        assert_eq!(eval(&mut session(), &source), text(""), "beside {right}");
    }
}

#[test]
fn a_variable_that_counts_is_as_if_it_were_assigned() {
    let source = format!(
        "{TELL} const wrong = [];
         for (const from of {LEFT}) {{
           const counted = tell(() => {{ let i = from; i++; return i }});
           const looped = tell(() => {{ let i = from; for (let n = 0; n < 1; n++) {{ i++; }} return i }});
           const captured = tell(() => {{ let i = from; const f = () => i; i++; return f() }});
           const assigned = tell(() => {{ let i = from, j; j = ++i; return j }});
           if (counted !== assigned || looped !== assigned || captured !== assigned) wrong.push([counted, looped, captured, assigned].join(' | '));
         }}
         wrong.join('\\n')"
    );
    assert_eq!(eval(&mut session(), &source), text(""));
    let ends = "let a = 2147483646, b = []; for (let n = 0; n < 4; n++) { a++; b.push(a) } b.join()";
    assert_eq!(eval(&mut session(), ends), text("2147483647,2147483648,2147483649,2147483650"));
}

#[test]
fn variables_before_their_declaration_are_named() {
    let cases = [
        ("(() => { i++; let i = 1 })()", "i is not initialized"),
        ("(() => { let a = 1; const v = a + b; let b = 1 })()", "b is not initialized"),
        ("(() => { const v = b + c; let b = 1, c = 2 })()", "b is not initialized"),
        ("(() => { let v = 1; b = v; let b })()", "b is not initialized"),
        ("(() => { if (b < 3) return 1; let b = 1 })()", "b is not initialized"),
    ];
    for (source, message) in cases {
        let told = eval(&mut session(), &format!("try {{ {source} }} catch (e) {{ e.name + ': ' + e.message }}"));
        assert_eq!(told, text(&format!("ReferenceError: {message}")), "{source}");
    }
}

#[test]
fn every_kind_of_loop_can_be_stopped() {
    let loops = [
        "for (let i = 0; i < 10;) {}",
        "for (let i = 0; i < 10; i++) i = 0",
        "let i = 0; while (i < 10) { i++; i = 0 }",
        "(() => { let i = 0, n = 5; while (i < n) { i = 0 } })()",
        "(() => { let i = 0; do { i++; if (i > 5) i = 0 } while (i >= 0) })()",
        "(() => { let i = 0; for (;;) { i++ ; i = 0 } })()",
        "(() => { for (let i = 0; i !== 10; i++) { if (i === 5) i = 0 } })()",
        "(() => { l: for (;;) { try { continue l } finally { } } })()",
        "(function* () { for (;;) yield* [] })().next()",
        "(async () => { for (;;) { switch (1) { case 1: continue } } })()",
    ];
    for source in loops {
        let mut session = World::new().session_with(with_limits(|limits| limits.cpu_time = Duration::from_millis(40)));
        assert_eq!(fails(&mut session, source).kind, FailureKind::Timeout, "{source}");
        assert_eq!(eval(&mut session, "1 + 1"), Value::from(2), "{source}");
    }
}

/// What only the second function does, in the middle of loops of the first: errors, generators, async functions, classes.
const MIXED: &[(&str, &str)] = &[
    (
        "let n = 0; for (let i = 0; i < 9; i++) { try { if (i % 3 === 0) throw i; n += 1 } catch (e) { n += 10 * e } finally { n += 100 } } n",
        "996",
    ),
    (
        "const f = (n) => { try { if (n > 3) throw new RangeError('far'); return f(n + 1) } finally { log.push(n) } }; const log = []; try { f(0) } catch (e) { log.push(e.message) } log.join()",
        "4,3,2,1,0,far",
    ),
    (
        "function* g() { let n = 0; try { for (;;) { try { n += yield n } catch (e) { n += e } } } finally { n = -1; yield n } } const i = g(); [i.next().value, i.next(2).value, i.throw(5).value, i.next(1).value, i.return(9).value, i.next().value, i.next().done].join()",
        "0,2,7,8,-1,9,true",
    ),
    (
        "const seen = []; async function f(n) { for (let i = 0; i < n; i++) { try { await (i % 2 ? Promise.reject(i) : i); seen.push(i) } catch (e) { seen.push(-e) } } return seen.length } `${await f(5)} ${seen}`",
        "5 0,-1,2,-3,4",
    ),
    (
        "async function* g(n) { for (let i = 0; i < n; i++) yield i * i } let s = 0; for await (const v of g(5)) s += v; s",
        "30",
    ),
    (
        "class A { #n = 1; static made = 0; constructor(n = 2) { this.#n += n; A.made++ } get n() { return this.#n } } class B extends A { constructor() { super(5); } get n() { return super.n * 2 } } let s = 0; for (let i = 0; i < 4; i++) s += new B().n; `${s} ${A.made}`",
        "48 4",
    ),
    (
        "const { a, b: [c, ...d], ...e } = { a: 1, b: [2, 3, 4], x: 5, y: 6 }; JSON.stringify([a, c, d, e])",
        "[1,2,[3,4],{\"x\":5,\"y\":6}]",
    ),
    (
        "const out = []; for (const k in { x: 1, y: 2 }) for (const [i, v] of ['a', 'b'].entries()) { if (i === 1 && k === 'x') continue; out.push(k + v) } out.join()",
        "xa,ya,yb",
    ),
    ("const fs = []; for (let i = 0; i < 3; i++) { fs.push(() => i++) } fs.map((f) => f() + f()).join()", "1,3,5"),
    (
        "function f() { return [].slice.call(arguments).concat(new.target === undefined, typeof this) } f(1, 2).join()",
        "1,2,true,object",
    ),
    (
        "const f = (a, b = a * 2, ...c) => a + b + c.length; [f(1), f(1, 1), f(1, 1, 1, 1), f(...[3, 4, 5])].join()",
        "3,2,4,8",
    ),
    (
        "let s = ''; o: for (let i = 0; i < 3; i++) { for (let j = 0; j < 3; j++) { if (j === 1) continue o; if (i === 2) break o; s += `${i}${j} ` } } s",
        "00 10 ",
    ),
    (
        "const o = { get x() { return this.y ?? 3 }, set x(v) { this.y = v }, ['k' + 1]: 7, async m() { return await 1 } }; o.x = o.x + 1; [o.x, o.k1, await o.m(), delete o.y, o.x, 'k1' in o].join()",
        "4,7,1,true,3,true",
    ),
    (
        "let n = 0; const it = { [Symbol.iterator]() { return { next: () => ({ value: n, done: n++ > 5 }), return() { n = 100; return {} } } } }; for (const v of it) if (v === 2) break; n",
        "100",
    ),
    ("let n = 0n; for (let i = 0; i < 5; i++) { n += 2n ** BigInt(i); n++ } String(n)", "36"),
    ("let u; [u?.x, u?.[0], u?.(), u ?? 4, (u ||= 5), (u &&= 6), (u ??= 7)].join()", ",,,4,5,6,6"),
    (
        "const deep = (n) => n === 0 ? (() => { throw new Error('deep') })() : deep(n - 1); try { deep(5) } catch (e) { e.stack.split('\\n').length > 5 ? e.message : e.stack }",
        "deep",
    ),
    (
        "let r = []; try { null.x } catch ({ name }) { r.push(name) } try { x = y; let y } catch ({ name }) { r.push(name) } try { (void 0)() } catch ({ name }) { r.push(name) } try { const c = 1; c = 2 } catch ({ name }) { r.push(name) } r.join()",
        "TypeError,ReferenceError,TypeError,TypeError",
    ),
];

#[test]
fn going_from_one_function_to_the_other_is_not_noticed() {
    for (source, expected) in MIXED {
        let value = eval(&mut session(), source);
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        assert_eq!(shown, *expected, "{source}");
    }
}

#[test]
fn errors_name_the_line_on_which_they_were_thrown() {
    let source = "function f(n) {\n  let i = 0;\n  while (i < n) {\n    i++;\n    if (i === 3)\n      [].at.call(null);\n  }\n}\nf(5)";
    assert_eq!(fails(&mut session(), source).position.map(|position| position.line), Some(6));
}
