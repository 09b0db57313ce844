//! What is wrong with an argument, in the words of whoever wrote it.
//!
//! Whether an argument is refused is the validator's decision; this finds the reason to tell, and names that a schema
//! does not list. It knows the common keywords. It cannot match patterns and formats: those are told when nothing else
//! is wrong. Both schema and argument may be hostile, so steps, depth and length are bounded.

mod alternatives;
mod check;
mod numbers;
mod problem;
#[cfg(test)]
mod tests;

use serde_json::Value as Json;

use super::pointer::Places;
use check::{Check, Scope};
use problem::Problem;

/// Complaints in one message, and its characters.
const MAX_COMPLAINTS: usize = 5;
const MAX_MESSAGE: usize = 500;

/// A field of an argument that its schema does not list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnknownField {
    /// Where it is, such as `rows[2].limt`; names cut at 40 characters.
    pub(crate) path: String,
    /// Where the listed field is that was probably meant.
    pub(crate) near: Option<String>,
}

/// Why a schema refuses an argument, such as `pay: missing "amount" (number); unknown "amt" (did you mean "amount"?)`.
/// At most 5 complaints and 500 characters. `None` when nothing was found that can be told, though the schema may
/// still refuse.
pub(crate) fn complaint(tool: &str, schema: &Json, argument: &Json) -> Option<String> {
    let places = Places::new(schema);
    let mut check = Check::new(&places, Scope::Everything);
    check.value(schema, argument);
    let problems = if check.found.is_empty() { check.suspected } else { check.found };
    (!problems.is_empty()).then(|| message(tool, &problems))
}

/// Fields that no `properties` list, in objects that say nothing else about further fields. They are refused even though
/// JSON Schema accepts them: a misspelt name would silently do nothing.
///
/// Looked for through `properties`, `items`, `prefixItems` and `$ref`, in at most 100,000 steps and 64 levels.
pub(crate) fn unknown_fields(schema: &Json, argument: &Json) -> Vec<UnknownField> {
    let places = Places::new(schema);
    let mut check = Check::new(&places, Scope::UnlistedFields);
    check.value(schema, argument);
    let unlisted = check.found.into_iter().filter_map(|problem| match problem {
        Problem::Unknown { path, near, .. } => Some(UnknownField { path, near }),
        _ => None,
    });
    unlisted.collect()
}

fn message(tool: &str, problems: &[Problem]) -> String {
    let only_unknown = problems.iter().all(|problem| matches!(problem, Problem::Unknown { .. }));
    let mut text = format!("{}: ", problem::cut(tool));
    // Room for the count of those that are left out.
    let room = MAX_MESSAGE - 20;
    let mut told = 0;
    for problem in problems.iter().take(MAX_COMPLAINTS) {
        let part = problem.text(only_unknown);
        let separator = if told == 0 { "" } else { "; " };
        if told > 0 && text.chars().count() + separator.len() + part.chars().count() > room {
            break;
        }
        text.push_str(separator);
        text.push_str(&part);
        told += 1;
    }
    if text.chars().count() > room {
        text = text.chars().take(room - 1).chain(['…']).collect();
    }
    if told < problems.len() {
        text.extend(["; and ", &(problems.len() - told).to_string(), " more"]);
    }
    text
}
