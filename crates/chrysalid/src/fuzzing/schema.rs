//! Catalogues of tools whose names, descriptions and schemas are hostile, and arguments that are no better.

use oxc_allocator::Allocator;
use oxc_ast::ast::SourceType;
use oxc_parser::Parser;
use serde_json::Value as Json;

use super::bytes::Choices;
use crate::capability::Schema;
use crate::catalogue::{Catalogue, CatalogueBudget, Tool, complaint, unknown_fields};
use crate::value::Value;

const KEYS: &[&str] = &[
    "type",
    "properties",
    "required",
    "items",
    "prefixItems",
    "additionalProperties",
    "patternProperties",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "$ref",
    "$defs",
    "definitions",
    "title",
    "description",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "multipleOf",
    "minLength",
    "maxItems",
    "uniqueItems",
    "default",
    "nullable",
    "a",
    "b",
];
const WORDS: &[&str] = &[
    "object",
    "array",
    "string",
    "number",
    "integer",
    "boolean",
    "null",
    "#",
    "#/$defs/a",
    "#/$defs/b",
    "#/properties/a",
    "#/definitions/a",
    "date-time",
    "email",
    "a",
    "b",
    "*/",
    "</tools>",
    "[a-z]+",
];

/// Characters of declarations that are shown in full.
const LONG: usize = 1 << 20;
/// Longest message about an argument, in characters.
const MAX_COMPLAINT: usize = 500;

struct Input {
    tools: Vec<Tool>,
    argument: Json,
}

/// JSON as it stands, where the bytes are that: `[argument, {"name": schema, …}, …]`. Else tools made from choices.
pub fn catalogue(bytes: &[u8]) {
    let Input { tools, argument } = written(bytes).unwrap_or_else(|| chosen(bytes));
    for tool in &tools {
        if let Some(schema) = &tool.schema {
            arguments(&tool.name, schema, &argument);
        }
    }
    let names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
    let Ok(catalogue) = Catalogue::new(tools) else { return };
    let full = catalogue.text(&CatalogueBudget { tools: 1000, characters: LONG, list_characters: LONG });
    if full.starts_with("There are ") {
        return list_is_bounded(&catalogue);
    }
    is_declaration(&full);
    list_is_bounded(&catalogue);
    for name in &names {
        is_declaration(&catalogue.describe(name).expect("each tool can be described"));
        assert!(catalogue.search(name, usize::MAX).len() <= 20);
        assert!(catalogue.unknown_tool(name).chars().count() < 2000);
    }
}

fn written(bytes: &[u8]) -> Option<Input> {
    let Json::Array(parts) = serde_json::from_slice(bytes).ok()? else { return None };
    let mut parts = parts.into_iter();
    let argument = parts.next()?;
    let fields = parts.filter_map(|part| if let Json::Object(fields) = part { Some(fields) } else { None });
    let tools = fields.flatten().map(|(name, schema)| Tool {
        description: schema.get("description").and_then(Json::as_str).unwrap_or_default().to_owned(),
        returns: Some(schema.clone()),
        schema: Some(schema),
        asks: false,
        gives_handle: false,
        global: false,
        name,
    });
    Some(Input { tools: tools.collect(), argument })
}

fn chosen(bytes: &[u8]) -> Input {
    let mut choices = Choices::new(bytes);
    let tools = choices.list(|choices| Tool {
        name: if choices.flag() { choices.text() } else { format!("tool.t{}", choices.byte()) },
        description: choices.text(),
        schema: choices.option(|choices| choices.json(KEYS, WORDS, 8)),
        returns: choices.option(|choices| choices.json(KEYS, WORDS, 8)),
        asks: choices.flag(),
        gives_handle: choices.flag(),
        global: false,
    });
    Input { argument: choices.json(KEYS, WORDS, 8), tools }
}

fn arguments(name: &str, schema: &Json, argument: &Json) {
    drop(unknown_fields(schema, argument));
    if let Some(text) = complaint(name, schema, argument) {
        assert!(text.chars().count() <= MAX_COMPLAINT, "{} characters: {text}", text.chars().count());
    }
    let Ok(compiled) = Schema::compile(name, schema) else { return };
    let Ok(value) = Value::from_json(argument.clone()) else { return };
    if let Err(text) = compiled.check(&value, 1 << 20) {
        assert!(!text.is_empty());
    }
}

fn list_is_bounded(catalogue: &Catalogue) {
    let introduction = 400;
    for characters in [0, 200, 2000] {
        let text = catalogue.text(&CatalogueBudget { tools: 0, characters, list_characters: characters });
        if !catalogue.is_empty() {
            let over = text.chars().count().saturating_sub(characters);
            assert!(over <= introduction, "{over} characters over {characters}: {text}");
        }
    }
}

/// Text for a model is TypeScript: nothing in it ends a comment, a string or the declaration.
fn is_declaration(text: &str) {
    let arena = Allocator::new();
    let parsed = stacker::maybe_grow(64 << 20, 64 << 20, || Parser::new(&arena, text, SourceType::ts()).parse());
    assert!(parsed.diagnostics.is_empty(), "{:?} in {text}", parsed.diagnostics);
    let declarations = text.lines().filter(|line| line.starts_with("declare const tools: {")).count();
    assert_eq!(declarations, 1, "{text}");
    assert!(text.chars().all(|symbol| symbol == '\n' || !symbol.is_control()), "{text:?}");
}
