use serde_json::{Value as Json, json};

use super::{UnknownField, complaint, unknown_fields};

fn told(schema: &Json, argument: &Json) -> Option<String> {
    complaint("t", schema, argument).map(|text| text.strip_prefix("t: ").unwrap().to_owned())
}

fn of_field(schema: &Json, value: &Json) -> String {
    told(&json!({"type": "object", "properties": {"x": schema}}), &json!({"x": value})).unwrap_or_default()
}

#[test]
fn a09_missing_and_misspelt() {
    let pay = json!({"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]});
    assert_eq!(
        complaint("pay", &pay, &json!({"amt": 1})).as_deref(),
        Some("pay: missing \"amount\" (number); unknown \"amt\" (did you mean \"amount\"?)")
    );
    assert_eq!(
        complaint("pay", &pay, &json!({"amount": "5"})).as_deref(),
        Some("pay: \"amount\" must be a number, got a string")
    );
    assert_eq!(
        complaint("pay", &pay, &json!([])).as_deref(),
        Some("pay: the argument must be an object, got an array")
    );
    assert_eq!(complaint("pay", &pay, &json!({"amount": 5})), None);
}

#[test]
fn t16_an_unknown_field_alone() {
    let search = json!({
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["query"],
    });
    let argument = json!({"query": "a", "limt": 3});
    assert_eq!(
        complaint("searchDocs", &search, &argument).as_deref(),
        Some("searchDocs: unknown field \"limt\" (did you mean \"limit\"?)")
    );
    assert_eq!(
        unknown_fields(&search, &argument),
        [UnknownField { path: "limt".to_owned(), near: Some("limit".to_owned()) }]
    );
    assert_eq!(
        told(&search, &json!({"query": "a", "zzz": 3})).as_deref(),
        Some("unknown field \"zzz\" (known: \"query\", \"limit\")")
    );
}

#[test]
fn fields_are_unknown_only_where_all_are_listed_in_one_place() {
    let unknown = |schema: Json| {
        let argument = json!({"a": {"x": 1, "y": 1}, "b": 1});
        unknown_fields(&schema, &argument).into_iter().map(|field| field.path).collect::<Vec<_>>()
    };
    let a = json!({"properties": {"x": {}}});
    assert_eq!(unknown(json!({"properties": {"a": a}})), ["b", "a.y"]);
    assert_eq!(unknown(json!({"properties": {"a": a}, "additionalProperties": true})), ["a.y"]);
    assert_eq!(unknown(json!({"properties": {"a": {"$ref": "#/$defs/A"}, "b": {}}, "$defs": {"A": a}})), ["a.y"]);
    assert_eq!(
        unknown(
            json!({"properties": {"a": {"$ref": "#/$defs/A", "properties": {"y": {}}}, "b": {}}, "$defs": {"A": a}})
        ),
        [""; 0]
    );
    for opening in [
        json!({"allOf": [{"properties": {"a": {"properties": {"y": {}}}, "b": {}}}]}),
        json!({"anyOf": [{}]}),
        json!({"oneOf": [{}]}),
        json!({"if": {}, "then": {}}),
        json!({"$ref": "#/$defs/A"}),
        json!({"patternProperties": {"^b$": {}}}),
        json!({"unevaluatedProperties": false}),
    ] {
        let mut schema = json!({"properties": {"a": a}, "$defs": {"A": {}}});
        schema.as_object_mut().unwrap().extend(opening.as_object().unwrap().clone());
        assert_eq!(unknown(schema), [""; 0], "{opening}");
    }
    assert_eq!(unknown(json!({"type": "object"})), [""; 0]);
    assert_eq!(unknown(json!({"properties": {}})), ["a", "b"]);
}

#[test]
fn kinds() {
    assert_eq!(of_field(&json!({"type": "integer"}), &json!(1.5)), "\"x\" must be an integer, got a fraction");
    assert_eq!(of_field(&json!({"type": "integer"}), &json!(1.0)), "");
    assert_eq!(
        of_field(&json!({"type": ["string", "null"]}), &json!(1)),
        "\"x\" must be a string or null, got a number"
    );
    assert_eq!(of_field(&json!({"type": "array"}), &Json::Null), "\"x\" must be an array, got null");
    assert_eq!(of_field(&json!({"type": "string", "nullable": true}), &Json::Null), "");
    assert_eq!(of_field(&json!({"enum": ["a", "b"]}), &json!("c")), "\"x\" must be one of \"a\", \"b\"");
    assert_eq!(of_field(&json!({"const": 1}), &json!(2)), "\"x\" must be 1");
    assert_eq!(of_field(&json!({"const": 1}), &json!(1.0)), "");
    assert_eq!(of_field(&json!(false), &json!(1)), "\"x\" is not allowed");
    let many: Vec<u32> = (0..20).collect();
    assert_eq!(
        of_field(&json!({"enum": many}), &json!("c")),
        "\"x\" must be one of 0, 1, 2, 3, 4, 5, 6, 7, and 12 more"
    );
}

#[test]
fn bounds() {
    assert_eq!(of_field(&json!({"minimum": 1}), &json!(0)), "\"x\" must be at least 1, got 0");
    assert_eq!(of_field(&json!({"exclusiveMaximum": 1}), &json!(1.0)), "\"x\" must be less than 1, got 1.0");
    assert_eq!(
        of_field(&json!({"maximum": 9_007_199_254_740_992_u64}), &json!(9_007_199_254_740_993_u64)),
        "\"x\" must be at most 9007199254740992, got 9007199254740993"
    );
    assert_eq!(of_field(&json!({"multipleOf": 5}), &json!(7)), "\"x\" must be a multiple of 5, got 7");
    assert_eq!(of_field(&json!({"minLength": 1}), &json!("")), "\"x\" must have at least 1 character, got 0");
    assert_eq!(of_field(&json!({"maxLength": 2}), &json!("äöü")), "\"x\" must have at most 2 characters, got 3");
    assert_eq!(of_field(&json!({"minItems": 2}), &json!([1])), "\"x\" must have at least 2 items, got 1");
    assert_eq!(of_field(&json!({"minProperties": 1}), &json!({})), "\"x\" must have at least 1 field, got 0");
}

#[test]
fn what_cannot_be_decided_is_told_when_nothing_else_is_wrong() {
    let schema = json!({"pattern": "^[a-z]+$", "format": "email", "maxLength": 3});
    assert_eq!(of_field(&schema, &json!("a1")), "\"x\" must match \"^[a-z]+$\"; \"x\" must have the format \"email\"");
    assert_eq!(of_field(&schema, &json!("a123")), "\"x\" must have at most 3 characters, got 4");
}

#[test]
fn paths() {
    let row = json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]});
    let schema = json!({"properties": {
        "rows": {"type": "array", "items": row},
        "filter": {"properties": {"from": {"type": "string"}}},
        "pair": {"prefixItems": [{"type": "string"}, {"type": "number"}], "items": false},
    }});
    assert_eq!(
        told(&schema, &json!({"rows": [{"id": 1}, {"id": "a"}, {"idd": 1}], "filter": {"frm": 1}, "pair": [1, 2, 3]}))
            .unwrap(),
        "\"rows[1].id\" must be an integer, got a string; missing \"rows[2].id\" (integer); \
         unknown \"rows[2].idd\" (did you mean \"rows[2].id\"?); unknown \"filter.frm\" (did you mean \"filter.from\"?); \
         \"pair\" must have 2 items at most, got 3; and 1 more"
    );
}

#[test]
fn names_are_escaped_and_cut() {
    let schema = json!({"properties": {"x": {}}});
    let name = format!("a\n\u{202e}\"{}", "b".repeat(100));
    assert_eq!(
        told(&schema, &json!({(name): 1})).unwrap(),
        format!("unknown field \"a\\n\\u202e\\\"{}…\" (known: \"x\")", "b".repeat(36))
    );
}

#[test]
fn alternatives() {
    let optional = json!({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]});
    assert_eq!(of_field(&optional, &json!("a")), "\"x\" must be an integer or null, got a string");
    assert_eq!(of_field(&optional, &json!(0)), "\"x\" must be at least 1, got 0");
    assert_eq!(of_field(&optional, &Json::Null), "");

    let shape = json!({"oneOf": [
        {"properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
        {"properties": {"kind": {"const": "square"}, "a": {"type": "number"}}, "required": ["kind", "a"]},
    ]});
    assert_eq!(of_field(&shape, &json!({"kind": "circle"})), "missing \"x.r\" (number)");
    assert_eq!(of_field(&shape, &json!({"kind": "oval"})), "\"x.kind\" must be one of \"circle\", \"square\"");

    let either = json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
    assert_eq!(told(&either, &json!({})).unwrap(), "missing \"a\" or \"b\"");

    let all = json!({"allOf": [{"required": ["a"]}, {"properties": {"b": {"type": "string"}}}]});
    assert_eq!(
        told(&all, &json!({"b": 1})).unwrap(),
        "missing \"a\" (any value); \"b\" must be a string, got a number"
    );

    let both = json!({"oneOf": [{"type": "number"}, {"type": "integer"}]});
    assert_eq!(of_field(&both, &json!(1)), "\"x\" must fit only one of 2 forms");

    let vague = json!({"anyOf": [{"minLength": 5}, {"minLength": 9}]});
    assert_eq!(of_field(&vague, &json!("a")), "\"x\" does not fit any of 2 forms");
}

#[test]
fn one_more_thing_is_needed() {
    let schema = json!({"dependentRequired": {"card": ["address"]}});
    assert_eq!(told(&schema, &json!({"card": 1})).unwrap(), "missing \"address\" (needed with \"card\")");
}

#[test]
fn messages_are_short_whatever_is_wrong() {
    let names: Vec<String> = (0..50).map(|n| format!("{n}{}", "é*/".repeat(200))).collect();
    let properties: serde_json::Map<String, Json> =
        names.iter().map(|name| (name.clone(), json!({"enum": names}))).collect();
    let schema = json!({"properties": properties, "required": names});
    let argument: Json =
        names.iter().map(|name| (format!("q{name}"), json!(1))).collect::<serde_json::Map<_, _>>().into();
    let message = complaint(&"t".repeat(300), &schema, &argument).unwrap();
    assert!(message.chars().count() <= 500, "{}", message.chars().count());
    assert!(message.ends_with("; and 99 more"), "{message}");
}

#[test]
fn circles_end() {
    let circle = json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}});
    assert_eq!(told(&circle, &json!({"x": 1})), None);
    let branch = json!({"properties": {"x": {"$ref": "#"}}, "required": ["z"]});
    let doubling = json!({"anyOf": [branch, branch]});
    let deep = (0..500).fold(json!(1), |inner, _| json!({"x": inner}));
    let begun = std::time::Instant::now();
    let _ = told(&doubling, &deep);
    let _ = unknown_fields(&doubling, &deep);
    assert!(begun.elapsed() < std::time::Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[test]
fn looking_for_near_names_is_bounded() {
    let names: serde_json::Map<String, Json> =
        (0..10_000).map(|n| (format!("some long name of a field {n}"), json!({}))).collect();
    let schema = json!({"type": "array", "items": {"properties": names}});
    let row: Json = (0..100)
        .map(|n| (format!("other long name of a field {n}"), json!(1)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let begun = std::time::Instant::now();
    assert!(!unknown_fields(&schema, &json!(vec![row; 100])).is_empty());
    assert!(begun.elapsed() < std::time::Duration::from_secs(2), "{:?}", begun.elapsed());
}
