//! Recursion of each kind ends in an error that the program may catch, with its heap sound, also on a small stack; and
//! ten thousand of them leave nothing behind.

use chrysalid::{Capabilities, Heap, Value};

use crate::support::{ENGINE, World, eval, run, session, text, with_limits};

const RECURSIONS: &[&str] = &[
    "function f() { return f() + 1 } f()",
    "const f = () => f(); f()",
    "function f(...a) { f(...a) } f(1)",
    "const o = { get x() { return this.x } }; o.x",
    "const o = { set x(v) { this.x = v } }; o.x = 1",
    "const p = new Proxy({}, { get(t, k, r) { return r[k] } }); p.x",
    "const p = new Proxy({}, { has(t, k) { return k in p } }); 'x' in p",
    "const p = new Proxy(function () {}, {}); p.__proto__ = p; p + 1",
    "const o = { toString() { return '' + this } }; '' + o",
    "const o = { valueOf() { return +this } }; +o",
    "const o = { [Symbol.toPrimitive]() { return `${this}` } }; `${o}`",
    "const o = { toJSON() { return JSON.stringify(this) } }; JSON.stringify(o)",
    "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; JSON.stringify(o)",
    "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a)",
    "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a.flat(Infinity)",
    "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; String(a)",
    "let a = []; a[0] = a; const f = x => x.map(f); f(a)",
    "class A { constructor() { new A() } } new A()",
    "class A { static #x() { A.#x() } static go() { A.#x() } } A.go()",
    "function* g() { yield* g() } [...g()]",
    "[1].sort.call([2, 1], function cmp() { return [2, 1].sort(cmp)[0] })",
    "[1].map(function f() { [1].map(f) })",
    "'x'.replace(/x/, function f() { return 'x'.replace(/x/, f) })",
    "Reflect.apply(function f() { Reflect.apply(f, null, []) }, null, [])",
    "let f = () => {}; for (let i = 0; i < 1e5; i++) f = Object.defineProperty(f.bind(null), 'name', { value: '' }); f()",
    "let f = function () { return f.call(this) }; f()",
    "eval('(function f() { f() })')()",
    "(function f() { eval('f()') })()",
    "(function f() { new Function('f', 'f()')(f) })()",
    "const o = { get [Symbol.iterator]() { return [...o] } }; [...o]",
    "function f([x = f([])]) {} f([])",
    "function f(x = f()) {} f()",
    "const tag = s => tag`x`; tag`x`",
    "JSON.parse('[' .repeat(200000))",
    "JSON.parse('{\"a\":'.repeat(200000))",
    "JSON.parse('[1]', function r(k, v) { return JSON.parse('[1]', r) })",
    "eval('('.repeat(50000) + '1' + ')'.repeat(50000))",
    "eval('['.repeat(50000))",
    "eval('`${'.repeat(20000) + '1' + '}`'.repeat(20000))",
    "eval('a?'.repeat(50000) + '1' + ':1'.repeat(50000))",
    "eval('!'.repeat(200000) + '1')",
    "eval('(()=>'.repeat(20000) + '1' + ')'.repeat(20000))",
    "eval('{'.repeat(50000) + '}'.repeat(50000))",
    "eval('if(1)'.repeat(50000) + '1')",
    "new RegExp('('.repeat(100000) + ')'.repeat(100000))",
    "new RegExp('(?:'.repeat(100000) + ')'.repeat(100000))",
    "let e = new Error('x'); for (let i = 0; i < 1e5; i++) e = new Error('x', { cause: e }); structuredCloneOrThrow(e); function structuredCloneOrThrow(e) { return structuredCloneOrThrow(e.cause ?? e) }",
    "const m = new Map(); const f = v => m.forEach(f); m.set(1, 1); f()",
    "Array.from({ length: 1, get 0() { return Array.from(this)[0] } })",
    "Object.defineProperty({}, 'x', { get value() { return Object.defineProperty({}, 'x', this) } })",
    "class A { constructor(n) { this.a = new (class extends A {})(n) } } new A(1)",
    "class A { static make() { return class extends A.make() {} } } A.make()",
    "class A { x = new A() } new A()",
    "(function f() { new (class { static { f() } })() })()",
    "function* g() { [...g()] } [...g()]",
    "const g = { *[Symbol.iterator]() { yield* this } }; for (const x of g);",
    "const p = new Proxy({}, { getPrototypeOf: () => Object.getPrototypeOf(p) }); Object.getPrototypeOf(p)",
    "const p = new Proxy({}, { set(t, k, v, r) { return Reflect.set(r, k, v) } }); p.x = 1",
    "const p = new Proxy(function () {}, { apply: (t, s, a) => p(...a) }); p()",
    "const p = new Proxy(class {}, { construct: (t, a) => new p(...a) }); new p()",
    "let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x",
    "'a'.localeCompare({ toString() { return 'a'.localeCompare(this) } })",
    "new URL({ toString() { return new URL(this) } })",
    "new TextEncoder().encode({ toString() { return new TextEncoder().encode(this) } })",
    "btoa({ toString() { return btoa(this) } })",
    "structuredClone({ get x() { return structuredClone(this) } })",
    "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; structuredClone(a)",
    "const d = { get x() { new Date(this); return 1 }, [Symbol.toPrimitive]() { return new Date(this) } }; new Date(d)",
    "Symbol({ toString() { return Symbol(this).description } })",
    "new Error({ toString() { return new Error(this).message } })",
    "const o = { get name() { return Error.prototype.toString.call(this) } }; Error.prototype.toString.call(o)",
    "RegExp.prototype[Symbol.replace].call({ get flags() { return RegExp.prototype[Symbol.replace].call(this, 'a', 'b') } }, 'a', 'b')",
    "Object.assign({}, { get x() { return Object.assign({}, this) } })",
    "const { x } = { get x() { const { x } = this; return x } };",
    "Array.from({ length: 1 }, function f() { return Array.from({ length: 1 }, f) })",
    "new Map([[1, 1]]).forEach(function f() { new Map([[1, 1]]).forEach(f) })",
    "BigInt.asUintN({ valueOf() { return BigInt.asUintN(this, 1n) } }, 1n)",
    "eval('class A extends '.repeat(20000) + 'B {}' + '{}'.repeat(20000))",
    "eval('x=>'.repeat(50000) + '1')",
    "eval('new '.repeat(50000) + 'f')",
    "eval('function f(){'.repeat(20000))",
    "eval('a=['.repeat(20000))",
    "eval('[a='.repeat(20000))",
    "eval('async()=>{await '.repeat(20000))",
];

fn caught(source: &str) -> String {
    format!("let caught = 'nothing'; try {{ {source} }} catch (e) {{ caught = e.name }} caught")
}

/// Runs each in a session of its own.
fn all_are_caught() {
    let engine = ENGINE.clone();
    let mut wrong = Vec::new();
    for source in RECURSIONS {
        let mut session = engine.session(&Capabilities::none()).unwrap();
        eval(&mut session, "let kept = 1");
        let ended = run(&mut session, &caught(source));
        let name = ended.result.as_ref().map_or_else(ToString::to_string, |name| name.as_str().unwrap().to_owned());
        // The parsers of the engine call it by the name of what they could not read.
        let parser = source.contains("eval('")
            || source.contains("new Function")
            || source.contains("new RegExp")
            || source.contains("JSON.parse('");
        if name != "RangeError" && !(parser && name == "SyntaxError") {
            wrong.push(format!("{source}: {name}"));
        }
        assert_eq!(ended.heap, Heap::Intact, "{source}");
        assert_eq!(eval(&mut session, "kept + 1"), Value::from(2), "{source}");
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn recursion_through_listeners_fails_the_program_since_their_errors_are_not_thrown_to_who_dispatches() {
    let mut session = ENGINE.session(&Capabilities::none()).unwrap();
    let source = "const t = new EventTarget(); t.addEventListener('x', () => t.dispatchEvent(new Event('x')));
        (function f() { t.dispatchEvent(new Event('x')); f() })()";
    let ended = run(&mut session, &caught(source));
    assert_eq!((ended.result.unwrap_err().name.as_str(), ended.heap), ("RangeError", Heap::Intact));
}

#[test]
fn recursion_of_each_kind_is_a_range_error_that_can_be_caught() {
    all_are_caught();
}

#[test]
fn recursion_of_each_kind_can_be_caught_on_a_small_stack() {
    std::thread::Builder::new().stack_size(128 << 10).spawn(all_are_caught).unwrap().join().unwrap();
}

/// How many levels each kind has to reach. What a call takes on the guest's stack depends on the guest alone.
const DEEP: &[(u32, &str)] = &[
    (3_000, "function f() { d++; f() + 1 } f()"),
    (2_600, "const o = { m() { d++; this.m() } }; o.m()"),
    (2_600, "class N { constructor() { d++; this.n = new N() } } new N()"),
    (1_200, "class A { constructor() { d++; new B() } } class B extends A { constructor() { super() } } new B()"),
    (2_100, "function f(...a) { d++; f(...a) } f(1)"),
    (1_700, "const o = { get x() { d++; return this.x } }; o.x"),
    (2_300, "const o = { [Symbol.iterator]() { d++; for (const x of o) ; } }; for (const x of o) ;"),
    (1_300, "function* g() { d++; yield* g() } [...g()]"),
    (1_600, "const p = new Proxy({}, { has(t, k) { d++; return k in p } }); 'x' in p"),
    (950, "[1].map(function f() { d++; [1].map(f) })"),
    (480, "const o = { toString() { d++; return `${this}` } }; `${o}`"),
    (1_400, "async function f() { d++; await f() } await f()"),
    (1_100, "function f() { d++; f.apply(null, [1]) } f()"),
    (2_600, "function f() { d++; try { f() } finally { d += 0 } } f()"),
    (350, "[1].sort.call([2, 1], function c() { d++; return [2, 1].sort(c)[0] })"),
    (650, "JSON.parse('[1]', function r(k, v) { d++; return JSON.parse('[1]', r) })"),
];

#[test]
fn recursion_goes_deep() {
    for (levels, source) in DEEP {
        let reached = eval(&mut session(), &format!("let d = 0; try {{ {source} }} catch (e) {{ }} d"));
        let reached = reached.as_f64().unwrap();
        assert!(reached >= f64::from(*levels), "{source}: {reached} levels, not {levels}");
    }
}

/// Those that take well under a millisecond.
const FAST: &[&str] = &[
    "function f() { return f() + 1 } f()",
    "const o = { get x() { return this.x } }; o.x",
    "const o = { set x(v) { this.x = v } }; o.x = 1",
    "const o = { toString() { return '' + this } }; '' + o",
    "const o = { toJSON() { return JSON.stringify(this) } }; JSON.stringify(o)",
    "const p = new Proxy({}, { get(t, k, r) { return r[k] } }); p.x",
    "class A { constructor() { new A() } } new A()",
    "function* g() { yield* g() } [...g()]",
    "'x'.replace(/x/, function f() { return 'x'.replace(/x/, f) })",
    "JSON.parse('['.repeat(50000))",
];

#[test]
fn ten_thousand_recursions_leave_nothing_behind() {
    let world = World::new();
    let mut session = world.session_with(with_limits(|limits| limits.memory = 50 << 20));
    let kept = "globalThis.kept = { list: [1, 2, 3], map: new Map([['a', 1]]), f: x => tools.echo({ v: x }) }; 1";
    assert_eq!(world.run(&mut session, kept).value(), Value::from(1));
    // A hundred programs of a hundred recursions each.
    let bodies: Vec<String> = FAST.iter().map(|source| format!("() => {{ {source} }}")).collect();
    let round = format!(
        "const kinds = [{}]; let n = 0; for (let i = 0; i < 100; i++) {{ try {{ kinds[i % kinds.length]() }} catch (e) {{ n += e instanceof RangeError ? 1 : 1000 }} }} n",
        bodies.join(", ")
    );
    let mut sizes = Vec::new();
    for number in 0..100 {
        let ended = world.run(&mut session, &round).ended();
        assert_eq!((ended.result, ended.heap), (Ok(Value::from(100)), Heap::Intact), "round {number}");
        // Rubbish in cycles comes and goes with collections, so it is the most that counts.
        if number >= 30 && number % 5 == 0 {
            sizes.push(session.snapshot().unwrap().len());
        }
    }
    let (early, late) = sizes.split_at(sizes.len() / 2);
    assert!(late.iter().max() <= early.iter().max().map(|size| size + 32_768).as_ref(), "{sizes:?}");
    let check = "[kept.list, kept.map.get('a'), await kept.f('answer')]";
    assert_eq!(world.run(&mut session, check).value().to_string(), "[ [ 1, 2, 3 ], 1, 'answer' ]");
    // As much of the budget is left as at first.
    let room = "new Uint8Array(40 << 20).length";
    assert_eq!(world.run(&mut session, room).value(), Value::from(40 << 20));
}

#[test]
fn deep_values_cross_nowhere_and_hurt_nobody() {
    let deep = "let a = []; for (let i = 0; i < 1e5; i++) a = [a];";
    let world = World::new();
    let mut session = world.session();
    let ended = world.run(&mut session, &format!("{deep} a")).ended();
    assert_eq!((ended.result.is_ok(), ended.heap), (true, Heap::Intact));
    let argument = format!("{deep} try {{ await tools.echo({{ v: a }}) }} catch (e) {{ e.name }}");
    assert_eq!(world.run(&mut session, &argument).value(), text("ArgumentTooLarge"));
    let ended = world.run(&mut session, &format!("{deep} console.log(a); 'shown'")).ended();
    assert_eq!((ended.result, ended.heap), (Ok(text("shown")), Heap::Intact));
}

#[test]
fn a_promise_chain_is_as_long_as_memory_allows() {
    let source = "let p = Promise.resolve(0); for (let i = 0; i < 100000; i++) p = p.then(n => n + 1); await p";
    assert_eq!(eval(&mut session(), source), Value::from(100_000));
    let source = "async function down(n) { return n ? 1 + await down(n - 1) : 0 } await down(500)";
    assert_eq!(eval(&mut session(), source), Value::from(500));
}

#[test]
fn l13_deep_source_is_an_error_and_five_hundred_levels_work() {
    for (source, deep) in [
        (format!("{}1{}", "(".repeat(50_000), ")".repeat(50_000)), true),
        (format!("{}1{}", "(".repeat(500), ")".repeat(500)), false),
        (format!("{}{}", "[".repeat(500), "]".repeat(500)), false),
        (format!("{}1{}", "`${".repeat(2000), "}`".repeat(2000)), true),
        (format!("{}{}", "{".repeat(20_000), "}".repeat(20_000)), true),
    ] {
        let mut session = session();
        let ended = run(&mut session, &source);
        if deep {
            if let Err(failure) = ended.result {
                assert!(matches!(failure.name.as_str(), "SyntaxError" | "RangeError"), "{failure:?}");
            }
        } else {
            ended.result.unwrap();
        }
        assert_eq!(eval(&mut session, "1"), Value::from(1));
    }
}
