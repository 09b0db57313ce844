//! Order, size, search and near names.

use serde_json::json;

use super::{described, full, tool};
use crate::catalogue::{Catalogue, CatalogueBudget, InterpreterOptions, Lifetime, Tool, interpreter_description};
use crate::limits::Limits;

fn twenty() -> Vec<Tool> {
    let shared = json!({"$defs": {"Row": {"type": "object", "properties": {"id": {"type": "string"}}}}, "properties": {"row": {"$ref": "#/$defs/Row"}}});
    (0..20).map(|n| Tool { description: format!("Tool {n}."), ..tool(&format!("t{n}"), shared.clone()) }).collect()
}

#[test]
fn t12_the_text_does_not_depend_on_the_order() {
    let forward = full(twenty());
    let backward = full(twenty().into_iter().rev().collect());
    assert_eq!(forward, backward);
    assert_eq!(forward, full(twenty()));
}

#[test]
fn t12_a_tool_that_is_added_changes_no_other_line() {
    let before = full(twenty());
    let conflicting = json!({"$defs": {"Row": {"type": "object", "properties": {"n": {"type": "number"}}}}, "properties": {"row": {"$ref": "#/$defs/Row"}}});
    let after = full(twenty().into_iter().chain([tool("zz", conflicting), described("a.b", "Other.")]).collect());
    let mut rest = after.lines();
    for line in before.lines() {
        assert!(rest.any(|other| other == line), "{line:?} is not in its place in\n{after}");
    }
}

#[test]
fn t15_two_hundred_tools_are_listed() {
    let tools = |count: usize| {
        Catalogue::new((0..count).map(|n| described(&format!("invoice{n:03}"), "Finds it. Slow.")).collect()).unwrap()
    };
    let budget = CatalogueBudget { characters: usize::MAX, list_characters: usize::MAX, ..CatalogueBudget::default() };
    assert!(tools(200).text(&budget).starts_with("declare const tools: {\n  /** Finds it. Slow. */\n  invoice000("));
    let list = tools(201).text(&budget);
    let head = "There are 201 tools, too many to show in full. Find some with `await tools.$search({ query: \"words\", limit: 5 })`, \
                which gives `[{ name, call, summary }]`. Read the types of one with `await tools.$describe({ name })` before \
                you call it.\n\ntools.invoice000 — Finds it.\ntools.invoice001 — Finds it.\n";
    assert_eq!(list.get(..head.len()), Some(head));
    assert_eq!(list.lines().count(), 203);
    assert!(tools(10_000).text(&CatalogueBudget::default()).chars().count() < 8_400);
}

#[test]
fn a_long_text_is_a_list_too() {
    let catalogue = Catalogue::new(twenty()).unwrap();
    let budget = |characters| CatalogueBudget { characters, ..CatalogueBudget::default() };
    let length = full(twenty()).chars().count();
    assert!(catalogue.text(&budget(length)).starts_with("interface Row"));
    assert!(catalogue.text(&budget(length - 1)).starts_with("There are 20 tools"));
}

fn office() -> Catalogue {
    Catalogue::new(vec![
        described("find_invoice", "Finds invoices by number."),
        described("pay", "Pays an invoice. Asks first."),
        described("get-user", "Reads a user."),
        described("searchDocs", "Searches documents."),
        described("searchWeb", "Searches the web."),
        described("budget.read", ""),
        described("then", ""),
    ])
    .unwrap()
}

#[test]
fn t15_search_finds_by_name_before_description() {
    let office = office();
    let names = |query, limit| office.search(query, limit).into_iter().map(|hit| hit.name).collect::<Vec<_>>();
    assert_eq!(names("Invoice", 3), ["find_invoice", "pay"]);
    assert_eq!(names("invoice", 1), ["find_invoice"]);
    assert_eq!(names("invoice", 0), ["find_invoice"]);
    assert_eq!(names("search", 20), ["searchDocs", "searchWeb"]);
    assert_eq!(names("web search", 20), ["searchWeb", "searchDocs"]);
    assert_eq!(names("serchDocs", 5), ["searchDocs"]);
    assert_eq!(names("", 5), [""; 0]);
    let hit = office.search("user", 5).remove(0);
    assert_eq!(
        (hit.name.as_str(), hit.call.as_str(), hit.summary.as_str()),
        ("get-user", "tools.getUser", "Reads a user.")
    );
}

#[test]
fn describe_shows_one_tool_with_its_types() {
    let office = office();
    let user = "declare const tools: {\n  /**\n   * Reads a user.\n   * Its name is \"get-user\".\n   */\n  \
                getUser(input?: unknown): Promise<unknown>;\n};\n";
    for name in ["get-user", "getUser", "tools.getUser"] {
        assert_eq!(office.describe(name).as_deref(), Some(user), "{name}");
    }
    assert_eq!(
        office.describe("budget.read").unwrap(),
        "declare const tools: {\n  budget: {\n    read(input?: unknown): Promise<unknown>;\n  };\n};\n"
    );
    assert_eq!(office.describe("budget"), None);
    let with = |name: &str, of: &str| {
        tool(name, json!({"$defs": {"X": {"type": of}}, "properties": {"x": {"$ref": "#/$defs/X"}}}))
    };
    let both = Catalogue::new(vec![with("a", "string"), with("b", "number")]).unwrap();
    assert_eq!(
        both.describe("a").unwrap(),
        "type X = string;\n\ndeclare const tools: {\n  a(input?: { x?: X }): Promise<unknown>;\n};\n"
    );
}

#[test]
fn aliases_and_paths() {
    let office = office();
    assert_eq!(office.aliases().collect::<Vec<_>>(), [("getUser", "get-user"), ("then_", "then")]);
    let paths: Vec<(&str, &str)> = office.paths().collect();
    assert_eq!(paths.len(), 8);
    assert!(!paths.contains(&("then", "then")));
    assert!(paths.contains(&("get-user", "get-user")));
}

#[test]
fn a10_t18_unknown_tools() {
    let office = office();
    assert_eq!(office.unknown_tool("serchWeb"), "tools.serchWeb does not exist. Did you mean tools.searchWeb?");
    for name in ["search_docs", "searchDoc", "SearchDocs"] {
        assert_eq!(office.near(name).first(), Some(&"searchDocs"), "{name}");
    }
    assert_eq!(office.unknown_tool("get_user"), "tools.get_user does not exist. Did you mean tools.getUser?");
    assert_eq!(office.unknown_tool("read"), "tools.read does not exist. Did you mean tools.budget.read?");
    assert_eq!(office.unknown_tool("qqqq"), "tools.qqqq does not exist.");
    assert_eq!(
        office.unknown_tool("search"),
        "tools.search does not exist. Did you mean tools.searchWeb or tools.searchDocs?"
    );
}

#[test]
fn the_description_of_the_interpreter() {
    let none = Catalogue::new(Vec::new()).unwrap();
    let mut options = InterpreterOptions::default();
    let text = interpreter_description(&none, &Limits::default(), &options);
    assert!(text.chars().count() < 1_500, "{}", text.chars().count());
    options.lifetime = Lifetime::Program;
    options.function = "run_code".to_owned();
    options.modules = vec!["dates".to_owned(), "csv\"".to_owned()];
    let one = Catalogue::new(vec![described("ping", "Answers.")]).unwrap();
    let other = interpreter_description(&one, &Limits::default(), &options);
    insta::with_settings!({snapshot_path => "../snapshots", prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("interpreter", text);
        insta::assert_snapshot!("interpreter_fresh", other);
    });
}
