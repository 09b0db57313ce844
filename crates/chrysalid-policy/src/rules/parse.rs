//! A text of rules, key by key.

use std::collections::HashMap;

use toml::de::DeTable;

use super::example::Example;
use super::{Rule, Rules};
use crate::decide::{DecisionKind, Terms};
use crate::document::{Node, Result, Source, Table};
use crate::pattern::Pattern;
use crate::quote::quoted;
use crate::rule_of_two::RuleOfTwo;
use crate::test::When;
use crate::{Effects, Ruling};

/// The longest text, in bytes.
const MAX_TEXT: usize = 1 << 20;
const MAX_RULES: usize = 1000;
const MAX_EXAMPLES: usize = 5000;
const MAX_TOOLS: usize = 100;
const MAX_ROLES: usize = 100;

const KEYS: [&str; 15] = [
    "tools",
    "when",
    "met",
    "has",
    "decision",
    "reason",
    "role",
    "roles",
    "expires",
    "decisions",
    "adds",
    "clears",
    "allow",
    "ask",
    "deny",
];

/// The rules, and the examples that they have to pass.
pub(super) fn file(text: &str) -> Result<(Rules, Vec<Example>)> {
    let source = Source { text, shift: 0 };
    if text.len() > MAX_TEXT {
        return Err(source.error(&(0..0), format!("a policy has at most {MAX_TEXT} bytes, not {}", text.len())));
    }
    let parsed = DeTable::parse(text).map_err(|error| source.toml_error(&error))?;
    let root = Table::new(source, parsed.span(), parsed.get_ref());
    root.allow_keys(&["rule_of_two", "default", "expires", "rules"])?;
    let mut rules = Rules::default();
    if let Some(node) = root.get("rule_of_two") {
        rules.rule_of_two = Some(node.choice(&RuleOfTwo::NAMES)?);
    }
    if let Some(node) = root.get("default") {
        rules.default = node.choice(&Ruling::NAMES)?;
    }
    if let Some(node) = root.get("expires") {
        rules.terms.expires = Some(node.duration()?);
    }
    let mut examples = Vec::new();
    if let Some(node) = root.get("rules") {
        let mut lines = HashMap::new();
        let (mut line, mut counted) = (1, 0);
        for item in node.filled_list(MAX_RULES, "tables, each under [[rules]]")? {
            let table = item.table("tables, each under [[rules]]")?;
            let between = text.get(counted..table.start()).unwrap_or_default();
            line += u32::try_from(between.matches('\n').count()).unwrap_or(u32::MAX);
            counted = table.start();
            let rule = rule(&table, line)?;
            if let Some(line) = lines.insert(content(&rule), rule.line) {
                return Err(table.error(format!("this rule is the same as that of line {line}")));
            }
            examples.extend(Example::read_all(&table, &rule)?);
            if examples.len() > MAX_EXAMPLES {
                return Err(
                    table.error(format!("a policy has at most {MAX_EXAMPLES} examples, which this rule is over"))
                );
            }
            rules.list.push(rule);
        }
    }
    Ok((rules, examples))
}

/// All that a rule does, as text. Two rules that do the same are one too many.
fn content(rule: &Rule) -> String {
    let mut tools = rule.tools.clone();
    tools.sort_unstable();
    let Rule { when, met, has, ruling, terms, adds, clears, .. } = rule;
    format!("{tools:?} {when} {met} {has} {ruling:?} {terms:?} {adds} {clears}")
}

fn rule(table: &Table<'_>, line: u32) -> Result<Rule> {
    table.allow_keys(&KEYS)?;
    let ruling = table.get("decision").map(|node| node.choice(&Ruling::NAMES)).transpose()?;
    let effects = |key: &str| table.get(key).map_or(Ok(Effects::NONE), Node::effects);
    let (adds, clears, met, has) = (effects("adds")?, effects("clears")?, effects("met")?, effects("has")?);
    fitting(table, ruling)?;
    let both = clears.each().find(|effect| adds.contains(*effect));
    if let (Some(node), Some(both)) = (table.get("clears"), both) {
        return Err(node.error(format!("clears takes no effect that adds has: {both} is in both")));
    }
    Ok(Rule {
        line,
        tools: tools(
            table
                .get("tools")
                .ok_or_else(|| table.error("a rule needs tools: a pattern of names, or a list of them"))?,
        )?,
        when: table.get("when").map(When::parse).transpose()?.unwrap_or_default(),
        met,
        has,
        ruling,
        reason: reason(table, ruling)?,
        terms: terms(table)?,
        adds,
        clears,
    })
}

/// That the keys of a rule go with its decision.
fn fitting(table: &Table<'_>, ruling: Option<Ruling>) -> Result<()> {
    let refines = table.entry("adds").or(table.entry("clears"));
    if ruling.is_none() && refines.is_none() {
        return Err(table.error("a rule needs a decision, or adds or clears"));
    }
    for key in ["met", "has"] {
        let Some(entry) = table.entry(key) else { continue };
        if !matches!(ruling, Some(Ruling::Ask | Ruling::Deny)) {
            return Err(entry.error(format!("{key} goes with the decisions \"ask\" and \"deny\" only")));
        }
        if refines.is_some() {
            return Err(entry.error(format!("{key} does not go with adds or clears: they need a rule of their own")));
        }
    }
    for key in ["role", "roles", "expires", "decisions"] {
        if let Some(entry) = table.entry(key).filter(|_| ruling != Some(Ruling::Ask)) {
            return Err(entry.error(format!("{key} goes with the decision \"ask\" only")));
        }
    }
    match (table.entry("role"), table.entry("roles")) {
        (Some(_), Some(roles)) => Err(roles.error("there is role or roles, not both")),
        _ => Ok(()),
    }
}

pub(crate) fn tools(node: Node<'_>) -> Result<Vec<Pattern>> {
    let pattern = |(item, text): (Node<'_>, &str)| Pattern::parse(text).map_err(|message| item.error(message));
    node.texts(MAX_TOOLS)?.into_iter().map(pattern).collect()
}

fn reason(table: &Table<'_>, ruling: Option<Ruling>) -> Result<String> {
    let Some(node) = table.get("reason") else {
        return match ruling {
            Some(ruling @ (Ruling::Ask | Ruling::Deny)) => Err(table.error(format!(
                "a rule with the decision {} needs a reason, for whoever meets it",
                quoted(ruling.name())
            ))),
            _ => Ok(String::new()),
        };
    };
    let reason = node.text("a text")?;
    if reason.trim().is_empty() {
        return Err(node.wrong("a text that is not empty"));
    }
    Ok(reason.to_owned())
}

fn terms(table: &Table<'_>) -> Result<Terms> {
    let mut roles = Vec::new();
    if let Some(node) = table.get("role").or(table.get("roles")) {
        let texts = if node.name == "role" { vec![(node, node.text("a text")?)] } else { node.texts(MAX_ROLES)? };
        for (item, role) in texts {
            if role.trim().is_empty() {
                return Err(item.wrong("names that are not empty"));
            }
            roles.push(role.to_owned());
        }
        roles.sort_unstable();
        roles.dedup();
    }
    let mut decisions = None;
    if let Some(node) = table.get("decisions") {
        let mut kinds = Vec::new();
        for item in node.filled_list(DecisionKind::NAMES.len(), "a list of decisions")? {
            let kind = item.choice(&DecisionKind::NAMES)?;
            if kinds.contains(&kind) {
                return Err(item.error("decisions has the same twice"));
            }
            kinds.push(kind);
        }
        kinds.sort_unstable();
        decisions = Some(kinds);
    }
    let expires = table.get("expires").map(Node::duration).transpose()?;
    Ok(Terms { roles, expires, decisions })
}
