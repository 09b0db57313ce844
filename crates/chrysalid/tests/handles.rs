//! Handles as programs meet them: kept, compared and passed on, and read by nothing. Here tools give most of the handles themselves;
//! `delivery.rs` has what the host keeps behind them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use chrysalid::{Capabilities, Capability, Delivery, Handle, Limits, Session, Value};

use crate::support::{BOTH, ENGINE, World, list, object, text, with_limits};

const UNREADABLE: &str = "TypeError: a handle cannot be read: await reveal(handle) gives the value";
const FIXED: &str = "TypeError: a handle cannot be changed";

fn handle(id: u32) -> Value {
    Value::from(Handle::new(id, "rsvps.list"))
}

/// The tools of a world, and those that give handles: `rsvps.list` another one each time, `same` always the first.
fn tools(world: &World) -> Capabilities {
    let last = Arc::new(AtomicU32::new(0));
    let next = move |_, _| std::future::ready(Ok(handle(last.fetch_add(1, Ordering::Relaxed) + 1)));
    let same = |_, _| std::future::ready(Ok(list([handle(1), object([("again", handle(1))])])));
    let more = [Capability::raw("rsvps.list", next), Capability::raw("same", same)];
    Capabilities::new([world.mirror(), world.gate(), world.echo()].into_iter().chain(more)).unwrap()
}

fn session(world: &World) -> Session {
    ENGINE.session(&tools(world)).unwrap()
}

/// The value of a program that has a handle `h` and another, `other`.
fn value(source: &str) -> Value {
    let world = World::new();
    let source = format!("const h = await tools.rsvps.list(), other = await tools.rsvps.list();\n{source}");
    world.run(&mut session(&world), &source).value()
}

/// How each expression ends: its value as text, or its error.
fn ends(prelude: &str, expressions: &[&str]) -> Vec<String> {
    let tries = expressions.iter().map(|expression| {
        format!("try {{ ends.push(String({expression})) }} catch (e) {{ ends.push(e.name + ': ' + e.message) }}\n")
    });
    let ends = value(&format!("const ends = []; {prelude}\n{}return ends", tries.collect::<String>()));
    ends.as_array().unwrap().iter().map(|end| end.as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn all_end(expressions: &[&str], end: &str) {
    let others: Vec<_> = expressions.iter().zip(ends("", expressions)).filter(|(_, found)| found != end).collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn no_property_of_a_handle_is_read() {
    all_end(
        &[
            "h.length",
            "h['length']",
            "h[0]",
            "h.toString",
            "h.toString()",
            "h.toJSON",
            "h.valueOf()",
            "h.__proto__",
            "h?.x",
            "h.map(x => x)",
            "'x' in h",
            "0 in h",
            "Symbol.iterator in h",
            "Reflect.has(h, 'x')",
            "Reflect.get(h, 'x')",
            "Object.hasOwn(h, 'x')",
            "Object.prototype.hasOwnProperty.call(h, 'x')",
            "Object.prototype.propertyIsEnumerable.call(h, 'x')",
            "Object.getOwnPropertyDescriptor(h, 'x')",
            "Object.getOwnPropertyDescriptors(h)",
            "(() => { const { a } = h })()",
        ],
        UNREADABLE,
    );
}

#[test]
fn a_handle_becomes_no_text_and_no_number() {
    all_end(
        &[
            "`${h}`",
            "h + ''",
            "h + 1",
            "+h",
            "-h",
            "h * 1",
            "h < 1",
            "h == 1",
            "h == 'x'",
            "String(h)",
            "Number(h)",
            "BigInt(h)",
            "Symbol(h)",
            "new Date(h)",
            "parseInt(h)",
            "isNaN(h)",
            "Math.max(h)",
            "[h].join()",
            "[h] + ''",
            "[h, other].sort()",
            "[h, other].toSorted()",
            "'x'.concat(h)",
            "'x'.includes(h)",
            "'x'.replace('x', h)",
            "'x'.padStart(9, h)",
            "({ [h]: 1 })",
            "({})[h]",
            "h in {}",
            "new Error(h)",
            "JSON.parse(h)",
            "encodeURIComponent(h)",
            "btoa(h)",
            "new URL(h)",
            "new TextEncoder().encode(h)",
            "new RegExp(h)",
            "/x/.test(h)",
            "Object.prototype.toLocaleString.call(h)",
        ],
        UNREADABLE,
    );
}

#[test]
fn a_handle_is_not_copied_or_gone_through() {
    all_end(
        &[
            "Object.entries(h)",
            "Object.values(h)",
            "Object.assign({}, h)",
            "Object.fromEntries(h)",
            "Object.groupBy(h, x => x)",
            "({ ...h })",
            "[...h]",
            "Math.max(...h)",
            "(() => { const { ...rest } = h })()",
            "(() => { const [a] = h })()",
            "(() => { for (const k in h); })()",
            "(() => { for (const x of h); })()",
            "Array.from(h)",
            "new Map(h)",
            "new Set(h)",
            "new Uint8Array(h)",
            "new URLSearchParams(h)",
            "JSON.stringify(h)",
            "JSON.stringify([{ h }])",
            "JSON.stringify(h, (k, v) => 1)",
            "JSON.stringify(1, null, h) && JSON.stringify({ h }, ['h'])",
            "JSON.stringify({ toJSON: () => h })",
            "JSON.stringify(1, () => h)",
            "Object.keys({ ...h })",
            "Array.prototype.map.call(h, x => x)",
            "Array.prototype.slice.call(h)",
            "Array.prototype.concat.call([], [h]).join()",
        ],
        UNREADABLE,
    );
}

#[test]
fn nothing_around_a_handle_reads_it() {
    all_end(
        &[
            "new Event('x', h)",
            "(() => { for (const k in Object.create(h)); })()",
            "eval('h.x')",
            "new Function('h', 'return h.x')(h)",
            "Object.create(h).x",
            "`${Object.create(h)}`",
            "({ __proto__: h }).x",
            "({ __proto__: h, get y() { return super.x } }).y",
            "new Proxy(h, {}).x",
            "'x' in new Proxy(h, {})",
            "JSON.stringify(new Proxy(h, {}))",
            "new Proxy(h, { get: () => 1 }).x",
            "new Proxy({}, { get: (t, k) => Reflect.get(h, k) }).x",
        ],
        UNREADABLE,
    );
}

#[test]
fn iteration_that_is_asynchronous_reads_nothing_either() {
    let value = value(
        "const ends = [], delegate = async function* () { yield* h }
        const tries = [
          async () => { for await (const x of h); }, async () => { for await (const x of delegate()); },
          () => Promise.all(h), () => Promise.race(h), () => Array.fromAsync(h),
        ]
        for (const attempt of tries)
          await attempt().then(() => ends.push('read'), e => ends.push(`${e.name}: ${e.message}`))
        return ends",
    );
    assert_eq!(value, Value::Array(vec![text(UNREADABLE); 5]));
}

#[test]
fn nothing_changes_a_handle() {
    all_end(
        &[
            "(() => { 'use strict'; h.x = 1 })()",
            "(() => { 'use strict'; h[0] = 1 })()",
            "(() => { 'use strict'; h.then = 1 })()",
            "(() => { 'use strict'; h[Symbol.toPrimitive] = () => 'x' })()",
            "(() => { 'use strict'; Object.create(h).x = 1 })()",
            "Object.defineProperty(h, 'x', { value: 1 })",
            "Object.defineProperty(h, 'then', { value: 1 })",
            "Object.assign(h, { x: 1 })",
        ],
        FIXED,
    );
    let ends = ends(
        "",
        &[
            "(h.x = 1)",
            "(h.then = () => 1, typeof h.then)",
            "Reflect.set(h, 'x', 1)",
            "Reflect.defineProperty(h, 'x', { value: 1 })",
            "Reflect.setPrototypeOf(h, {})",
            "Object.setPrototypeOf(h, Array.prototype)",
            "Object.isExtensible(h) || Object.isFrozen(h) && Object.isSealed(h)",
            "Object.freeze(h) === h && Object.seal(h) === h && Object.preventExtensions(h) === h",
            "Object.getPrototypeOf(h)",
            "delete h.x",
        ],
    );
    let fixed = "TypeError: object is not extensible";
    assert_eq!(ends, ["1", "undefined", "false", "false", "false", fixed, "true", "true", "null", "true"]);
}

#[test]
fn what_a_program_may_do_with_a_handle() {
    let value = value(
        "const copy = structuredClone({ h, list: [h] }), weak = new WeakRef(h)
        const map = new Map([[h, 1], [other, 2]]), set = new Set([h, h, other])
        return [
          typeof h, !!h, h === h, h === other, h == null, Object.is(h, h), Array.isArray(h), h instanceof Object,
          [other, h].includes(h), [other, h].indexOf(h), [h].concat([other]).length, [[h]].flat()[0] === h,
          map.get(h), set.size, new WeakMap([[h, 3]]).get(h), weak.deref() === h,
          await h === h, await Promise.resolve(h) === h, (await Promise.all([h, other]))[1] === other,
          copy.h === h, copy.list[0] === h, Object.keys(h).length, Reflect.ownKeys(h).length,
          Object.getOwnPropertyNames(h).length, h.then, h.constructor, h[Symbol('x')], Object.prototype.toString.call(h),
          'then' in h, [h, other].sort((a, b) => a === h ? 1 : -1)[0] === other, [...[h]][0] === h, { ...{ h } }.h === h,
          JSON.stringify([1], (k, v) => v === h ? 2 : v), (({ x }) => x === h)({ x: h }),
        ]",
    );
    let shown = "[ 'object', true, true, false, false, true, false, false, \
         true, 1, 2, true, \
         1, 2, 3, true, \
         true, true, true, \
         true, true, 0, 0, \
         0, undefined, undefined, undefined, '[object Handle]', \
         false, true, true, true, \
         '[1]', true ]";
    let style = value.as_array().unwrap().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    assert_eq!(format!("[ {style} ]"), shown);
}

#[test]
fn a_handle_is_the_same_after_a_pause_and_in_the_next_program() {
    for way in BOTH {
        let world = World::new();
        let tools = tools(&world);
        let mut session = ENGINE.session(&tools).unwrap();
        let source = "const h = await tools.rsvps.list()
            await tools.gate()
            const [again] = await tools.same()
            return [again === h, h]";
        world.run(&mut session, source).waits();
        let mut session = way.pass(session, &tools);
        let value = world.decide(&mut session, "1.2", chrysalid::Decision::Approve).value();
        assert_eq!(value, list([true.into(), handle(1)]), "{way:?}");
        // The program is over and its handle, of which there are still variables, is not.
        assert_eq!(world.run(&mut session, "(await tools.same())[0] === h").value(), Value::from(true));
    }
}

#[test]
fn handles_cross_to_tools_as_what_they_hold() {
    for way in BOTH {
        let world = World::new();
        let list_them = world.answering("rsvps.list", text("them")).delivery(Delivery::Handle);
        let tools = Capabilities::new([world.mirror(), world.gate(), list_them]).unwrap();
        let mut session = ENGINE.session(&tools).unwrap();
        let source = "const h = await tools.rsvps.list()
            await tools.gate()
            const back = await tools.mirror({ h, deep: [new Map([[h, new Set([h])]])], own: h })
            return [back, h]";
        world.run(&mut session, source).waits();
        let mut session = way.pass(session, &tools);
        let value = world.decide(&mut session, "1.2", chrysalid::Decision::Approve).value();
        let deep = list([Value::Map(vec![(text("them"), Value::Set(vec![text("them")]))])]);
        let back = object([("deep", deep), ("h", text("them")), ("own", text("them"))]);
        assert_eq!(value, list([back.clone(), handle(1)]), "{way:?}");
        assert_eq!(world.calls().last().unwrap(), &format!("mirror {back}"));
    }
}

#[test]
fn a_handle_that_the_session_does_not_keep_is_refused() {
    let world = World::new();
    let mut session = session(&world);
    let source = "const h = await tools.rsvps.list(); await tools.mirror({ h }).catch(e => `${e.name}: ${e.message}`)";
    let refused = "ToolInputError: mirror: handle 1 is not one of this session";
    assert_eq!(world.run(&mut session, source).value(), text(refused));
    assert_eq!(world.calls(), [""; 0]);
}

#[test]
fn a_number_has_one_object() {
    let world = World::new();
    let mut session = session(&world);
    let source = "const [a, { again }] = await tools.same(), [b] = await tools.same(); [a === again, a === b]";
    assert_eq!(world.run(&mut session, source).value(), list([true.into(), true.into()]));
}

#[test]
fn a_program_makes_no_handle_of_its_own() {
    let refusals = ends(
        "const proto = Object.getPrototypeOf(h);
        class Fake { get [Symbol.toStringTag]() { return 'Handle' } }
        const refusal = async v => { try { await tools.mirror({ v }); return 'crossed' } catch (e) { return e.message } }
        const all = []
        for (const v of [new Fake(), Object.create(h), { __proto__: h }, new Proxy(h, {}), Object.create(proto)])
          all.push(await refusal(v))",
        &["all.join('; ')", "h.constructor", "typeof Handle", "new (class extends h {})()", "new h()", "Reflect.construct(h, [])"],
    );
    assert_eq!(
        refusals,
        [
            "argument.v: an instance of Fake cannot cross, pass a plain object; \
             argument.v: an instance of Object cannot cross, pass a plain object; \
             argument.v: an instance of Object cannot cross, pass a plain object; \
             argument.v: a proxy cannot cross, pass a plain object; crossed",
            "undefined",
            "undefined",
            "TypeError: parent class must be constructor",
            "TypeError: h is not a constructor",
            "TypeError: not a constructor",
        ]
    );
    // What looks like one in JSON is an object, to the program and to the host.
    let value = value("return (await tools.mirror({ v: { $handle: 1, of: 'rsvps.list' } })).v");
    assert_eq!(value, object([("$handle", 1.into()), ("of", text("rsvps.list"))]));
}

#[test]
fn private_names_do_not_get_into_a_handle() {
    let ends = ends(
        "class Base { constructor(o) { return o } }
        class Field extends Base { #x = 1; static has(o) { return #x in o }; static read(o) { return o.#x } }
        class Method extends Base { #m() { return 1 }; static has(o) { return #m in o }; static call(o) { return o.#m() } }
        const made = M => { try { new M(h); return 'stamped' } catch (e) { return e.name } }",
        &["made(Field)", "Field.has(h)", "Field.read(h)", "made(Method)", "Method.has(h)"],
    );
    assert_eq!(ends[0], "TypeError");
    assert_eq!(ends[1], "false");
    assert!(ends[2].starts_with("TypeError: "), "{}", ends[2]);
    assert_eq!(ends[3..], ["TypeError", "false"]);
}

#[test]
fn values_errors_and_the_console_show_a_handle() {
    let world = World::new();
    let mut session = session(&world);
    let source = "const h = await tools.rsvps.list()
        console.log(h)
        console.log('a', h, [h], { h }, new Map([[h, h]]), Promise.resolve(h), new Error('e', { cause: h }))
        console.log('%s %o %O %d %i %f', h, h, h, h, h, h)
        console.log('%j', h)
        console.error(Object.assign(new Error('e'), { h }))
        console.table([{ h }])
        console.table(h)
        console.table([h])
        console.dir(h)
        console.assert(false, h)
        console.group(h)
        console.info(h)
        console.groupEnd()
        console.count(h)
        console.time(h)
        console.timeEnd(h)
        return { h }";
    let ended = world.run(&mut session, source).ended();
    let lines: Vec<_> = ended.logs.iter().map(|line| line.text.lines().next().unwrap_or_default()).collect();
    let h = "[handle 1 of rsvps.list]";
    assert_eq!(
        lines,
        [
            h.to_owned(),
            format!("a {h} [ {h} ] {{ h: {h} }} Map(1) {{ {h} => {h} }} Promise {{ <fulfilled> }} Error: e"),
            format!("{h} {h} {h} NaN NaN NaN"),
            "[no JSON]".to_owned(),
            "Error: e".to_owned(),
            "┌─────────┬──────────────────────────┐".to_owned(),
            h.to_owned(),
            "┌─────────┬──────────────────────────┐".to_owned(),
            h.to_owned(),
            format!("Assertion failed: {h}"),
            h.to_owned(),
            format!("  {h}"),
            format!("{h}: 1"),
            format!("{h}: 0ms"),
        ]
    );
    let errors: Vec<_> =
        ended.logs.iter().filter_map(|line| line.text.split_once("\n    at ").map(|parts| parts.1)).collect();
    let ends: Vec<_> = errors.iter().map(|text| text.split_once(") ").map_or("", |parts| parts.1)).collect();
    assert_eq!(ends, [format!("{{\n  [cause]: {h}\n}}"), format!("{{ h: {h} }}")]);
    let table: Vec<_> = ended.logs[7].text.lines().nth(3).unwrap_or_default().split('│').map(str::trim).collect();
    assert_eq!(table, ["", "0", h, ""]);
    assert_eq!(ended.result.unwrap(), object([("h", handle(1))]));

    let failure = world.run(&mut session, "throw h").failure();
    assert_eq!((failure.message.as_str(), failure.value), (h, Some(handle(1))));
    let failure = world.run(&mut session, "throw new Error('lost', { cause: [h] })").failure();
    let Some(Value::Error(error)) = &failure.value else { panic!("{failure:?}") };
    assert_eq!(error.cause, Some(list([handle(1)])));
    let failure = world.run(&mut session, "Promise.reject(h); 1").failure();
    assert_eq!(failure.message, h);
}

#[test]
fn a_handle_of_another_program_is_still_one() {
    let world = World::new();
    let mut session = session(&world);
    world.run(&mut session, "globalThis.kept = await tools.rsvps.list(); 0").value();
    assert_eq!(world.run(&mut session, "kept").value(), handle(1));
    assert_eq!(
        world.run(&mut session, "({ own: kept === globalThis.kept, kept })").value().get("own"),
        Some(&true.into())
    );
    let source =
        "const list = []; for (let i = 0; i < 200; i++) list.push(await tools.rsvps.list()); list.push(kept); list";
    let list = world.run(&mut session, source).value();
    let numbers: Vec<_> = list.as_array().unwrap().iter().map(|value| value.as_handle().unwrap().id).collect();
    assert_eq!(numbers, (2..=201).chain([1]).collect::<Vec<_>>());
}

#[test]
fn handles_without_memory_fail_a_call_and_no_more() {
    let world = World::new();
    let options = with_limits(|limits: &mut Limits| limits.memory = 8 << 20);
    let mut session = ENGINE.session_with(&tools(&world), options).unwrap();
    let source = "const all = []
        try { for (;;) all.push(await tools.rsvps.list(), new Uint8Array(40000)) } catch (e) { all.length = 2; throw e }";
    let failure = world.run(&mut session, source).failure();
    assert!(failure.message.contains("memory"), "{failure:?}");
    assert_eq!(world.run(&mut session, "typeof (await tools.rsvps.list())").value(), text("object"));
}
