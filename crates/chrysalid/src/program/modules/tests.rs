#![expect(clippy::too_many_lines, reason = "a list of cases")]

use super::super::tests::{becomes, becomes_with, is_refused};

#[test]
fn default_exports_r19() {
    becomes_with(
        "export default async () => { return 5; }",
        ";       await (async () => { return 5; })();",
        &["the default export was called"],
        &[],
        None,
    );
    becomes_with(
        "export default function main() { return 1 }",
        "               function main() { return 1 };await main();",
        &["the default export was called"],
        &[],
        None,
    );
    becomes("export default { a: 1 }", ";             ({ a: 1 });");
    becomes("export default 5", ";              5;");
    becomes("const x = 3;\nexport default x\nx(5);", "const x = 3;\nconst $value = x\nx(5);;$value;");
    becomes("export default async (q) => q", ";             (async (q) => q);");
    becomes("export default class A {}", "               class A {};A;");
    becomes("export default class {}", ";             (class {});");
    becomes(
        "export default function main(a) { return a }\nmain(1)",
        "               function main(a) { return a }\nmain(1);main;",
    );
    becomes_with(
        "const main = async () => 5;\nexport default main;",
        "const main = async () => 5;\n;       await (main)();",
        &["the default export was called"],
        &[],
        None,
    );
    becomes("export default (a, b) => a + b;", ";              (a, b) => a + b;");
    becomes_with(
        "export default async function () { return 1 }\nconst helper = 1;",
        ";       await (async function () { return 1 })();\nconst helper = 1;",
        &["the default export was called"],
        &[],
        None,
    );
    becomes("export default function* () {}", ";             (function* () {});");
    becomes("export default \"x\"; 5", "const $value = \"x\"; 5;$value;");
    becomes("let a = 1\nexport default [a]", "let a = 1\n;              [a];");
    becomes_with(
        "import x from \"a\"\nexport default function () { return x }",
        "const {default: x} = await $import(\"a\");\n;       await (function () { return x })();",
        &["the default export was called"],
        &["a"],
        None,
    );
}

#[test]
fn default_exports_that_are_used_are_not_called() {
    becomes("export default function main() {}\nmain()", "               function main() {}\nmain();main;");
    becomes(
        "const main = async () => 5;\ngo(main);\nexport default main",
        "const main = async () => 5;\ngo(main);\n;              main;",
    );
    becomes_with(
        "function main() { return main }\nexport { main };\nexport default main",
        "function main() { return main }\n                \n;       await (main)();",
        &["the default export was called"],
        &[],
        None,
    );
}

#[test]
fn default_exports_by_name() {
    becomes("const x = 1;\nexport { x as default };\nx + 1", "const x = 1;\n                        \nx + 1;x;");
    becomes_with(
        "const main = async () => main;\nexport { main as default }",
        "const main = async () => main;;await main();\n                          ",
        &["the default export was called"],
        &[],
        None,
    );
}

#[test]
fn a_name_of_the_program_is_not_taken() {
    becomes("const $value = 1;\nexport default 5; $value", "const $value = 1;\nconst $value_ = 5; $value;$value_;");
    becomes("$value_ = 1;\nexport default 5; $value", "$value_ = 1;\nconst $value__ = 5; $value;$value__;");
}

#[test]
fn imports_become_declarations() {
    becomes_with(
        "import d, {a as b, type T, c} from \"m\"; import * as ns from 'n'\nimport \"z\" with {type: \"json\"}\nb; d; c",
        "const {default: d, a: b, c} = await $import(\"m\");                        \nawait $import(\"z\");\nb; d; c",
        &[],
        &["m", "z"],
        Some("c"),
    );
    becomes_with(
        "import type {A} from \"x\"; import {B} from \"y\"; const b: B = 1; b",
        "                                               const b    = 1; b",
        &[],
        &[],
        Some("b"),
    );
    becomes_with(
        "foo(); import {a} from \"m\"; a",
        "foo(); const {a} = await $import(\"m\"); a",
        &[],
        &["m"],
        Some("a"),
    );
    is_refused("a; import {a} from \"m\";", "`a` is used before its import", Some("put the imports first"), (1, 4));
    becomes_with(
        "import def, * as ns from \"m\";\ndef(ns)",
        "const ns = await $import(\"m\"), {default: def} = ns;\ndef(ns)",
        &[],
        &["m"],
        None,
    );
    becomes_with(
        "import {\n  a,\n  b as c,\n} from \"m\"; a(c)",
        "const {a, b: c} = await $import(\"m\");\n\n\n a(c)",
        &[],
        &["m"],
        None,
    );
    is_refused(
        "import {} from \"m\"; import source x from \"y\"; import defer * as q from \"z\"",
        "import phases are not supported",
        Some("write `import … from \"…\"`"),
        (1, 21),
    );
    becomes_with(
        "import { A } from \"./a\"; import { B, type C } from \"./b\"; import D from \"d\"; let a: A & C & D = B",
        "                         const {B} = await $import(\"./b\");                    let a            = B",
        &[],
        &["./b"],
        None,
    );
    becomes_with(
        "import {slug} from \"@/skills/text.js\";\nslug(\"Hello World\")",
        "const {slug} = await $import(\"@/skills/text.js\");\nslug(\"Hello World\")",
        &[],
        &["@/skills/text.js"],
        None,
    );
    is_refused(
        "function f() { return a }\nimport { a } from \"m\"; f()",
        "`a` is used before its import",
        Some("put the imports first"),
        (2, 1),
    );
    becomes_with(
        "import a from \"m\"; import b from \"m\"; import c from \"n\"; a(b, c)",
        "const {default: a} = await $import(\"m\"); const {default: b} = await $import(\"m\"); const {default: c} = await $import(\"n\"); a(b, c)",
        &[],
        &["m", "n"],
        None,
    );
    becomes_with(
        "export { x as y } from \"m\"; export * as z from \"n\"; 1",
        "                                                    1",
        &[],
        &["m", "n"],
        None,
    );
    becomes_with(
        "import fs from \"fs\"; fs.readFileSync(\"x\")",
        "const {default: fs} = await $import(\"fs\"); fs.readFileSync(\"x\")",
        &[],
        &["fs"],
        None,
    );
    becomes_with(
        "import json from \"./d.json\" with { type: \"json\" }; json",
        "const {default: json} = await $import(\"./d.json\"); json",
        &[],
        &["./d.json"],
        Some("json"),
    );
}

#[test]
fn exports_are_blanked() {
    becomes_with(
        "export const a = 1, b = 2; export {a, b}; export * from \"q\"; export {z} from 'r'",
        "       const a = 1, b = 2;                                                      ",
        &[],
        &["q", "r"],
        None,
    );
    becomes(
        "export interface A {}\nexport type B = A; export declare const c: number; export abstract class D { abstract x(): void }\nexport type { A } from \"a\"; export type * from \"b\"; export { type A as Q, D as E }; export default interface I {}",
        "                     \n                                                                   class D {                    }\n                                                                                                                 ",
    );
}

#[test]
fn import_calls_are_renamed() {
    is_refused(
        "const m = await import(\"x\", {with: {type: \"json\"}}); import.meta.url",
        "`import.meta` is not available",
        Some("a program has no address and no file"),
        (1, 54),
    );
    becomes_with(
        "const m = await import(\"x\", {with: {type: \"json\"}}); m",
        "const m = await $import(\"x\"                        ); m",
        &[],
        &[],
        Some("m"),
    );
    is_refused(
        "const $import = 1",
        "the name `$import` is taken",
        Some("use another name, or `import(…)` to load a module"),
        (1, 7),
    );
    becomes(
        "const f = () => import(\"./x\"); f().then(m => m.import(\"y\")); const s = \"import('z')\"",
        "const f = () => $import(\"./x\"); f().then(m => m.import(\"y\")); const s = \"import('z')\"",
    );
    is_refused(
        "function $import() {}",
        "the name `$import` is taken",
        Some("use another name, or `import(…)` to load a module"),
        (1, 10),
    );
    is_refused("import.meta", "`import.meta` is not available", Some("a program has no address and no file"), (1, 1));
    becomes("import(\"a\", )", "$import(\"a\", )");
    is_refused(
        "$import(\"x\")",
        "the name `$import` is taken",
        Some("use another name, or `import(…)` to load a module"),
        (1, 1),
    );
    is_refused("import.source(\"x\")", "import phases are not supported", Some("write `import(…)`"), (1, 1));
    becomes(
        "const o = { import: 1, $import: 2 }; o.import(o.$import)",
        "const o = { import: 1, $import: 2 }; o.import(o.$import)",
    );
    becomes("new (await import(\"x\")).A", "new (await $import(\"x\")).A");
}
