//! Texts that are long, deep or wide.

use std::fmt::Write;
use std::time::{Duration, Instant};

use super::{shown, tools};
use crate::plan::Plan;
use crate::{Capabilities, Capability, ErrorKind};

const SIZE: usize = 256 << 10;

/// The plan of a text, which takes no longer than a plain long one may.
fn soon(source: &str) -> Plan {
    assert!(source.len() <= SIZE);
    let start = Instant::now();
    let plan = Plan::of(source, &tools()).unwrap();
    let took = start.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    plan
}

/// `unit` as often as fits between `before` and `after`.
fn filled(before: &str, unit: &str, after: &str) -> String {
    let times = (SIZE - before.len() - after.len()) / unit.len();
    format!("{before}{}{after}", unit.repeat(times))
}

#[test]
fn a_source_over_the_limit_is_refused() {
    let error = Plan::of(&" ".repeat(SIZE + 1), &tools()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SourceTooLarge);
    assert_eq!(error.to_string(), "source of 262145 bytes is more than 262144");
}

#[test]
fn long_chains() {
    for (before, unit, after) in [
        ("tools.pay(x", "+x", ")"),
        ("tools.pay(x", ".b", ")"),
        ("tools.pay(x", "?.b", ")"),
        ("tools.pay(x", "()", ")"),
        ("tools.pay(x", "``", ")"),
        ("tools.pay(x", "[0]", ")"),
        ("tools.pay(x", "||x", ")"),
        ("tools.pay(x", ",x", ")"),
        ("tools.pay(x", "&&tools", ")"),
        ("x = tools.pay(1)", ";x", ""),
    ] {
        let plan = soon(&filled(before, unit, after));
        assert_eq!(plan.refused, None, "{unit}");
        assert_eq!(plan.tools.len(), 1, "{unit}");
    }
}

#[test]
fn deep_texts() {
    for (open, middle, close) in [
        ("[", "tools.pay()", "]"),
        ("{", "tools.pay()", "}"),
        ("(", "tools.pay()", ")"),
        ("!", "tools.pay()", ""),
        ("a ? b : ", "tools.pay()", ""),
        ("await ", "tools.pay()", ""),
        ("x = ", "tools.pay()", ""),
        ("() => ", "tools.pay()", ""),
        ("function f() {", "tools.pay()", "}"),
        ("class A { x = ", "class B { x = tools.pay() }", "}"),
        ("if (x) ", "tools.pay()", ""),
        ("a: ", "tools.pay()", ""),
        ("f(", "tools.pay()", ")"),
        ("`${", "tools.pay()", "}`"),
        ("for (;;) ", "tools.pay()", ""),
    ] {
        for levels in [200, 490] {
            let source = format!("{}{middle}{}", open.repeat(levels), close.repeat(levels));
            let plan = soon(&source);
            if plan.refused.is_none() {
                assert_eq!(plan.tools.len(), 1, "{open}");
            }
            assert!(plan.refused.is_none() || levels == 490, "{open}: {:?}", plan.refused);
        }
    }
}

#[test]
fn many_names_scopes_and_aliases() {
    let mut source = String::from("const t0 = tools;");
    for number in 1..8000 {
        let _ = write!(source, "const t{number}=t{};", number - 1);
    }
    source.push_str("t7999.pay()");
    let plan = soon(&source);
    assert_eq!(shown(&plan), format!("pay! 1:{}", source.len() - 4));

    let mut reversed = String::new();
    for number in 0..4999 {
        let _ = write!(reversed, "function f{number}(){{t{number}.pay()}}");
    }
    assert_eq!(soon(&reversed).more_names, 4999 - 32);

    // Each declares a name in each of many scopes.
    let nested = format!("{}t.pay();{}", "{let t=1;".repeat(900), "}".repeat(900));
    let plan = soon(&filled(&nested, "{t.pay()}", ""));
    assert_eq!(plan.names.len(), 1);
}

#[test]
fn lists_are_bounded() {
    let plan = soon(&"tools.pay();".repeat(100));
    assert_eq!((plan.tools[0].places.len(), plan.tools[0].more_places), (16, 84));
    assert_eq!(plan.to_string(), "pay: called, line 1 and 84 more places");
    let plan = soon(&"f(tools);".repeat(100));
    assert_eq!((plan.unknown.len(), plan.more_unknown), (32, 68));
    let plan = soon(&"tools.x();".repeat(100));
    assert_eq!((plan.missing.len(), plan.more_missing), (32, 68));
    let mut source = String::new();
    for number in 0..100 {
        let _ = write!(source, "import('m{number}'); n{number};");
    }
    let plan = soon(&source);
    assert_eq!((plan.modules.len(), plan.more_modules), (32, 68));
    assert_eq!((plan.names.len(), plan.more_names), (32, 68));
    let long = "x".repeat(60_000);
    let plan = soon(&format!("tools.{long}(); {long}; import('{long}')"));
    for name in [&plan.missing[0].name, &plan.names[0].name, &plan.modules[0]] {
        assert_eq!(name.chars().count(), 201);
    }
}

#[test]
fn a_namespace_in_many_places_is_noted_once_each() {
    let many = Capabilities::new((0..5000).map(|number| Capability::external(format!("a.b{number}")))).unwrap();
    let start = Instant::now();
    let plan = Plan::of(&filled("", "f(tools.a);", ""), &many).unwrap();
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(plan.tools.len(), 5000);
    assert_eq!((plan.tools[7].places.len(), plan.tools[7].more_places), (16, SIZE / 11 - 16));
}

#[test]
fn nothing_is_reached_where_there_are_no_tools() {
    let plan = Plan::of("tools.pay()", &Capabilities::none()).unwrap();
    assert_eq!(shown(&plan), "missing 1:7 tools.pay");
}
