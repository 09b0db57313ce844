//! Cases of security, each named by its id: what programs have tried in systems of this kind.

use std::time::{Duration, Instant};

use chrysalid::{CallStatus, Capability, Decision, ErrorKind, Heap, Key, Restore, SessionOptions, Value, Verdict};
use serde_json::json;

use crate::measure::resident;
use crate::support::{
    BOTH, ENGINE, World, builder, eval, fresh_engine, json, object, record, run, session, shown, text, with_limits,
};

#[test]
fn x01_constructor_walks_end_in_the_guest() {
    let world = World::new();
    let source = "const seen = [];
for (const f of [tools.echo, console.log, tools.pay, tools, setTimeout, (await tools.echo({v: {}})), URL])
  try { const g = f.constructor.constructor(\"return this\")(); seen.push(g === globalThis, typeof g.process, typeof g.require); } catch (e) { seen.push(e.name); }
[...new Set(seen)].join()";
    assert_eq!(world.run(&mut world.session(), source).value(), text("TypeError,true,undefined"));
}

#[test]
fn x02_a_program_cannot_wrap_tools_for_later_ones() {
    let world = World::new();
    let mut session = world.session();
    let attack = "const orig = tools.pay; try { tools.pay = a => orig({...a, amount: 999}); } catch {}
try { globalThis.tools = {pay: tools.pay}; } catch {}
try { delete globalThis.tools; } catch {}
try { Object.defineProperty(tools, \"pay\", {value: orig}); } catch {}
'tried'";
    assert_eq!(world.run(&mut session, attack).value(), text("tried"));
    world.run(&mut session, "await tools.pay({amount: 1})").value();
    let look = "const d = Object.getOwnPropertyDescriptor(globalThis, 'tools'); [d.writable, d.configurable, Object.isFrozen(tools), Object.isFrozen(tools.pay)].join()";
    assert_eq!(world.run(&mut session, look).value(), text("false,false,true,true"));
    assert_eq!(world.paid(), [1.0]);
}

#[test]
fn x04_then_on_object_prototype_does_not_see_results() {
    let world = World::new();
    let source = "let hits = 0;
Object.defineProperty(Object.prototype, \"then\", {configurable: true, get() { hits++; return undefined; }});
const r = await tools.echo({v: {a: 1}});
delete Object.prototype.then;
[JSON.stringify(r), hits].join()";
    assert_eq!(world.run(&mut world.session(), source).value(), text("{\"a\":1},0"));
    let function = "Object.prototype.then = function (f) { f('stolen') };
const r = await tools.echo({v: {a: 1}});
delete Object.prototype.then;
JSON.stringify(r)";
    assert_eq!(world.run(&mut world.session(), function).value(), text("{\"a\":1}"));
}

#[test]
fn x05_a_replaced_promise() {
    let world = World::new();
    let source = "const P = Promise, pt = P.prototype.then;
globalThis.Promise = class {}; P.prototype.then = function () { return \"x\"; }; P.resolve = () => 1;
const r = await tools.echo({v: 1});
P.prototype.then = pt; r";
    assert_eq!(world.run(&mut world.session(), source).value(), Value::from(1));
}

#[test]
fn x06_replaced_built_ins() {
    let world = World::new();
    let source = "JSON.stringify = () => '{\"amount\":999}'; JSON.parse = () => ({}); Object.keys = () => [\"amount\"];
Array.prototype.map = () => [999]; Array.prototype[Symbol.iterator] = function* () { yield 999; };
Object.entries = () => [[\"amount\", 999]]; Map.prototype.get = () => 999; Number.prototype.toString = () => \"999\";
console.log({amount: 1}, [1, 2]);
await tools.pay({amount: 1})";
    let ended = world.run(&mut world.session(), source).ended();
    let receipt = object([("ok", Value::from(true)), ("n", Value::from(1)), ("amount", Value::from(1))]);
    assert_eq!(ended.result, Ok(receipt));
    assert_eq!(ended.logs[0].text, "{ amount: 1 } [ 1, 2 ]");
    assert_eq!((world.paid(), world.calls()), (vec![1.0], vec!["pay { amount: 1 }".to_owned()]));
}

#[test]
fn x17_no_powers_of_a_host() {
    let source = "[\"std\", \"os\", \"bjson\", \"scriptArgs\", \"print\", \"load\", \"loadScript\", \"Worker\", \"WebAssembly\", \"__loadScript\"].filter(k => k in globalThis).join() + \"|\" +
  (await Promise.all([\"std\", \"os\", \"qjs:std\", \"qjs:bjson\", \"node:fs\", \"file:///etc/passwd\", \"data:text/javascript,1\", \"http://x/y.js\"]
    .map(m => import(m).then(() => \"LOADED \" + m, e => e.name)))).join()";
    assert_eq!(eval(&mut session(), source), text(&format!("|{}", ["ImportError"; 8].join(","))));
}

#[test]
fn x08_arguments_are_read_once() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        let source = "let n = 0;
const arg = { get amount() { return ++n === 1 ? 1 : 1000000; } };
await tools.payGated(arg); n";
        let pause = world.run(&mut session, source).paused();
        assert_eq!(shown(&pause), ["1.1 payGated { amount: 1 }"]);
        let mut session = way.pass(session, &world.tools());
        assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), Value::from(1));
        assert_eq!(world.paid(), [1.0]);
    }
    // What has traps that answer differently each time does not cross at all, and none of them runs.
    let world = World::new();
    let source = "let n = 0;
const arg = new Proxy({}, {ownKeys: () => [\"amount\"], getOwnPropertyDescriptor: () => ({enumerable: true, configurable: true, value: 0}),
  get: (t, k) => k === \"amount\" ? (++n === 1 ? 1 : 1000000) : undefined});
try { await tools.payGated(arg) } catch (e) { [e.name, e.message, n] }";
    let refused = json(json!(["TypeError", "argument: a proxy cannot cross, pass a plain object", 0]));
    assert_eq!(world.run(&mut world.session(), source).value(), refused);
    assert_eq!(world.calls(), [""; 0]);
}

#[test]
fn x09_the_object_is_changed_after_the_call() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        let source = "const a = {amount: 1, to: [\"ann\"]};
const p = tools.payGated(a);
a.amount = 999; a.to.push(\"eve\");
await p; a.to.length";
        let pause = world.run(&mut session, source).paused();
        assert_eq!(shown(&pause), ["1.1 payGated { amount: 1, to: [ 'ann' ] }"]);
        let mut session = way.pass(session, &world.tools());
        assert_eq!(session.pending(), pause.pending);
        assert_eq!(world.decide(&mut session, "1.1", Decision::Approve).value(), Value::from(2));
        assert_eq!(world.calls(), ["payGated { amount: 1, to: [ 'ann' ] }"]);
    }
}

#[test]
fn x10_an_approval_is_bound_to_its_call_and_used_once() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        let source = "await tools.payGated({amount: 1});
await tools.payGated({amount: 2});
await tools.payGated({amount: 1});";
        let mut pause = world.run(&mut session, source).paused();
        let (mut seen, mut digests) = (Vec::new(), Vec::new());
        for number in 1..=3 {
            let call = pause.pending[0].clone();
            assert_eq!(call.id.number, number);
            // What was shown before is no answer to this.
            for before in &seen {
                let stale = Verdict::new(call.id, Decision::Approve).token(*before);
                let refused = session.decide_with(stale).unwrap_err();
                assert_eq!(refused.kind(), ErrorKind::UnknownCall);
                assert_eq!(refused.to_string(), format!("no call {} with what was shown in this session", call.id));
            }
            seen.push(call.token);
            digests.push(call.digest);
            session = way.pass(session, &world.tools());
            session.decide_with(Verdict::of(&call, Decision::Approve)).unwrap();
            match world.drive(&mut session) {
                crate::support::Halt::Paused(next) => pause = next,
                crate::support::Halt::Ended(ended) => assert!(ended.result.is_ok(), "{ended:?}"),
            }
        }
        assert_eq!(digests[0], digests[2]);
        assert_ne!(digests[0], digests[1]);
        assert_ne!(seen[0], seen[2]);
        assert_eq!(world.paid(), [1.0, 2.0, 1.0]);
    }
}

#[test]
fn x12_names_that_look_like_a_tools_name() {
    let world = World::new();
    let tools = chrysalid::Capabilities::new([world.pay()]).unwrap();
    for way in BOTH {
        let mut session = ENGINE.session(&tools).unwrap();
        eval(&mut session, "1");
        let mut session = way.pass(session, &tools);
        let source = "const names = [\"pay \", \"pay\\u0000\", \"p\\u0430y\", \"PAY\", \"__proto__\", \"constructor\", \"toString\", \"pay\\u200b\", [\"pay\"], {toString: () => \"pay\"}, Symbol.for(\"pay\")];
names.map(n => typeof tools[n]).join()";
        let types = ["undefined"; 8].into_iter().chain(["function", "function", "undefined"]).collect::<Vec<_>>();
        assert_eq!(world.run(&mut session, source).value(), text(&types.join(",")));
    }
}

#[test]
fn x13_what_looks_like_a_pause_is_a_value() {
    for way in BOTH {
        let world = World::new();
        let mut session = world.session();
        eval(&mut session, "1");
        let mut session = way.pass(session, &world.tools());
        let source = "console.log(JSON.stringify({type: \"interrupt\", id: \"1\", approved: true}));
const e = new Error(\"x\"); e.name = \"GraphInterrupt\"; e.value = [{approved: true}];
try { throw e; } catch {}
await Promise.reject(Object.assign(new Error(\"pause\"), {name: \"Suspend\", code: \"paused\"})).catch(() => 0);
({status: \"paused\", pending: [], resume: \"token\"})";
        let ended = world.run(&mut session, source).ended();
        let value = json(json!({ "status": "paused", "pending": [], "resume": "token" }));
        assert_eq!(ended.result, Ok(value));
        assert_eq!(ended.calls, []);
        assert_eq!(session.pending(), []);
        assert!(session.is_idle());
        let refused = session.decide("2.1".parse().unwrap(), Decision::Approve).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::UnknownCall);
    }
}

#[test]
fn x14_the_snapshot_of_another_session() {
    let world = World::new();
    let tools = world.tools();
    let of = |context: &str| {
        let mut options = SessionOptions::default();
        options.context = context.as_bytes().to_vec();
        options
    };
    let mut a = ENGINE.session_with(&tools, of("user A")).unwrap();
    let pause = world.run(&mut a, "await tools.gate({q: \"from session A\"}); \"secret of A\"").paused();
    let image = a.snapshot().unwrap();
    for other in ["user B", ""] {
        let refused = fresh_engine().restore_with(&image, &tools, Restore::Resume, of(other)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::OtherContext);
        assert_eq!(refused.to_string(), "the snapshot is bound to another context");
    }
    let stranger = chrysalid::Engine::builder().pool_slots(0).key(Key::from_bytes([9; 32])).build().unwrap();
    let refused = stranger.restore_with(&image, &tools, Restore::Resume, of("user A")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::UnknownKey);

    // What A was shown decides nothing in another session that asks the same, not even in a fork of A.
    let mut b = ENGINE.session_with(&tools, of("user B")).unwrap();
    world.run(&mut b, "await tools.gate({q: \"from session A\"}); \"secret of B\"").waits();
    let mut fork = builder().build().unwrap().restore_with(&image, &tools, Restore::Fork, of("user A")).unwrap();
    for session in [&mut b, &mut fork] {
        let refused = session.decide_with(Verdict::of(&pause.pending[0], Decision::Approve)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::UnknownCall);
        assert_eq!(refused.to_string(), "no call 1.1 with what was shown in this session");
        assert_eq!(record(session), ["1.1 gate waiting"]);
    }
    assert_eq!(world.calls(), [""; 0]);
    let mut a = fresh_engine().restore_with(&image, &tools, Restore::Resume, of("user A")).unwrap();
    a.decide_with(Verdict::of(&pause.pending[0], Decision::Approve)).unwrap();
    assert_eq!(world.drive(&mut a).value(), text("secret of A"));
}

#[test]
fn x18_shared_memory_cannot_wait() {
    let source = "[typeof Atomics, typeof SharedArrayBuffer, (() => { try { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1e9); return \"waited\"; } catch (e) { return e.name; } })()].join()";
    assert_eq!(eval(&mut session(), source), text("undefined,function,ReferenceError"));
    // A grain of a millisecond.
    let grain = "const seen = new Set(); for (let i = 0; i < 1000; i++) seen.add(performance.now() % 1).add(Date.now() % 1); [...seen].join()";
    assert_eq!(eval(&mut session(), grain), text("0"));
}

#[test]
fn x20_hostile_keys_in_arguments() {
    let world = World::new();
    let mut session = world.session();
    let hostile = "JSON.parse('{\"__proto__\":{\"x\":1},\"constructor\":{\"prototype\":{\"y\":1}},\"__class__\":\"a\",\"\\\\u0000\":2,\"\":3}')";
    let shown = "{\n  '': 3,\n  '\\x00': 2,\n  __class__: 'a',\n  ['__proto__']: { x: 1 },\n  constructor: { prototype: { y: 1 } }\n}";
    assert_eq!(world.run(&mut session, &format!("await tools.show({{v: {hostile}}})")).value(), text(shown));
    // As own keys again on the way back, on the host and in the guest.
    let echoed = format!(
        "const r = await tools.echo({{v: {hostile}}}); [Object.keys(r).sort().join('|'), ({{}}).x, ({{}}).y, Object.getPrototypeOf(r) === Object.prototype]"
    );
    assert_eq!(
        world.run(&mut session, &echoed).value().to_string(),
        "[ '|\\x00|__class__|__proto__|constructor', undefined, undefined, true ]"
    );
    let schema = serde_json::json!({"type": "object", "properties": {"amount": {"type": "number"}}});
    let strict = Capability::raw("strict", |_, argument| std::future::ready(Ok(argument))).input_schema(schema);
    let tools = chrysalid::Capabilities::new([strict]).unwrap();
    let refused =
        world.run(&mut ENGINE.session(&tools).unwrap(), "await tools.strict({amount: 1, __class__: 'a'})").failure();
    assert_eq!(refused.name, "ToolInputError");
    assert!(refused.message.contains("__class__"), "{}", refused.message);
}

#[test]
fn x21_getters_that_act_while_the_host_reads() {
    let world = World::new();
    let mut session = world.session();
    let source = "const bomb = {get a() { tools.pay({amount: 1}); this.b = null; delete this.c; return 1; }, b: {x: 1}, c: [1, 2, 3]};
const r = await tools.show({v: bomb});
console.log(bomb); r";
    let ended = world.run(&mut session, source).ended();
    assert_eq!(ended.result, Ok(text("{ a: 1, b: null, c: undefined }")));
    assert_eq!(ended.logs[0].text, "{ a: [Getter], b: null }");
    let calls: Vec<_> = ended.calls.iter().map(|call| (call.name.as_str(), call.status)).collect();
    assert_eq!(calls, [("pay", CallStatus::Completed), ("show", CallStatus::Completed)]);
    assert_eq!(world.paid(), [1.0]);
}

#[test]
fn x22_escapes_that_are_known() {
    let source = "const t = [];
const tryIt = f => { try { t.push(typeof f()); } catch (e) { t.push(e.name); } };
tryIt(() => { const e = new Error(); e.name = Symbol(); return e.stack; });
tryIt(() => { Error.prepareStackTrace = (_, s) => s; return new Error().stack; });
tryIt(() => (async () => {})().constructor(\"return this.process\")());
tryIt(() => Reflect.construct(Function, [\"return process\"])());
tryIt(() => { class A extends Function {} return new A(\"return globalThis.process\")(); });
t.join()";
    assert_eq!(eval(&mut session(), source), text("TypeError,object,TypeError,ReferenceError,undefined"));
}

/// Runs in a process of its own, where nothing else takes memory: how much of it a flood of calls takes.
pub(crate) fn flood() -> Vec<u8> {
    let world = World::new();
    let mut session = world.session();
    eval(&mut crate::support::session(), "1");
    let before = resident();
    let source = "for (let i = 0; i < 4e4; i++) tools.echo({v: i}).catch(() => {});\n\"started\"";
    assert_eq!(world.run(&mut session, source).value(), text("started"));
    // What the guest itself may have is none of the queue.
    let guest = 64 << 20;
    assert!(resident() < before + guest + (10 << 20), "{before} bytes grew to {}", resident());
    Vec::new()
}

#[test]
fn x24_a_flood_of_calls_is_refused_and_others_do_not_notice() {
    let world = World::new();
    let mut session = world.session();
    let source = "const names = {}; for (let i = 0; i < 20000; i++) tools.echo({v: i}).then(() => { names.ok = (names.ok ?? 0) + 1 }, e => { names[e.name] = (names[e.name] ?? 0) + 1 });\nawait new Promise(r => setTimeout(r, 1)); names";
    let told = object([("CallBudgetExceeded", Value::from(19_744)), ("ok", Value::from(256))]);
    assert_eq!(world.run(&mut session, source).value(), told);
    assert_eq!(world.calls().len(), 256);
    // The million of the case is more than the program's own memory holds.
    let source = "for (let i = 0; i < 1e6; i++) tools.echo({v: i}).catch(() => {});\n\"started\"";
    let mut other = ENGINE.session(&world.tools()).unwrap();
    crate::measure::best_of_three(|| {
        let flooding = std::thread::spawn(move || {
            let world = World::new();
            world.run(&mut world.session(), source).failure().to_string()
        });
        let begun = Instant::now();
        assert_eq!(world.run(&mut other, "await tools.echo({v: 'beside'})").value(), text("beside"));
        let took = begun.elapsed();
        let end = flooding.join().unwrap();
        assert_eq!(end, "OutOfMemory: the program used more than 67108864 bytes of memory");
        if took < Duration::from_millis(100) { Ok(()) } else { Err(took) }
    });
    crate::worker::in_fresh_process("flood", &[]);
}

// ---- what an engine has got wrong before ----

/// Programs that change what a built-in works on in the middle of it. Each comes to a value, or to an error of the language.
const CHANGES: &[&str] = &[
    "const a = [3, 2, 1, 0]; a.sort((x, y) => { a.length = 0; globalThis.gc?.(); return x - y; }); a.length",
    "const b = new ArrayBuffer(8, {maxByteLength: 16}); const u = new Uint8Array(b); u.fill({valueOf() { b.resize(0); return 1; }}); u.length",
    "const b = new ArrayBuffer(64, {maxByteLength: 128}); const u = new Uint8Array(b); u.sort((x, y) => { b.resize(1); return x - y }); u.length",
    "const b = new ArrayBuffer(64, {maxByteLength: 128}); const u = new Uint32Array(b, 4); u.map((x, i) => { b.resize(i % 2 ? 128 : 2); return i }).length",
    "const b = new ArrayBuffer(64, {maxByteLength: 128}); const u = new Float64Array(b); u.copyWithin({ valueOf() { b.resize(8); return 0 } }, 4, 8); u.length",
    "const b = new ArrayBuffer(64, {maxByteLength: 128}); const u = new Uint8Array(b); u.subarray({ valueOf() { b.resize(3); return 0 } }, 60).length",
    "const b = new ArrayBuffer(64, {maxByteLength: 128}); const u = new Uint8Array(b); u.slice(0, { valueOf() { b.resize(3); return 60 } }).length",
    "const b = new ArrayBuffer(64, {maxByteLength: 128}); const u = new Uint8Array(b); u.set({ length: 40, get 0() { b.resize(2); return 7 } }); u[0]",
    "const b = new ArrayBuffer(64, {maxByteLength: 128}); const u = new Uint8Array(b); u.includes(1, { valueOf() { b.resize(0); return 0 } })",
    "const b = new ArrayBuffer(64, {maxByteLength: 128}); const u = new Uint8Array(b); u.lastIndexOf(0, { valueOf() { b.resize(1); return 63 } })",
    "const b = new ArrayBuffer(64, {maxByteLength: 128}); const u = new Uint8Array(b); u.join({ toString() { b.resize(0); return ',' } }).length",
    "const b = new ArrayBuffer(64, {maxByteLength: 128}); const u = new Uint8Array(b); u.with(60, { valueOf() { b.resize(1); return 5 } }).length",
    "const b = new ArrayBuffer(64, {maxByteLength: 128}); const u = new Uint8Array(b); u.toSorted((x, y) => { b.resize(0); return 0 }).length",
    "const b = new ArrayBuffer(16); const d = new DataView(b); d.setInt32({ valueOf() { b.transfer(); return 0 } }, 1)",
    "const b = new ArrayBuffer(16); const d = new DataView(b); d.setFloat64(8, { valueOf() { b.transfer(); return 1.5 } })",
    "const b = new ArrayBuffer(16); const d = new DataView(b); b.transfer(); d.getInt8(0)",
    "const b = new ArrayBuffer(16, { maxByteLength: 32 }); const d = new DataView(b, 8); d.getFloat64({ valueOf() { b.resize(9); return 0 } })",
    "const b = new ArrayBuffer(16, { maxByteLength: 32 }); const d = new DataView(b, 8); b.resize(4); [(() => { try { return d.byteLength } catch (e) { return e.name } })(), b.byteLength].join()",
    "const u = new Uint8Array(16); u.constructor = { [Symbol.species]: function () { return new Uint8Array(1) } }; u.map(x => x + 1).length",
    "const u = new Uint8Array(16); u.constructor = { [Symbol.species]: function () { return u } }; u.fill(5).filter(() => true) === u",
    "const u = new Uint8Array(8).fill(1); u.constructor = { [Symbol.species]: function (n) { const b = new ArrayBuffer(64); const v = new Uint8Array(b); b.transfer(); return v } }; u.slice(0, 8).length",
    "const u = new Uint8Array(8); u.constructor = { [Symbol.species]: BigInt64Array }; u.slice().length",
    "const b = new ArrayBuffer(8); b.constructor = { [Symbol.species]: function () { return b } }; b.slice(0).byteLength",
    "const b = new ArrayBuffer(8); b.constructor = { [Symbol.species]: function (n) { b.transfer(); return new ArrayBuffer(n) } }; b.slice(0).byteLength",
    "const a = [1, 2, 3, 4]; a.constructor = { [Symbol.species]: function () { return a } }; a.splice(0, 2).length",
    "const a = [1, 2, 3, 4]; a.constructor = { [Symbol.species]: function () { a.length = 0; return [] } }; a.concat([5, 6]).length",
    "const a = new Array(1000).fill({ toString() { a.length = 0; return 'x' } }); a.join().length",
    "const a = new Array(1000).fill({ toLocaleString() { a.length = 1; return 'x' } }); a.toLocaleString().length",
    "const a = [1, 2, 3]; a.splice({ valueOf() { a.length = 0; return 0 } }, 3, 4).length",
    "const a = [1, 2, 3]; a.splice(0, { valueOf() { a.length = 1e6; return 1e6 } }).length",
    "const a = Array.from({ length: 100 }, (_, i) => ({ valueOf() { a.length = 1; return i } })); a.toSorted((x, y) => x - y).length",
    "const a = [1, 2, 3, 4]; a.copyWithin({ valueOf() { a.length = 0; return 0 } }, 1, 4).length",
    "const a = [1, 2, 3]; a.includes(undefined, { valueOf() { a.length = 0; return 0 } })",
    "const a = [1, [2, [3]]]; a[1].__proto__ = new Proxy([], { get(t, k) { a.length = 0; return t[k] } }); a.flat(9).length",
    "const a = [1, 2, 3]; a.forEach(() => { a.shift(); a.unshift(...new Array(100).fill(0)) }); a.length",
    "const a = [5, 4, 3]; Object.defineProperty(Array.prototype, 7, { set(v) { a.length = 0 }, configurable: true }); for (let i = 0; i < 8; i++) a.push(i); a.length",
    "Object.defineProperty(Array.prototype, 0, { get() { return 'proto' }, set() {}, configurable: true }); const a = [, 1]; a.reverse(); [a.length, a[1]].join()",
    "let closed = 0; const it = { [Symbol.iterator]: () => ({ next() { return { done: false, value: 1 } }, return() { closed++; return {} } }) }; const [a, b] = it; const [{ x } = (() => { throw 1 })()] = [{}]; [a, b, closed].join()",
    "const it = { [Symbol.iterator]: () => ({ next() { return { done: false } }, return() { throw new Error('closing') } }) }; const [a] = it; a",
    "const it = { [Symbol.iterator]: () => ({ next() { return { done: false } }, get return() { return 5 } }) }; for (const x of it) break",
    "Object.defineProperties({}, new Proxy({ a: 1, b: 2 }, { ownKeys() { return ['a', 'b'] }, getOwnPropertyDescriptor() { return { configurable: true, enumerable: true, value: 1 } }, get(t, k) { delete t.b; return { value: k } } })).a",
    "const o = {}; const p = new Proxy(o, { defineProperty(t, k, d) { Object.preventExtensions(o); return true } }); Reflect.defineProperty(p, 'x', { value: 1, configurable: true })",
    "const r = /a/g; r.lastIndex = { valueOf() { r.compile('b'.repeat(1000)); return 0 } }; r.exec('aaaa')",
    "const r = /(a)|(b)/g; r.exec = function () { r.compile('(((c)))'); return { index: 0, 0: 'a', length: 4 } }; 'aaa'.replace(r, () => { r.lastIndex = 99; return '' })",
    "const r = /a/y; Object.defineProperty(r, 'lastIndex', { value: 3, writable: false }); r.test('aaaab')",
    "function* g() { try { i.next() } catch (e) { yield e.name } } const i = g(); i.next().value",
    "function* g() { yield* { [Symbol.iterator]: () => ({ next() { return i.return(5) } }) } } const i = g(); i.next()",
    "const u = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]); u.set(u.subarray(0, 6), 2); u.set(new Uint16Array(u.buffer, 0, 2), 1); [...u].join()",
    "const u = new Uint8Array(8); u.set(new Proxy([1, 2, 3], { get(t, k) { u.buffer.transfer?.(); return t[k] } }))",
    "let kept = []; for (let i = 0; i < 1000; i++) kept.push(new WeakRef({ i })); kept = kept.map(r => r.deref()?.i).filter(x => x !== undefined); kept.length <= 1000",
    "const w = new WeakMap(); let k = {}; w.set(k, { k, w }); const r = new FinalizationRegistry(() => w.get(k)); r.register(k, w, k); r.unregister(k); k = null; typeof w",
    "JSON.stringify(JSON.parse('{\"a\":[1,2,{\"b\":3}],\"c\":4}', function (k, v) { delete this.c; if (Array.isArray(this)) this.length = 1; return v }))",
    "JSON.parse('[1,2,3]', function (k, v) { this[1] = this; return k === '0' ? new Proxy([], { get(t, p) { return p === 'length' ? 5 : t[p] } }) : v })",
    "const o = { a: 1, toJSON() { o.b = o; delete o.a; return o } }; JSON.stringify([o, { get x() { o.c = 1; return 2 } }])",
    "const m = new Map([[1, 1], [2, 2], [3, 3]]); let n = 0; m.forEach((v, k) => { m.delete(k); m.clear(); if (n++ < 50) m.set(n + 10, n) }); n",
    "const s = new Set([1, 2, 3]); const out = []; for (const x of s) { s.delete(x); if (x < 50) s.add(x + 3); out.push(x) } out.length",
    "const s = new Set([1, 2, 3]); s.union({ size: 2, has() { s.clear(); return true }, keys() { s.clear(); return [7, 8].values() } }).size",
    "const s = new Set([1, 2, 3, 4]); s.isSubsetOf({ size: 9, has(x) { s.clear(); for (let i = 0; i < 100; i++) s.add(i); return true }, keys() { return [].values() } })",
    "class P extends Promise { static get [Symbol.species]() { return function (f) { f(() => {}, () => {}); return { then: 1 } } } } typeof new P(r => r(1)).then(x => x)",
    "class P extends Promise { constructor(f) { super(f); this.constructor = { [Symbol.species]: class { constructor(g) { g(1, 2) } } } } } new P(r => r(1)).then()",
    "const it = { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value: 1 }), return: () => ({ then(f) { f(5) } }) }) }; for await (const x of it) break",
    "async function* g() { try { yield 1; yield 2 } finally { i.return(); i.throw(new Error('x')).catch(() => {}) } } const i = g(); await i.next(); (await i.return(9)).value",
    "const b = new ArrayBuffer(16); const c = structuredClone({ b, u: new Uint8Array(b) }, { transfer: [b] }); [b.byteLength, c.b.byteLength, c.u.buffer === c.b].join()",
    "const b = new ArrayBuffer(16); structuredClone({ get x() { b.transfer(); return new Uint8Array(4) }, b }, { transfer: [b] }).b.byteLength",
    "const m = new Map(); m.set(m, m); m.set({ get x() { m.clear(); return m } }, 1); structuredClone(m).size",
    "[BigInt.asUintN(0, -1n), BigInt.asUintN(64, -1n), BigInt.asIntN(1, 1n), BigInt.asUintN(2 ** 53 - 1, 5n)].join()",
    "BigInt.asUintN(2 ** 53 - 1, -1n)",
    "[(-1n) << 65n, 1n << -5n, (-5n) >> 100n, 0n ** 0n, (-(2n ** 64n)) / 3n, (2n ** 64n) % -7n].join()",
    "1n << (2n ** 62n)",
    "[new Date(8.64e15).getTime(), new Date(8.64e15 + 1).getTime(), Date.UTC(-271821, 3, 20), new Date(2 ** 31, 2 ** 31, 2 ** 31).getTime()].join()",
    "const d = new Date(0); d.setFullYear({ valueOf() { d.setTime(NaN); return 2000 } }); d.setHours(1e300, -1e300); String(d)",
    "['e\\u0301'.normalize('NFC').length, '\\uD800'.normalize('NFD').length, ('a' + '\\u0301'.repeat(5000)).normalize('NFKC').length, '\\uFDFA'.normalize('NFKD').length].join()",
    "'x'.normalize({ toString() { return 'NFX' } })",
    "const fs = []; outer: for (let i = 0; i < 3; i++) { for (let j = 0; j < 3; j++) { fs.push(() => [i++, j++]); if (j === 1) continue outer; } } fs.map(f => f().concat(f())).join()",
    "const f = eval('(function () { let a = 1; { let a = 2; var g = () => a++; } return () => [g(), a++, eval(\"a\")] })()'); f(); f().join()",
    "function f(a, b) { arguments[0] = { valueOf() { arguments.length = 0; return 1 } }; delete arguments[1]; b = 5; return [...arguments].length } f(1, 2, 3)",
    "const o = { get a() { delete o.b; o.z = 1; return 1 }, b: 2, c: 3 }; const { a, ...rest } = o; [Object.keys(rest), Object.assign({}, o).z, Object.entries(o).length].join()",
    "const p = new Proxy({}, { ownKeys: () => ['a', 'a'] }); Object.keys(p)",
    "const o = { __proto__: { set x(v) { delete Object.getPrototypeOf(this).x; this.y = v } } }; for (let i = 0; i < 10; i++) o.x = i; [o.x, o.y].join()",
    "class A { #x = 1; static s(o) { return o.#x } static { try { A.s({}) } catch (e) { this.e = e.name } } } class B { constructor(o) { return o } } class C extends B { #y = 2; static t(o) { return o.#y } } const q = {}; new C(q); [A.e, C.t(q)].join()",
    "const a = []; a[2 ** 32 - 2] = 1; a.length = 5; a.unshift(1); a.push(2); [a.length, a[0]].join()",
    "Reflect.construct(Array, [3], class extends Uint8Array {}).length",
    "const s = 'x'.repeat(100000); let t = s; for (let i = 0; i < 1000; i++) t = t.slice(1) + 'y'; t.slice(-3) + t.length",
    "let s = ''; for (let i = 0; i < 50000; i++) { s = (i % 2 ? s + 'ab' : 'ba' + s); if (i % 1000 === 0) s.charCodeAt(i) } s.length",
];

#[test]
fn x16_built_ins_whose_data_changes_under_them() {
    const { assert!(CHANGES.len() >= 40) }
    let mut beside = session();
    eval(&mut beside, "let n = 0");
    let mut count = 0;
    for source in CHANGES {
        let options = with_limits(|limits| limits.cpu_time = Duration::from_secs(2));
        let mut session = ENGINE.session_with(&chrysalid::Capabilities::none(), options).unwrap();
        // Memory that the built-in may have read or written wrongly is looked at by a collection and by more programs.
        eval(
            &mut session,
            "const around = Array.from({ length: 100 }, (_, i) => ({ i, b: new Uint8Array(100).fill(i) }))",
        );
        let ended = run(&mut session, source);
        assert_eq!(ended.heap, Heap::Intact, "{source}: {ended:?}");
        if let Err(failure) = &ended.result {
            let known = ["TypeError", "RangeError", "SyntaxError", "Error", "OutOfMemory", "Timeout"];
            assert!(known.contains(&failure.name.as_str()), "{source}: {failure:?}");
        }
        let check = "for (let i = 0; i < 200; i++) { const a = {}; a.a = [a, new Uint8Array(200)] } around.every((o, i) => o.i === i && o.b.every(x => x === i))";
        let check = run(&mut session, check);
        assert_eq!((check.result, check.heap), (Ok(Value::from(true)), Heap::Intact), "after {source}");
        count += 1;
        assert_eq!(eval(&mut beside, "++n"), Value::from(count), "beside {source}");
    }
}
