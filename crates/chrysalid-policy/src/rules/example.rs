//! Examples in a file of rules: calls that must end in the decision that they stand under, by the whole file.

use std::ops::Range;

use super::{Rule, Rules};
use crate::decide::{Request, judge};
use crate::document::{Node, Result, Source, Table};
use crate::quote::quoted;
use crate::{Decision, Effects, Reason, Ruling, Taint};

/// The most examples of one decision under one rule.
const MAX_EXAMPLES: usize = 1000;

/// A call, and what must become of it.
pub(super) struct Example {
    expected: Ruling,
    tool: String,
    argument: toml::Value,
    effects: Effects,
    met: Effects,
    /// The bytes of the text.
    place: Range<usize>,
}

impl Example {
    /// The examples of one rule.
    pub(super) fn read_all(table: &Table<'_>, rule: &Rule) -> Result<Vec<Self>> {
        let mut examples = Vec::new();
        for (name, expected) in Ruling::NAMES {
            let Some(node) = table.get(name) else { continue };
            for item in node.filled_list(MAX_EXAMPLES, "a list of calls")? {
                examples.push(Self::read(item, expected, rule)?);
            }
        }
        Ok(examples)
    }

    /// A table with the key `tool` is a call in full. Under a rule about exactly one tool, any other is its argument.
    fn read(node: Node<'_>, expected: Ruling, rule: &Rule) -> Result<Self> {
        let table = node.table("calls, each a table")?;
        let place = node.value.span();
        let Some(tool) = table.get("tool") else {
            let [pattern] = rule.tools.as_slice() else {
                return Err(node.error("an example needs tool, since the rule is about several"));
            };
            let Some(tool) = pattern.exact() else {
                return Err(node.error("an example needs tool, since the rule is about several"));
            };
            let (tool, argument) = (tool.to_owned(), node.plain()?);
            return Ok(Self { expected, tool, argument, effects: Effects::NONE, met: Effects::NONE, place });
        };
        table.allow_keys(&["tool", "args", "effects", "met"])?;
        let effects = |key: &str| table.get(key).map_or(Ok(Effects::NONE), Node::effects);
        Ok(Self {
            expected,
            tool: tool.text("the name of a tool")?.to_owned(),
            argument: table.get("args").map_or_else(|| Ok(toml::Value::Table(toml::Table::new())), Node::plain)?,
            effects: effects("effects")?,
            met: effects("met")?,
            place,
        })
    }

    /// That the rules decide as the example says.
    pub(super) fn check(&self, rules: &Rules, text: &str) -> Result<()> {
        let mut taint = Taint::default();
        taint.join(self.met, "the example");
        let request = Request {
            name: &self.tool,
            argument: &self.argument,
            effects: self.effects,
            carried: Effects::NONE,
            ask: false,
        };
        let (decision, by) = judge(&request, &taint, rules);
        if decision.ruling() == self.expected {
            return Ok(());
        }
        let message = format!(
            "this example of {} should end in {}, not in {}: {}",
            quoted(&self.tool),
            quoted(self.expected.name()),
            quoted(decision.ruling().name()),
            why(&decision, &by, rules)
        );
        Err(Source { text, shift: 0 }.error(&self.place, message))
    }
}

fn why(decision: &Decision, by: &[&Rule], rules: &Rules) -> String {
    if let Some(rule) = by.first() {
        return format!("the rule of line {} decides", rule.line);
    }
    let reasons: &[Reason] = match decision {
        Decision::Allow => &[],
        Decision::Ask(ask) => &ask.reasons,
        Decision::Deny { reasons } => reasons,
    };
    match reasons.first() {
        Some(reason) => reason.to_string(),
        None => format!("no rule decides, and the default is {}", quoted(rules.default.name())),
    }
}
