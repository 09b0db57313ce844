//! Whatever the schemas and texts: the text ends, is bounded, and its brackets, strings and comments close.

use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::{Tool, full};
use crate::catalogue::{Catalogue, complaint, unknown_fields};

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "a", "Node", "2nd", "*/", "/*", "\"", "\\", "```", "</x>", "\n", "\u{202e}", "$", "new", "", "{", "é"
        ])
        .prop_map(str::to_owned),
        "\\PC{0,12}",
        any::<String>(),
    ]
}

fn schema() -> impl Strategy<Value = Json> {
    let reference = prop_oneof![
        prop::sample::select(vec!["#", "#/$defs/a", "#/$defs/Node", "#/properties/a", "#/nope", "#a"])
            .prop_map(str::to_owned),
        word().prop_map(|word| format!("#/$defs/{word}")),
    ];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Json::Bool),
        prop::sample::select(vec!["string", "number", "integer", "boolean", "null", "object", "array", "odd"])
            .prop_map(|of| json!({"type": of})),
        reference.prop_map(|to| json!({"$ref": to})),
        prop::collection::vec(word(), 0..4).prop_map(|values| json!({"enum": values})),
        (word(), word(), any::<i32>())
            .prop_map(|(a, b, n)| json!({"description": a, "pattern": b, "default": b, "minimum": n, "const": n})),
        word().prop_map(Json::String),
    ];
    leaf.prop_recursive(5, 48, 5, |inner| {
        let map = prop::collection::vec((word(), inner.clone()), 0..5)
            .prop_map(|fields| fields.into_iter().collect::<Map<String, Json>>())
            .boxed();
        let list = prop::collection::vec(inner.clone(), 0..4).boxed();
        prop_oneof![
            (map.clone(), prop::collection::vec(word(), 0..3), word(), map).prop_map(
                |(properties, required, text, definitions)| json!({
                    "properties": properties, "required": required, "description": text, "$defs": definitions,
                })
            ),
            inner.clone().prop_map(|of| json!({"type": "object", "additionalProperties": of})),
            (word(), inner.clone())
                .prop_map(|(pattern, of)| json!({"patternProperties": {(pattern): of}, "properties": {"a": of}})),
            inner.clone().prop_map(|of| json!({"type": "array", "items": of})),
            (list.clone(), inner, 0..3_u32)
                .prop_map(|(first, rest, least)| json!({"prefixItems": first, "items": rest, "minItems": least})),
            (list, prop::sample::select(vec!["anyOf", "oneOf", "allOf"]))
                .prop_map(|(list, keyword)| json!({(keyword): list, "nullable": true})),
        ]
    })
}

/// Reads TypeScript far enough to say whether everything closes.
fn is_balanced(text: &str) -> bool {
    let mut open = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => loop {
                match chars.next() {
                    Some('\\') => drop(chars.next()),
                    Some('"') => break,
                    None | Some('\n') => return false,
                    _ => {}
                }
            },
            '/' if chars.next_if_eq(&'*').is_some() => {
                let mut last = ' ';
                loop {
                    match chars.next() {
                        Some('/') if last == '*' => break,
                        Some(next) => last = next,
                        None => return false,
                    }
                }
            }
            '{' | '[' | '(' | '<' => open.push(c),
            '}' | ']' | ')' | '>' => {
                let opening = open.pop();
                if !matches!((opening, c), (Some('{'), '}') | (Some('['), ']') | (Some('('), ')') | (Some('<'), '>')) {
                    return false;
                }
            }
            c if c.is_control() && c != '\n' => return false,
            _ => {}
        }
    }
    open.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_schema_gives_text_that_closes(input in schema(), output in schema(), description in word(), name in word()) {
        let tool = Tool { name, description, schema: Some(input), returns: Some(output), asks: true, gives_handle: false, global: false };
        if let Ok(catalogue) = Catalogue::new(vec![tool.clone()]) {
            let text = full(vec![tool.clone()]);
            prop_assert!(is_balanced(&text), "{}", text);
            prop_assert!(text.len() <= 200_000);
            prop_assert_eq!(catalogue.describe(&tool.name), Some(text));
        }
    }

    #[test]
    fn any_complaint_is_short(schema in schema(), argument in schema()) {
        if let Some(message) = complaint("t", &schema, &argument) {
            prop_assert!(message.chars().count() <= 500);
            prop_assert!(!message.chars().any(char::is_control), "{:?}", message);
        }
        unknown_fields(&schema, &argument);
    }
}

#[test]
fn schemas_of_any_size_are_bounded() {
    let wide: Map<String, Json> =
        (0..20_000).map(|n| (format!("f{n}"), json!({"type": "string", "description": "x\n".repeat(600)}))).collect();
    let deep = (0..100).fold(
        json!({"type": "string"}),
        |inner, _| json!({"properties": {"a": inner, "b": {"enum": ["x", "y"]}}, "required": ["a"]}),
    );
    let branches = json!({"anyOf": (0..5_000).map(|n| json!({"const": n})).collect::<Vec<_>>()});
    let tuple = json!({"prefixItems": vec![json!({"type": ["string", "null"]}); 5_000]});
    let patterns: Map<String, Json> = (0..5_000).map(|n| (format!("^{n}\u{1}"), json!({"const": n}))).collect();
    let controls: Map<String, Json> =
        (0..5_000).map(|n| ("\u{1}".repeat(n % 60), json!({"enum": vec!["\u{1}".repeat(30); 50]}))).collect();
    let cases = [
        json!({"properties": wide}),
        deep,
        branches,
        tuple,
        json!({"patternProperties": patterns}),
        json!({"properties": controls}),
        json!({"properties": {"a": {"enum": (0..5_000).collect::<Vec<_>>()}}}),
    ];
    for schema in cases {
        let text = full(vec![Tool { returns: Some(schema.clone()), ..super::tool("t", schema) }]);
        assert!(is_balanced(&text));
        assert!(text.len() <= 200_000, "{} of {:.80}", text.len(), text);
    }
}
