//! The guest's contract: what the header says is what crosses, and what the module may and does not hold.

use std::collections::BTreeMap;

use chrysalid::{PendingCall, Value};
use sha2::{Digest, Sha256};
use wasmparser::{ExternalKind, Operator, Parser, Payload, TypeRef};

use crate::support::{ENGINE, World};

/// The numbers of guest/abi.h by name.
fn header() -> BTreeMap<String, u8> {
    include_str!("../../../guest/abi.h")
        .lines()
        .filter_map(|line| line.strip_prefix("#define ")?.split_once(' '))
        .filter_map(|(name, rest)| {
            let value = rest.split("/*").next()?.trim();
            let number = match value.strip_prefix("0x") {
                Some(hex) => u8::from_str_radix(hex, 16).ok()?,
                None => value.parse().ok()?,
            };
            Some((name.to_owned(), number))
        })
        .collect()
}

/// The digest that an approval of this argument carries: over its encoding, which the guest wrote and the host read and
/// wrote again.
fn digest(argument: &str) -> [u8; 32] {
    asked(argument).digest
}

fn asked(argument: &str) -> PendingCall {
    let world = World::new();
    let mut session = world.session();
    world.run(&mut session, &format!("await tools.gate({argument})")).paused().pending.remove(0)
}

#[test]
fn every_tag_of_the_header_is_the_one_that_crosses() {
    let header = header();
    let tag = |name: &str| header[&format!("TAG_{name}")];
    let has = |name: &str| header[&format!("ERROR_HAS_{name}")];
    // In a list of one, so that undefined and null are not taken for a missing argument.
    let mut cases: BTreeMap<&str, (&str, Vec<u8>)> = BTreeMap::new();
    let mut case = |name, source, rest: &[u8]| {
        cases.insert(name, (source, [&[tag(name)], rest].concat()));
    };
    case("UNDEFINED", "undefined", &[]);
    case("NULL", "null", &[]);
    case("FALSE", "false", &[]);
    case("TRUE", "true", &[]);
    case("INT", "-3", &[5]);
    case("NUMBER", "0.5", &0.5f64.to_le_bytes());
    case("BIGINT", "-255n", &[1, 2, b'f', b'f']);
    case("STRING", "'é'", &[2, 0xc3, 0xa9]);
    case("ARRAY_BUFFER", "new Uint8Array([1, 2]).buffer", &[2, 1, 2]);
    case("TYPED_ARRAY", "new Uint16Array([1])", &[4, 2, 1, 0]);
    case("DATE", "new Date(1)", &1f64.to_le_bytes());
    case("REGEXP", "/a/g", &[1, b'a', 1, b'g']);
    case("ARRAY", "[]", &[0]);
    case("HOLE", "", &[]);
    case("OBJECT", "{ a: null }", &[1, 1, b'a', tag("NULL")]);
    case("MAP", "new Map([[1, 2]])", &[1, tag("INT"), 2, tag("INT"), 4]);
    case("SET", "new Set([1])", &[1, tag("INT"), 2]);
    for (name, (source, bytes)) in &cases {
        let list = if *name == "HOLE" { "[,]".to_owned() } else { format!("[{source}]") };
        let expected = [&[tag("ARRAY"), 1], &bytes[..]].concat();
        assert_eq!(digest(&list), <[u8; 32]>::from(Sha256::digest(&expected)), "TAG_{name}");
    }
    let call = asked("[Object.assign(new AggregateError([true], 'm', { cause: null }), { name: 'E' })]");
    let Value::Error(error) = &call.argument.as_array().unwrap()[0] else { panic!() };
    let stack = error.stack.as_deref().unwrap();
    let flags = has("STACK") | has("CAUSE") | has("ERRORS");
    let error = [
        &[tag("ARRAY"), 1, tag("ERROR"), 1, b'E', 1, b'm', flags, u8::try_from(stack.len()).unwrap()],
        stack.as_bytes(),
        &[tag("NULL"), 1, tag("TRUE")],
    ];
    assert_eq!(call.digest, <[u8; 32]>::from(Sha256::digest(error.concat())), "TAG_ERROR");
    let shared = [tag("ARRAY"), 2, tag("ARRAY"), 0, tag("REF"), 1];
    assert_eq!(
        digest("(() => { const a = []; return [a, a] })()"),
        <[u8; 32]>::from(Sha256::digest(shared)),
        "TAG_REF"
    );
    let value = crate::support::eval(&mut crate::support::session(), "() => 1");
    assert_eq!(value, Value::Description("[Function (anonymous)]".into()), "TAG_DESCRIPTION crosses in results only");

    let value = crate::support::eval(&mut crate::support::session(), "new (class Point { x = 1 })()");
    assert_eq!(value.to_string(), "Point { x: 1 }", "TAG_INSTANCE crosses in results only");
    let source = "[Object.assign(new Error('m'), { code: 5 })]";
    let value = crate::support::eval(&mut crate::support::session(), source);
    let Value::Error(error) = &value.as_array().unwrap()[0] else { panic!() };
    assert_eq!(error.details.as_deref(), Some("{ code: 5 }"), "ERROR_HAS_DETAILS crosses in results only");

    let mut named: Vec<String> = cases.keys().map(|name| format!("TAG_{name}")).collect();
    named.extend(["TAG_ERROR", "TAG_REF", "TAG_DESCRIPTION", "TAG_INSTANCE", "TAG_HANDLE"].map(String::from));
    named.extend(["ERROR_HAS_STACK", "ERROR_HAS_CAUSE", "ERROR_HAS_ERRORS", "ERROR_HAS_DETAILS"].map(String::from));
    named.sort_unstable();
    let known: Vec<_> =
        header.into_keys().filter(|name| name.starts_with("TAG_") || name.starts_with("ERROR_HAS_")).collect();
    assert_eq!(named, known, "each tag of the header has a case here");
}

#[test]
fn the_guest_imports_four_functions_and_nothing_else() {
    let mut imports = Vec::new();
    for payload in Parser::new(0).parse_all(ENGINE.guest()) {
        if let Payload::ImportSection(section) = payload.unwrap() {
            for import in section.into_imports() {
                let import = import.unwrap();
                assert!(matches!(import.ty, TypeRef::Func(_)), "{import:?}");
                imports.push(format!("{}.{}", import.module, import.name));
            }
        }
    }
    imports.sort_unstable();
    assert_eq!(imports, ["chrysalid.call", "chrysalid.log", "chrysalid.now", "chrysalid.random"]);
}

#[test]
fn linear_memory_is_all_the_state_of_the_guest() {
    let mut mutable = Vec::new();
    let mut exports = BTreeMap::new();
    let mut globals = Vec::new();
    for payload in Parser::new(0).parse_all(ENGINE.guest()) {
        match payload.unwrap() {
            Payload::GlobalSection(section) => globals = section.into_iter().map(|global| global.unwrap().ty).collect(),
            Payload::TableSection(section) => {
                for table in section {
                    let table = table.unwrap().ty;
                    assert_eq!(table.maximum, Some(table.initial), "a table that may grow");
                }
            }
            Payload::MemorySection(section) => {
                let memories: Vec<_> = section.into_iter().map(Result::unwrap).collect();
                assert_eq!(memories.len(), 1);
                assert!(!memories[0].shared && !memories[0].memory64);
            }
            Payload::ExportSection(section) => {
                for export in section {
                    let export = export.unwrap();
                    exports.insert(export.name.to_owned(), (export.kind, export.index));
                }
            }
            Payload::CodeSectionEntry(body) => {
                for operator in body.get_operators_reader().unwrap() {
                    let operator = operator.unwrap();
                    assert!(
                        !matches!(operator, Operator::TableGrow { .. } | Operator::TableSet { .. }),
                        "{operator:?}"
                    );
                }
            }
            Payload::StartSection { .. } => panic!("a start function"),
            _ => {}
        }
    }
    for (index, global) in globals.iter().enumerate() {
        if global.mutable {
            mutable.push(index);
        }
    }
    let (kind, index) = exports["__stack_pointer"];
    assert_eq!(kind, ExternalKind::Global);
    assert_eq!(mutable, [usize::try_from(index).unwrap()], "only the stack pointer changes outside of memory");
}

#[test]
fn the_module_exports_what_the_header_lists() {
    let listed: Vec<String> = include_str!("../../../guest/abi.h")
        .lines()
        .filter_map(|line| line.strip_prefix("#define ABI_EXPORT_")?.split('"').nth(1).map(str::to_owned))
        .collect();
    let mut exported = Vec::new();
    for payload in Parser::new(0).parse_all(ENGINE.guest()) {
        if let Payload::ExportSection(section) = payload.unwrap() {
            exported.extend(section.into_iter().map(|export| export.unwrap().name.to_owned()));
        }
    }
    let extra: Vec<_> = exported.iter().filter(|name| !listed.contains(name) && *name != "_initialize").collect();
    assert!(extra.is_empty(), "exports that the header does not know: {extra:?}");
    for name in &listed {
        assert!(exported.contains(name), "{name} is listed and not exported");
    }
}
