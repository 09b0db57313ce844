mod cases;
mod edits;
mod guest;
mod hostile;

use super::plan;
use crate::plan::{Plan, PlanPlace, PlanUsage};
use crate::{Capabilities, Capability};

pub(super) fn tools() -> Capabilities {
    let names = ["pay", "list", "get-user", "mail.send", "mail.read", "mail.box.drop", "then", "10"];
    Capabilities::new(names.map(Capability::external)).unwrap()
}

fn place(place: PlanPlace) -> String {
    format!("{}:{}", place.line, place.column)
}

/// All of a plan in one line, places with columns.
pub(super) fn shown(plan: &Plan) -> String {
    let mut parts = Vec::new();
    for tool in &plan.tools {
        let places: Vec<String> = tool.places.iter().copied().map(place).collect();
        let call = if tool.usage == PlanUsage::Called { "!" } else { "" };
        let more = if tool.more_places == 0 { String::new() } else { format!(" +{}", tool.more_places) };
        parts.push(format!("{}{call} {}{more}", tool.name, places.join(" ")));
    }
    parts.extend(plan.unknown.iter().map(|it| format!("unknown {} {}", place(it.place), it.reason)));
    parts.extend(plan.missing.iter().map(|it| format!("missing {} {}", place(it.place), it.name)));
    parts.extend(plan.modules.iter().map(|it| format!("module {it}")));
    parts.extend(plan.names.iter().map(|it| format!("name {} {}", place(it.place), it.name)));
    parts.extend(plan.refused.iter().map(|it| format!("refused {}", it.reason)));
    for (what, more) in [
        ("unknown", plan.more_unknown),
        ("missing", plan.more_missing),
        ("modules", plan.more_modules),
        ("names", plan.more_names),
    ] {
        if more > 0 {
            parts.push(format!("+{more} {what}"));
        }
    }
    parts.join("; ")
}

fn hold(cases: &[(&str, &str)]) {
    let tools = tools();
    let differing: Vec<String> = cases
        .iter()
        .map(|(source, expected)| (source, shown(&plan(source, &tools)), expected))
        .filter(|(_, found, expected)| found != *expected)
        .map(|(source, found, expected)| format!("{source:?}\n   is {found}\n  not {expected}"))
        .collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn members() {
    hold(cases::MEMBERS);
}

#[test]
fn aliases() {
    hold(cases::ALIASES);
}

#[test]
fn shadows() {
    hold(cases::SHADOWS);
}

#[test]
fn what_is_unknown() {
    hold(cases::UNKNOWN);
}

#[test]
fn what_is_not_there() {
    hold(cases::REST);
}

#[test]
fn in_words() {
    let source = "tools.getUser();\nf(tools);\ntools.pya();\nimport(\"m\");\nxs.map(tools.pay);\ntools.pay(1)";
    let plan = plan(source, &tools());
    assert_eq!(
        plan.to_string(),
        "get-user as tools.getUser: called, line 1\n\
         pay: called, lines 5, 6\n\
         unknown: `tools` is used as a value, line 2\n\
         missing: tools.pya, line 3\n\
         module, not looked at: m\n\
         declared elsewhere: f, line 2\n\
         declared elsewhere: xs, line 5"
    );
    assert!(!plan.is_complete());
    assert!(plan.reaches("pay") && plan.reaches("list") && plan.tool("list").is_none());
    assert_eq!(super::plan("", &tools()).to_string(), "no tools");
    assert_eq!(
        super::plan("f(", &tools()).to_string(),
        "does not run: expected `)` but the program ends; `(` was opened at 1:2, line 1"
    );
}

#[test]
fn as_json() {
    let plan = plan("tools.getUser(tools)", &tools());
    let json = serde_json::to_value(&plan).unwrap();
    assert_eq!(
        json["tools"],
        serde_json::json!([{
            "name": "get-user",
            "path": "tools.getUser",
            "usage": "called",
            "places": [{ "line": 1, "column": 7 }],
            "more_places": 0,
        }])
    );
    assert_eq!(
        json["unknown"],
        serde_json::json!([{ "reason": "`tools` is used as a value", "place": { "line": 1, "column": 15 } }])
    );
}
