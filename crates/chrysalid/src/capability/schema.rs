//! JSON Schema of a capability's argument, compiled once.
//!
//! The argument is hostile and the check runs on the host, outside of the program's CPU limit, so its work is bounded
//! here: patterns run on a linear-time regexp engine, a schema may refer to nothing outside itself, shared parts of an
//! argument count each time they appear, and where alternatives refer back to themselves, so that every level may double
//! the work, only a few levels are accepted.

use crate::catalogue::{self, unknown_fields};
use crate::error::{Error, ErrorKind, Result};
use crate::value::{Value, ValueError};

/// At most this many complaints go into one message, each cut to so many bytes: they quote the argument.
const MAX_COMPLAINTS: usize = 3;
const MAX_COMPLAINT_SIZE: usize = 500;
/// Levels and values of an argument that is checked against alternatives which refer back to themselves.
const MAX_DOUBLING_DEPTH: usize = 12;
const MAX_DOUBLING_NODES: usize = 2_000;

pub(crate) struct Schema {
    name: String,
    source: serde_json::Value,
    validator: jsonschema::Validator,
    doubles: bool,
}

impl Schema {
    pub(crate) fn compile(name: &str, schema: &serde_json::Value) -> Result<Self> {
        let mut found = Found::default();
        found.look(schema);
        jsonschema::options()
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(schema)
            .map(|validator| Self {
                name: name.to_owned(),
                source: schema.clone(),
                validator,
                doubles: found.reference && found.alternative,
            })
            .map_err(|error| {
                Error::new(ErrorKind::Capability, format!("input schema of {name:?} does not compile: {error}"))
            })
    }

    /// What is wrong with the argument, in words for whoever wrote it, with the name of the tool. `size` bounds it with its shared parts written out.
    pub(crate) fn check(&self, argument: &Value, size: usize) -> Result<(), String> {
        let json = self.written(argument, size).map_err(|error| format!("{}: {error}", self.name))?;
        if self.doubles && depth(&json) > MAX_DOUBLING_DEPTH {
            return Err(format!(
                "{}: arguments deeper than {MAX_DOUBLING_DEPTH} levels cannot be checked against this schema",
                self.name
            ));
        }
        if self.validator.is_valid(&json) {
            if unknown_fields(&self.source, &json).is_empty() {
                return Ok(());
            }
            // Ignored in silence it would give wrong data with no sign of it.
            return Err(self.in_words(&json).unwrap_or_else(|| format!("{}: an unknown field", self.name)));
        }
        Err(self.in_words(&json).unwrap_or_else(|| {
            let errors = self.validator.iter_errors(&json).take(MAX_COMPLAINTS);
            let complaints: Vec<String> = errors.map(|error| complaint(&error)).collect();
            format!("{}: {}", self.name, complaints.join("; "))
        }))
    }

    fn in_words(&self, json: &serde_json::Value) -> Option<String> {
        catalogue::complaint(&self.name, &self.source, json)
    }

    fn written(&self, argument: &Value, size: usize) -> Result<serde_json::Value, ValueError> {
        let nodes = if self.doubles { MAX_DOUBLING_NODES } else { size };
        argument.to_json_within(nodes, size)
    }
}

fn complaint(error: &jsonschema::ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let mut text = if place.is_empty() { error.to_string() } else { format!("{place}: {error}") };
    if text.len() > MAX_COMPLAINT_SIZE {
        let end = (0..=MAX_COMPLAINT_SIZE).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push_str("...");
    }
    text
}

/// Levels of nesting; the value came out of a bounded conversion, so the stack is enough.
fn depth(json: &serde_json::Value) -> usize {
    match json {
        serde_json::Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        serde_json::Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// What a schema is made of, as far as it decides how much work a check can be.
#[derive(Default)]
struct Found {
    reference: bool,
    alternative: bool,
}

impl Found {
    fn look(&mut self, schema: &serde_json::Value) {
        match schema {
            serde_json::Value::Object(fields) => {
                for (name, value) in fields {
                    self.reference |= matches!(name.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef");
                    self.alternative |= matches!(
                        name.as_str(),
                        "anyOf"
                            | "oneOf"
                            | "allOf"
                            | "not"
                            | "if"
                            | "contains"
                            | "unevaluatedProperties"
                            | "unevaluatedItems"
                            | "dependentSchemas"
                    );
                    self.look(value);
                }
            }
            serde_json::Value::Array(items) => items.iter().for_each(|item| self.look(item)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_json::json;

    use super::{Schema, Value};

    fn nested(depth: usize) -> Value {
        (0..depth).fold(Value::Null, |inner, _| [("x", inner)].into_iter().collect::<crate::Object>().into())
    }

    #[test]
    fn alternatives_that_refer_back_to_themselves_take_few_levels_only() {
        let branch = json!({"properties": {"x": {"$ref": "#"}}, "required": ["z"]});
        let schema = Schema::compile("a", &json!({"anyOf": [branch, branch]})).unwrap();
        let begun = Instant::now();
        assert_eq!(
            schema.check(&nested(60), 1 << 20).unwrap_err(),
            "a: arguments deeper than 12 levels cannot be checked against this schema"
        );
        assert!(schema.check(&nested(12), 1 << 20).is_err());
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }

    #[test]
    fn a_tagged_union_that_is_not_deep_is_checked() {
        let schema = json!({"oneOf": [
            {"type": "number"},
            {"type": "object", "properties": {"op": {"const": "not"}, "x": {"$ref": "#"}}, "required": ["op", "x"]},
        ]});
        let schema = Schema::compile("a", &schema).unwrap();
        let not = |x: Value| Value::from([("op", Value::from("not")), ("x", x)].into_iter().collect::<crate::Object>());
        assert_eq!(schema.check(&not(not(Value::from(1))), 1000), Ok(()));
        assert!(schema.check(&not(not(Value::from("bad"))), 1000).is_err());
    }

    #[test]
    fn a_complaint_is_cut() {
        let schema = Schema::compile("a", &json!({"type": "number"})).unwrap();
        let complaint = schema.check(&Value::from("x".repeat(100_000)), 1 << 20).unwrap_err();
        assert!(complaint.len() <= 503, "{complaint}");
    }

    #[test]
    fn shared_parts_count_each_time() {
        let schema = Schema::compile("a", &json!({"type": "array"})).unwrap();
        // [a, a] of [a, a] and so on, as a program makes it: small on the wire, 2^20 values written out.
        let mut bytes = Vec::new();
        bytes.extend([0x0c, 2].repeat(20));
        bytes.extend([0x0c, 0]);
        for level in (1..=20u8).rev() {
            bytes.extend([0x12, level]);
        }
        let bounds = crate::value::wire::Bounds { bytes: 1000, depth: 64, nodes: 1000 };
        let shared = crate::value::wire::decode(&bytes, &bounds).unwrap();
        assert_eq!(schema.check(&shared, 10_000).unwrap_err(), "a: value expands to more than 10000 nodes");
    }
}
