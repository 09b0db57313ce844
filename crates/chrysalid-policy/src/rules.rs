//! The rules of an operator, read from TOML.

use sha2::{Digest as _, Sha256};

use crate::decide::{Request, Terms};
use crate::document::RulesError;
use crate::pattern::Pattern;
use crate::rule_of_two::RuleOfTwo;
use crate::test::When;
use crate::{Effects, Ruling};

mod example;
mod parse;

pub(crate) use parse::tools;

/// One rule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    /// Where it begins, from 1.
    pub(crate) line: u32,
    pub(crate) tools: Vec<Pattern>,
    pub(crate) when: When,
    /// Effects that the session must have met.
    pub(crate) met: Effects,
    /// Effects that the call must have.
    pub(crate) has: Effects,
    pub(crate) ruling: Option<Ruling>,
    /// For people; empty in a rule that neither asks nor denies and says nothing.
    pub(crate) reason: String,
    pub(crate) terms: Terms,
    pub(crate) adds: Effects,
    pub(crate) clears: Effects,
}

/// The rules of an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    pub(crate) rule_of_two: Option<RuleOfTwo>,
    pub(crate) default: Ruling,
    pub(crate) terms: Terms,
    pub(crate) list: Vec<Rule>,
    version: String,
    examples: usize,
}

impl Default for Rules {
    /// No rules: what an empty text gives.
    fn default() -> Self {
        Self {
            rule_of_two: None,
            default: Ruling::Allow,
            terms: Terms::default(),
            list: Vec::new(),
            version: version(""),
            examples: 0,
        }
    }
}

impl Rules {
    /// Reads rules and tries their examples. The first error of the text is told with its place.
    pub fn parse(text: &str) -> Result<Self, RulesError> {
        let (mut rules, examples) = parse::file(text)?;
        rules.version = version(text);
        rules.examples = examples.len();
        examples.iter().try_for_each(|example| example.check(&rules, text))?;
        Ok(rules)
    }

    /// Rules with nothing but the rule of two.
    #[must_use]
    pub fn with_rule_of_two(rule_of_two: RuleOfTwo) -> Self {
        let name = RuleOfTwo::NAMES.iter().find(|(_, known)| *known == rule_of_two).map_or("", |(name, _)| name);
        let version = version(&format!("rule_of_two = \"{name}\"\n"));
        Self { rule_of_two: Some(rule_of_two), version, ..Self::default() }
    }

    /// The rule of two, where the rules set it.
    #[must_use]
    pub fn rule_of_two(&self) -> Option<RuleOfTwo> {
        self.rule_of_two
    }

    /// The same rules with the rule of two settled: where they leave it open it is on if some capability is labelled with
    /// its effects, and else off. [`decide`](crate::decide) takes rules that leave it open as on.
    #[must_use]
    pub fn resolve(&self, labelled: bool) -> Self {
        let open = if labelled { RuleOfTwo::On } else { RuleOfTwo::Off };
        Self { rule_of_two: Some(self.rule_of_two.unwrap_or(open)), ..self.clone() }
    }

    /// The same with this rule of two, whatever they said of it.
    #[must_use]
    pub fn and_rule_of_two(self, rule_of_two: RuleOfTwo) -> Self {
        Self { rule_of_two: Some(rule_of_two), ..self }
    }

    /// How many rules there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many examples were tried when they were read.
    #[must_use]
    pub fn examples(&self) -> usize {
        self.examples
    }

    /// The patterns of tools in them that fit none of these names.
    #[must_use]
    pub fn patterns_without(&self, names: &[&str]) -> Vec<String> {
        let patterns = self.list.iter().flat_map(|rule| &rule.tools);
        let unused = patterns.filter(|pattern| !names.iter().any(|name| pattern.matches(name)));
        let mut unused: Vec<String> = unused.map(ToString::to_string).collect();
        unused.dedup();
        unused
    }

    /// What happens where no rule decides.
    #[must_use]
    pub fn default_ruling(&self) -> Ruling {
        self.default
    }

    /// The text's version: the first 16 digits of its SHA-256 in hexadecimal.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The effects of a call: those declared, less what rules clear that surely match, and what rules add that may match.
    /// Without what the argument carries.
    #[must_use]
    pub fn effects(&self, request: &Request<'_>) -> Effects {
        let (mut added, mut cleared) = (Effects::NONE, Effects::NONE);
        for rule in self.of(request.name).filter(|rule| !(rule.adds | rule.clears).is_empty()) {
            let outcome = rule.when.outcome(request.argument);
            if outcome.may {
                added |= rule.adds;
            }
            if outcome.surely {
                cleared |= rule.clears;
            }
        }
        cleared.missing_from(request.effects) | added
    }

    /// Terms of every question.
    #[must_use]
    pub fn terms(&self) -> Terms {
        self.terms.clone()
    }

    /// Whether a rule at this line asks or denies only after certain effects were met, so that what it says of a call depends
    /// on what came before it.
    #[must_use]
    pub fn depends_on_met(&self, line: u32) -> bool {
        self.list.iter().any(|rule| rule.line == line && !rule.met.is_empty())
    }

    /// The rules about a capability, in the order of the file.
    pub(crate) fn of(&self, name: &str) -> impl Iterator<Item = &Rule> {
        self.list.iter().filter(move |rule| rule.tools.iter().any(|pattern| pattern.matches(name)))
    }
}

fn version(text: &str) -> String {
    use std::fmt::Write as _;
    Sha256::digest(text.as_bytes()).iter().take(8).fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests;
