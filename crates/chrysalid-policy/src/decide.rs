//! The decision about one call: the strictest of the capability's own approval, the rules, the default and the rule of
//! two.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::argument::Argument;
use crate::rule_of_two::{self, RuleOfTwo};
use crate::rules::{Rule, Rules};
use crate::{Effects, Reason, Ruling, Taint};

/// What is about to happen.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Name of the capability.
    pub name: &'a str,
    /// What it is called with. A call without an argument has an empty map.
    pub argument: &'a dyn Argument,
    /// The effects that the capability declares; all of them for an unlabelled one among labelled ones.
    pub effects: Effects,
    /// The effects of what the argument holds without being read: of its handles.
    pub carried: Effects,
    /// Whether the capability itself always asks.
    pub ask: bool,
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("name", &self.name)
            .field("effects", &self.effects)
            .field("carried", &self.carried)
            .field("ask", &self.ask)
            .finish_non_exhaustive()
    }
}

/// The kinds of answers that a person can give to a call that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecisionKind {
    /// The call runs as it is.
    Approve,
    /// The call runs with other arguments.
    Edit,
    /// The call does not run, and fails.
    Reject,
    /// The call does not run, and gets an answer from the person.
    Respond,
}

impl DecisionKind {
    /// All kinds. Chrysalid's snapshot format has them in this order.
    pub const ALL: [Self; 4] = [Self::Approve, Self::Edit, Self::Reject, Self::Respond];

    pub(crate) const NAMES: [(&'static str, Self); 4] =
        [("approve", Self::Approve), ("edit", Self::Edit), ("reject", Self::Reject), ("respond", Self::Respond)];

    /// Its name, in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Edit => "edit",
            Self::Reject => "reject",
            Self::Respond => "respond",
        }
    }
}

/// What happens to a call. The strictest wins.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Decision {
    /// It runs.
    Allow,
    /// A person decides.
    Ask(Ask),
    /// It does not run.
    Deny {
        /// Why; never empty.
        reasons: Vec<Reason>,
    },
}

/// A question to a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Why; never empty.
    pub reasons: Vec<Reason>,
    /// Who may decide, for how long, and how.
    pub terms: Terms,
}

/// The terms of a question, joined over all rules that ask.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// The roles that whoever decides must have, every one; sorted, each once. Empty: anybody.
    pub roles: Vec<String>,
    /// How long the question stands; the shortest of the rules. None: for ever.
    pub expires: Option<Duration>,
    /// The kinds of answers that every rule takes, sorted. None: all. Where rules have none in common, it is to reject.
    pub decisions: Option<Vec<DecisionKind>>,
}

impl Terms {
    /// Joins further terms: all roles, the shorter time, the kinds of answers that are in both.
    pub fn join(&mut self, other: &Self) {
        let roles: BTreeSet<String> = self.roles.drain(..).chain(other.roles.iter().cloned()).collect();
        self.roles = roles.into_iter().collect();
        self.expires = self.expires.into_iter().chain(other.expires).min();
        let Some(others) = &other.decisions else { return };
        let mut common = match self.decisions.take() {
            Some(own) => own.into_iter().filter(|kind| others.contains(kind)).collect(),
            None => others.clone(),
        };
        common.sort_unstable();
        common.dedup();
        if common.is_empty() {
            common.push(DecisionKind::Reject);
        }
        self.decisions = Some(common);
    }
}

impl Terms {
    /// Whether this kind of answer is taken.
    #[must_use]
    pub fn takes(&self, kind: DecisionKind) -> bool {
        self.decisions.as_ref().is_none_or(|kinds| kinds.contains(&kind))
    }
}

impl Decision {
    /// How strict it is.
    #[must_use]
    pub fn ruling(&self) -> Ruling {
        match self {
            Self::Allow => Ruling::Allow,
            Self::Ask(_) => Ruling::Ask,
            Self::Deny { .. } => Ruling::Deny,
        }
    }

    /// The same with one more reason to ask, such as that of a predicate. What is denied stays denied.
    pub fn and_ask(self, reason: Reason, rules: &Rules) -> Self {
        match self {
            Self::Allow => Self::Ask(Ask { reasons: vec![reason], terms: rules.terms() }),
            Self::Ask(mut ask) => {
                ask.reasons.push(reason);
                Self::Ask(ask)
            }
            Self::Deny { .. } => self,
        }
    }
}

/// Decides about one call. More taint or more effects, and less that is known of the argument, never give a looser
/// decision.
pub fn decide(request: &Request<'_>, taint: &Taint, rules: &Rules) -> Decision {
    judge(request, taint, rules).0
}

/// The decision, and the rules that it comes from.
pub(crate) fn judge<'r>(request: &Request<'_>, taint: &Taint, rules: &'r Rules) -> (Decision, Vec<&'r Rule>) {
    let own = rules.effects(request);
    let effects = own | request.carried;
    let mut is_decided = false;
    let mut matching: Vec<(&Rule, Ruling)> = Vec::new();
    for rule in rules.of(request.name) {
        let Some(ruling) = rule.ruling else { continue };
        if !taint.effects().contains(rule.met) || !effects.contains(rule.has) {
            continue;
        }
        let outcome = rule.when.outcome(request.argument);
        // A rule that matches only for what was met, or by what is not known, may make a call stricter than the default,
        // never looser.
        is_decided |= outcome.surely && rule.met.is_empty() && rule.has.is_empty();
        let holds = if ruling == Ruling::Allow { outcome.surely } else { outcome.may };
        if holds {
            matching.push((rule, ruling));
        }
    }
    let default = if is_decided { Ruling::Allow } else { rules.default };
    let of = |wanted: Ruling| {
        let rules = matching.iter().filter(move |(_, ruling)| *ruling == wanted);
        rules.map(|(rule, _)| *rule).collect::<Vec<_>>()
    };
    let denying = of(Ruling::Deny);
    if !denying.is_empty() || default == Ruling::Deny {
        return (Decision::Deny { reasons: reasons(&denying, Ruling::Deny, default) }, denying);
    }
    let asking = of(Ruling::Ask);
    let mut why = Vec::new();
    if request.ask {
        why.push(Reason::Always);
    }
    why.extend(reasons(&asking, Ruling::Ask, default));
    why.extend(rule_of_two::reason(own, request.carried, taint, rules.rule_of_two.unwrap_or(RuleOfTwo::On)));
    if why.is_empty() {
        return (Decision::Allow, of(Ruling::Allow));
    }
    let mut terms = rules.terms();
    for rule in &asking {
        terms.join(&rule.terms);
    }
    (Decision::Ask(Ask { reasons: why, terms }), asking)
}

/// What the rules say, or else the default, if it is the same.
fn reasons(rules: &[&Rule], ruling: Ruling, default: Ruling) -> Vec<Reason> {
    if rules.is_empty() && default == ruling {
        return vec![Reason::Default { ruling }];
    }
    rules.iter().map(|rule| Reason::Rule { line: rule.line, reason: rule.reason.clone() }).collect()
}

#[cfg(test)]
mod tests;
