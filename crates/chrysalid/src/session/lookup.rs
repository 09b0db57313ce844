//! Looking into the catalogue from within a program: `tools.$search` and `tools.$describe`. They are no calls: they have no
//! effect, are answered at once, and cost no budget of calls; only their number is bounded.

use super::Session;
use super::state::{Answer, AnswerError};
use crate::call::ToolError;
use crate::catalogue::DEFAULT_LIMIT;
use crate::value::{Object, Value, wire};

pub(super) const SEARCH: &str = "$search";
pub(super) const DESCRIBE: &str = "$describe";

/// How many of them a program may make: each is the host's work. In a large set each counts for several.
const MOST: u32 = 1000;
/// Tools up to which a look counts for one.
const SMALL_SET: usize = 500;
/// Bytes of the longest text that is looked for.
const LONGEST: usize = 1000;

impl Session {
    pub(super) fn look_up(&mut self, number: u32, name: &str, argument: &[u8]) {
        let answer = self.looked_up(name, argument);
        let result = match answer.map(|value| wire::encode(&value, &self.bounds(self.limits.call_result_size))) {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(error)) => Err(ToolError::named("ResultTooLarge", format!("result of {name}: {error}"))),
            Err(error) => Err(error),
        };
        let result = result.map_err(|error| AnswerError { error, tool: name.to_owned() });
        if let Some(program) = &mut self.state.program {
            program.answers.push(Answer { call: number, result, module: false });
        }
    }

    fn looked_up(&mut self, name: &str, argument: &[u8]) -> Result<Value, ToolError> {
        let program = self.state.program.as_mut().ok_or_else(|| ToolError::new("no program runs"))?;
        let weight = 1 + self.capabilities.len() / SMALL_SET;
        program.lookups = program.lookups.saturating_add(u32::try_from(weight).unwrap_or(u32::MAX));
        if program.lookups > MOST {
            let message = format!("{name}: this program may look {MOST} times and has done so");
            return Err(ToolError::named("CallBudgetExceeded", message));
        }
        let argument = wire::decode(argument, &self.argument_bounds())
            .map_err(|error| ToolError::input(format!("{name}: {error}")))?;
        let text = |field: &str| {
            let text = argument.get(field).and_then(Value::as_str);
            let text = text.ok_or_else(|| ToolError::input(format!("{name}: takes {{ {field}: string }}")))?;
            if text.len() > LONGEST {
                let message = format!("{name}: {field:?} of {} bytes is more than {LONGEST}", text.len());
                return Err(ToolError::input(message));
            }
            Ok(text)
        };
        let catalogue = self.capabilities.catalogue();
        if name == DESCRIBE {
            let wanted = text("name")?;
            return catalogue
                .describe(wanted)
                .map(Value::from)
                .ok_or_else(|| ToolError::named("ToolUnavailable", catalogue.unknown_tool(wanted)));
        }
        let limit = match argument.get("limit").map(Value::as_f64) {
            None => DEFAULT_LIMIT,
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped by the search")]
            Some(Some(limit)) if limit >= 1.0 => limit as usize,
            Some(_) => return Err(ToolError::input(format!("{name}: \"limit\" must be a number of at least 1"))),
        };
        let hits = catalogue.search(text("query")?, limit);
        let hit = |hit: crate::catalogue::CatalogueHit| {
            Value::Object(Object::from_iter([("name", hit.name), ("call", hit.call), ("summary", hit.summary)]))
        };
        Ok(Value::Array(hits.into_iter().map(hit).collect()))
    }
}
