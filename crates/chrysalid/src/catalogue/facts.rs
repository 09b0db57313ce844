//! What a schema says beside the type, in few words: bounds, format, pattern, default.

use serde_json::{Map, Value as Json};

use super::comment;

/// Characters of one pattern or default.
const MAX_VALUE: usize = 80;

/// Short remarks for a comment, such as `1 to 100` and `default 10`.
pub(super) fn facts(schema: &Map<String, Json>) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(format) = schema.get("format").and_then(Json::as_str) {
        facts.push(format!("format {}", comment::line(format, MAX_VALUE)));
    }
    if let Some(pattern) = schema.get("pattern").and_then(Json::as_str) {
        facts.push(format!("matches {}", comment::line(pattern, MAX_VALUE)));
    }
    facts.extend(bounds(schema));
    for (unit, least, most) in [
        ("character", "minLength", "maxLength"),
        ("item", "minItems", "maxItems"),
        ("field", "minProperties", "maxProperties"),
    ] {
        let count = |keyword| schema.get(keyword).and_then(Json::as_u64);
        facts.extend(counts(count(least), count(most), unit));
    }
    if let Some(of) = schema.get("multipleOf").filter(|of| of.is_number()) {
        facts.push(format!("multiple of {of}"));
    }
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        facts.push(format!("default {}", comment::line(&default.to_string(), MAX_VALUE)));
    }
    if schema.get("deprecated") == Some(&Json::Bool(true)) {
        facts.push("deprecated".to_owned());
    }
    facts
}

/// A description with the facts: behind it in brackets when it is one line, else on a line of their own.
pub(super) fn with_facts(mut lines: Vec<String>, facts: &[String]) -> Vec<String> {
    if facts.is_empty() {
        return lines;
    }
    let facts = facts.join(", ");
    match lines.as_mut_slice() {
        [only] => {
            only.push_str(" (");
            only.push_str(&facts);
            only.push(')');
        }
        _ => lines.push(facts),
    }
    lines
}

fn bounds(schema: &Map<String, Json>) -> Option<String> {
    let number = |keyword| schema.get(keyword).filter(|bound| bound.is_number());
    // Draft 4 has the exclusive bounds as a mark on the others.
    let marked = |keyword| schema.get(keyword) == Some(&Json::Bool(true));
    let (least, more) = (number("minimum"), number("exclusiveMinimum"));
    let (most, less) = (number("maximum"), number("exclusiveMaximum"));
    let (least, more) = if marked("exclusiveMinimum") { (None, least) } else { (least, more) };
    let (most, less) = if marked("exclusiveMaximum") { (None, most) } else { (most, less) };
    if let (Some(least), Some(most), None, None) = (least, most, more, less) {
        return Some(format!("{least} to {most}"));
    }
    let parts = [("at least", least), ("more than", more), ("at most", most), ("less than", less)];
    let parts: Vec<String> =
        parts.iter().filter_map(|(word, bound)| bound.map(|bound| format!("{word} {bound}"))).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn counts(least: Option<u64>, most: Option<u64>, unit: &str) -> Option<String> {
    let units = |count: u64| if count == 1 { unit.to_owned() } else { format!("{unit}s") };
    match (least.filter(|least| *least > 0), most) {
        (Some(least), Some(most)) if least == most => Some(format!("{most} {}", units(most))),
        (Some(least), Some(most)) => Some(format!("{least} to {most} {}", units(most))),
        (Some(least), None) => Some(format!("at least {least} {}", units(least))),
        (None, Some(most)) => Some(format!("at most {most} {}", units(most))),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{facts, with_facts};
    use serde_json::{Value as Json, json};

    fn of(schema: &Json) -> String {
        facts(schema.as_object().unwrap()).join("; ")
    }

    #[test]
    fn bounds_and_counts() {
        assert_eq!(of(&json!({"minimum": 1, "maximum": 100, "default": 10})), "1 to 100; default 10");
        assert_eq!(of(&json!({"exclusiveMinimum": 0, "maximum": 1.5})), "more than 0, at most 1.5");
        assert_eq!(of(&json!({"minimum": 0, "exclusiveMinimum": true})), "more than 0");
        assert_eq!(of(&json!({"minLength": 1, "maxLength": 1})), "1 character");
        assert_eq!(of(&json!({"minItems": 2, "maxItems": 5})), "2 to 5 items");
        assert_eq!(of(&json!({"minProperties": 0})), "");
        assert_eq!(of(&json!({"multipleOf": 5, "deprecated": true})), "multiple of 5; deprecated");
    }

    #[test]
    fn texts_cannot_end_the_comment() {
        assert_eq!(of(&json!({"pattern": "^.*/$", "format": "a*/"})), "format a* /; matches ^.* /$");
        assert_eq!(of(&json!({"default": "*/\n"})), "default \"* /\\n\"");
        assert_eq!(of(&json!({"default": null})), "");
    }

    #[test]
    fn facts_stand_behind_one_line_and_under_many() {
        let facts = ["1 to 9".to_owned(), "default 2".to_owned()];
        let lines = |lines: &[&str]| with_facts(lines.iter().map(ToString::to_string).collect(), &facts);
        assert_eq!(lines(&[]), ["1 to 9, default 2"]);
        assert_eq!(lines(&["rows"]), ["rows (1 to 9, default 2)"]);
        assert_eq!(lines(&["a", "b"]), ["a", "b", "1 to 9, default 2"]);
    }
}
