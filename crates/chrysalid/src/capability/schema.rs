//! JSON Schema of a capability's argument, compiled once. Patterns run on a linear-time regexp engine, and a schema
//! may refer to nothing outside itself.

use crate::error::{Error, ErrorKind, Result};
use crate::value::Value;

/// At most this many complaints go into one message.
const MAX_COMPLAINTS: usize = 3;

pub(crate) struct Schema {
    validator: jsonschema::Validator,
}

impl Schema {
    pub(crate) fn compile(name: &str, schema: &serde_json::Value) -> Result<Self> {
        jsonschema::options()
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(schema)
            .map(|validator| Self { validator })
            .map_err(|error| {
                Error::new(ErrorKind::Capability, format!("input schema of {name:?} does not compile: {error}"))
            })
    }

    /// What is wrong with the argument, in words for whoever wrote it.
    pub(crate) fn check(&self, argument: &Value) -> Result<(), String> {
        let json = argument.to_json().map_err(|error| error.to_string())?;
        let complaints: Vec<String> = self
            .validator
            .iter_errors(&json)
            .take(MAX_COMPLAINTS)
            .map(|error| {
                let place = error.instance_path().to_string();
                if place.is_empty() { error.to_string() } else { format!("{place}: {error}") }
            })
            .collect();
        if complaints.is_empty() { Ok(()) } else { Err(complaints.join("; ")) }
    }
}
