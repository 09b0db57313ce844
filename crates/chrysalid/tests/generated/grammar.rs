//! What programs are made of. In a text `$e` is an expression, `$c` a call of a tool, `$v` a variable, `$b` a block of
//! statements, `$n` a number that no other text has, `$m` milliseconds and `$k` 1, 2 or 3.
//!
//! No expression grows with what was there before, so that no program meets a limit by accident.

pub(super) const EXPRESSIONS: &[&str] = &[
    "v0",
    "v1",
    "seen.length",
    "String(v2).slice(0, 30)",
    "v0 + 1",
    "String(v1 + v0).slice(0, 20)",
    "({ a: String(v0).slice(0, 9), b: [seen.length] })",
    "v2.map((x) => String(x).slice(0, 9))",
    "Math.random() < 0.5",
    "10n ** 20n",
    "new Date(86400000 * 366)",
    "undefined",
    "[...'é😀']",
    "/a/.test(v1)",
    "[...new Set(v2.map(String))].length",
    "-0",
    "new Map([[v0, new Set([v1])], ['m', -0]])",
    "new Uint8Array([1, 2, 254]).map((x) => x * 2)",
    "new Float64Array([0.5, NaN]).subarray(1)",
    "new DataView(new ArrayBuffer(4), 1).byteLength",
    "BigInt.asUintN(64, -1n)",
    "'12-x 7-y'.replace(/(?<d>\\d+)-/g, '[$<d>]')",
    "[...'a1b22'.matchAll(/\\d+/g)].map((x) => x.index)",
    "structuredClone({ d: new Date(0), r: /x/gi, v: String(v0) })",
    "new Error('e', { cause: 1 })",
    "((a, ...b) => [a, b.length])(1, v0, v1)",
    "Object.keys(Object.groupBy([1, 2, 3], (x) => (x % 2 ? 'odd' : 'even')))",
    "new Proxy({}, { get: (_, key) => String(key) }).zip",
    "Math.random()",
    "crypto.randomUUID()",
    "new Date().toISOString()",
    "performance.now() >= 0",
    "new URL('https://a.test/b?c=d').searchParams.get('c')",
    "JSON.stringify([v1, 'ü', { z: null }]).length",
    "[, 1, , 2].flatMap((x) => [x, x])",
    "({ get half() { return seen.length / 2; } }).half",
    "`${typeof v0} ${v1?.length ?? 'none'}`",
    "null.x",
    "[3, 1, 2].toSorted().with(0, String(v1).slice(0, 5))",
    "new (class extends Array { get top() { return this.at(-1); } })(1, 2, 3).top",
];

pub(super) const VARIABLES: &[&str] = &["v0", "v1", "v2[0]"];

pub(super) const CALLS: &[&str] = &[
    "tools.echo({ v: $e })",
    "tools.gate({ q: $e })",
    "tools.slow({ ms: $m, v: $e })",
    "tools.fail({ msg: String($e) })",
    "tools.slowFail({ ms: $m })",
    "tools.outside({ about: $e })",
    "tools.gate({ q: { about: $e } })",
    "tools.mirror([$e, $e])",
    "(async () => [await $c, await $c])()",
    "$c.catch((e) => e.name)",
];

pub(super) const STATEMENTS: &[&str] = &[
    "seen.push($e);",
    "$v = $e;",
    "console.log($e);",
    "seen.push(await $c);",
    "seen.push(await Promise.all([$c, $c, $e]));",
    "$c.then((x) => seen.push(['then', x]), (e) => seen.push(['catch', e.name, e.message]));",
    "await null;",
    "v2 = [...v2.slice(-3), $e];",
    "await new Promise((done) => setTimeout(done, $m));",
    "seen.push((await Promise.allSettled([$c, $c])).map((x) => [x.status, x.value ?? String(x.reason)]));",
    "seen.push(await Promise.race([$c, $c]).catch((e) => ['race', e.message]));",
    "seen.push(await Promise.any([$c, $c]).catch((e) => [e.name, e.errors.map(String)]));",
    "console.warn('%s and %o', $e, $e); console.table([{ a: $e }]);",
    "console.group('g$n'); console.error($e); console.groupEnd();",
    "queueMicrotask(() => seen.push(['micro', $e]));",
    "setTimeout((x) => seen.push(['timer', x]), $m, $e);",
    "{ let left = $k; const i$n = setInterval(() => { seen.push(['tick', $e]); if (--left < 1) clearInterval(i$n); }, $m); }",
    "seen.push(await { then(done) { done($e); } });",
    "seen.push((await import('counter')).bump());",
    "seen.push(await import('shapes').then((m) => new m.Square($k).area, (e) => e.name));",
    "seen.push(await import('$k').catch((e) => [e.name, e.message]));",
    "seen.push(await import('broken').catch((e) => [e.name, e.message]));",
    "seen.push((await tools.$search({ query: 'echo' })).length);",
    "seen.push(await AbortSignal.timeout($m).reason ?? 'not yet');",
    "setTimeout(() => seen.push('late'), 60000);",
];

/// What only stands where it cannot end a program too often.
pub(super) const ENDS: &[&str] =
    &["throw new TypeError(String($e), { cause: $e });", "return $e;", "await new Promise(() => {});"];

pub(super) const COMPOUND: &[&str] = &[
    "for (let i$n = 0; i$n < $k; i$n++) {\n$b}",
    "try {\n$bif (seen.length % 2) throw new Error(String($e), { cause: $e });\n} catch (e) { seen.push(['caught', e.name, e.message, e.cause]); } finally {\n$b}",
    "if ($e) {\n$b} else {\n$b}",
    "const f$n = async (x) => {\n$breturn [x, v0]; };\nawait f$n($e).then((x) => seen.push(x), (e) => seen.push(e.name));",
    "const f$n = async (x) => {\n$breturn [x, v1]; };\nf$n($e).then((x) => seen.push(x), (e) => seen.push(e.name));",
    "setTimeout(async () => {\n$b}, $m);",
    "async function* g$n() {\n$byield $e; yield await $c; }\nfor await (const x of g$n()) seen.push(x);",
    "function* g$n() { try { yield 1; yield* [$e, 3]; } finally { seen.push('closed'); } }\nfor (const x of g$n()) {\n$bif (x === $k) break; }",
    "outer$n: for (const x of [1, 2]) for (const y of 'ab') {\n$bif (x === $k) continue outer$n;\nseen.push(x + y); }",
    "switch ($k) {\ncase 1: {\n$b}\ncase 2: seen.push('two'); break;\ndefault: {\n$b} }",
    "let open$n; const gate$n = new Promise((done) => { open$n = done; });\n(async () => { seen.push(['opened', await gate$n]);\n$b})().catch((e) => seen.push(e.name));\n$bopen$n($e);",
    "class A$n { #x = $e; static n = 0; static { A$n.n = $k; } get x() { return this.#x; } async go() {\nawait null;\n$breturn [this.#x, A$n.n]; } }\nseen.push(await new (class extends A$n {})().go());",
    "for await (const x of { i: 0, [Symbol.asyncIterator]() { return this; }, async next() { await null; return { done: ++this.i > $k, value: this.i }; }, async return() { seen.push('left'); return {}; } }) {\n$bif (x === 2) break; }",
    "for (const [key, { length }] of new Map([['a', [1]], ['b', [$e, 2]]])) {\n$bseen.push(key, length); }",
    "await Promise.all([1, 2].map(async (x) => {\n$bseen.push(['worker', x]); })).catch((e) => seen.push(e.name));",
    "const d$n = async (x) => { if (x < 1) return [];\n$breturn [x, ...(await d$n(x - 1))]; };\nseen.push(await d$n($k));",
    "{ const target = new EventTarget(); target.addEventListener('x', async (event) => {\nseen.push(event.type);\ntry {\n$b} catch (e) { seen.push(e.name); } }, { once: true });\ntarget.dispatchEvent(new Event('x')); target.dispatchEvent(new Event('x')); }",
    "{ const stop = new AbortController(); setTimeout(() => stop.abort('stopped'), $m);\nstop.signal.addEventListener('abort', () => seen.push(stop.signal.reason));\n$b}",
];

/// Things at the top of a program that later statements and later programs use: a declaration, and its uses.
pub(super) const KEPT: &[(&str, &[&str])] = &[
    (
        "const k$n = (function* () { let x = 0; try { while (x < 99) { const y = yield [++x, $e]; if (y === 1) throw new Error('one'); } } finally { seen.push('over'); } })();",
        &["seen.push(k$n.next($k).value);", "seen.push(k$n.return($e).done);", "seen.push(k$n.next().done);"],
    ),
    (
        "const k$n = (async function* () { for (let x = 0; x < 9; x++) yield [x, await $c]; })();",
        &["seen.push(await k$n.next());", "k$n.next().then((x) => seen.push(x), (e) => seen.push(e.name));"],
    ),
    (
        "const k$n = new Map([[v1, 1]]);",
        &["k$n.set($k, $e).delete(v1);", "for (const x of k$n.entries()) seen.push(x.length);"],
    ),
    (
        "const k$n = new (class Count { #n = $k; #items = [$e]; get n() { return this.#n; } set n(x) { this.#n = x; } static of(x) { return #n in x; } async add(x) { await null; this.#items = [x]; return ++this.#n; } last() { return this.#items[0]; } })();",
        &[
            "seen.push(await k$n.add($e));",
            "k$n.n = $k; seen.push(k$n.last());",
            "seen.push(k$n.constructor.of(k$n), k$n.constructor.of({}));",
        ],
    ),
    ("const k$n = /(a|b)+?(?<rest>.)/gy;", &["seen.push(k$n.exec('ababxbb')?.groups.rest, k$n.lastIndex);"]),
    (
        "const k$n = new Uint16Array(new ArrayBuffer(8, { maxByteLength: 32 }));",
        &["k$n[$k] += 65530; seen.push(k$n);", "k$n.buffer.resize(8 * $k); seen.push(k$n.length);"],
    ),
    (
        "const k$n = (() => { let n = 0, last; return { up: () => ++n, keep: (x) => { last = x; }, last: () => last }; })();",
        &["seen.push(k$n.up());", "k$n.keep($e);", "seen.push(k$n.last());"],
    ),
    (
        "const k$n = $c; k$n.catch(() => {});",
        &["seen.push(await k$n);", "k$n.then((x) => seen.push(['kept', x]), () => seen.push('not kept'));"],
    ),
    ("const k$n = new WeakMap([[seen, $e]]);", &["seen.push(k$n.get(seen), k$n.has({}));", "k$n.set(seen, $k);"]),
    (
        "const k$n = { self: null, list: [$e] }; k$n.self = k$n;",
        &["seen.push(k$n.self.self === k$n);", "k$n.list = [$e]; seen.push(structuredClone(k$n).list);"],
    ),
    ("const k$n = new Date(0);", &["k$n.setUTCMonth($k); seen.push(k$n);", "seen.push(k$n.toLocaleString());"]),
    (
        "const k$n = new Proxy({ n: 0 }, { set(to, key, x) { seen.push(['set', key]); return Reflect.set(to, key, x); } });",
        &["k$n.n += $k;", "seen.push(Object.keys(k$n), k$n.n);"],
    ),
    (
        "import { bump as b$n, count as c$n } from 'counter'; import * as k$n from 'shapes';",
        &["seen.push(b$n(), c$n);", "seen.push(new k$n.Square($k).area, k$n.made());"],
    ),
    (
        "const k$n = Iterator.from([1, 2, 3, 4, 5, 6]).map((x) => x * $k).filter((x) => x % 2);",
        &["seen.push(k$n.next());"],
    ),
    ("const k$n = Symbol('k'); seen[k$n] = $e;", &["seen.push(seen[k$n], k$n.description);"]),
    ("const k$n = new URLSearchParams({ a: '1' });", &["k$n.append('b', String($k)); seen.push(String(k$n));"]),
];

/// The last line of a program.
pub(super) const VALUES: &[&str] = &[
    "JSON.stringify({ seen, v0, v1, v2 }, (_, x) => (typeof x === 'bigint' ? String(x) : x))",
    "({ seen, v0, v1, v2 })",
    "seen",
    "const end = await Promise.all([v0, v1]); end",
];

pub(super) const MODULES: [(&str, &str); 3] = [
    ("counter", "export let count = 0; export function bump() { return ++count; }"),
    (
        "shapes",
        "import { bump } from './counter'; let all = 0; await null; export class Square { #side; constructor(side) { this.#side = side; all += bump() > 0 ? 1 : 0; } get area() { return this.#side ** 2; } } export const made = () => all;",
    ),
    ("broken", "export const x = 1; throw new RangeError('broken on purpose');"),
];
