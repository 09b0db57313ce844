//! The decision about one call: the strictest of the capability's own approval and the rule of two.
//!
//! Rule of two (Meta, 2025-10-31): a session meets at most two of private data, untrusted content and acting on the
//! world without a human.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Effects, Taint};

/// What is about to happen.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Name of the capability.
    pub name: &'a str,
    /// Its effects for these arguments.
    pub effects: Effects,
    /// Whether the capability itself always asks.
    pub ask: bool,
}

/// Whether, and how strictly, the rule of two holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RuleOfTwo {
    /// Not at all. What an engine gets in which no capability declares effects.
    #[default]
    Off,
    /// A call that acts asks when the session would have met all three.
    On,
    /// Any call with an effect asks when the session would have met all three, or has.
    Strict,
}

/// The rules of an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Rules {
    /// The rule of two.
    pub rule_of_two: RuleOfTwo,
}

impl Rules {
    /// Rules with nothing but the rule of two.
    #[must_use]
    pub fn with_rule_of_two(rule_of_two: RuleOfTwo) -> Self {
        Self { rule_of_two }
    }
}

/// Why a person is asked, or a call is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Reason {
    /// The capability is declared to ask each time.
    Always,
    /// The capability is not what it was when the call was made.
    Changed,
    /// With this call the session meets all three effects; `brought` says what was met before, and by which call.
    RuleOfTwo {
        /// One sentence part for each effect met before.
        brought: Vec<String>,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always => f.write_str("asks each time"),
            Self::Changed => f.write_str("the tool was changed since the call was made"),
            Self::RuleOfTwo { brought } if brought.is_empty() => f.write_str("rule of two: has all three effects"),
            Self::RuleOfTwo { brought } => write!(f, "rule of two: {}", brought.join("; ")),
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
    Ask {
        /// Why; never empty.
        reasons: Vec<Reason>,
    },
    /// It does not run.
    Deny {
        /// Why; never empty.
        reasons: Vec<Reason>,
    },
}

/// Decides about one call. More taint never gives a looser decision.
pub fn decide(request: &Request<'_>, taint: &Taint, rules: &Rules) -> Decision {
    let mut reasons = Vec::new();
    if request.ask {
        reasons.push(Reason::Always);
    }
    if let Some(reason) = rule_of_two(request, taint, rules.rule_of_two) {
        reasons.push(reason);
    }
    if reasons.is_empty() { Decision::Allow } else { Decision::Ask { reasons } }
}

fn rule_of_two(request: &Request<'_>, taint: &Taint, rule: RuleOfTwo) -> Option<Reason> {
    let before = taint.effects();
    let complete = (before | request.effects).contains(Effects::ALL);
    let acts = request.effects.contains(Effects::ACTS);
    let asks = match rule {
        RuleOfTwo::Off => false,
        RuleOfTwo::On => complete && acts,
        RuleOfTwo::Strict => complete && !request.effects.is_empty(),
    };
    asks.then(|| Reason::RuleOfTwo {
        brought: taint
            .provenance()
            .iter()
            .map(|brought| {
                let what = match brought.effect {
                    Effects::PRIVATE => "brought private data",
                    Effects::UNTRUSTED => "brought untrusted content",
                    _ => "acted on the world",
                };
                format!("{} {what}", brought.by)
            })
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rank(decision: &Decision) -> u8 {
        match decision {
            Decision::Allow => 0,
            Decision::Ask { .. } => 1,
            Decision::Deny { .. } => 2,
        }
    }

    fn effects() -> impl Strategy<Value = Effects> {
        (0u8..8).prop_map(|bits| {
            Effects::ALL.each().enumerate().filter(|(i, _)| bits & (1 << i) != 0).fold(Effects::NONE, |s, (_, e)| s | e)
        })
    }

    fn rule() -> impl Strategy<Value = RuleOfTwo> {
        prop_oneof![Just(RuleOfTwo::Off), Just(RuleOfTwo::On), Just(RuleOfTwo::Strict)]
    }

    proptest! {
        #[test]
        fn taint_never_loosens(call in effects(), had in effects(), more in effects(), ask: bool, rule in rule()) {
            let rules = Rules::with_rule_of_two(rule);
            let request = Request { name: "x", effects: call, ask };
            let mut taint = Taint::default();
            taint.join(had, "a");
            let before = rank(&decide(&request, &taint, &rules));
            taint.join(more, "b");
            prop_assert!(rank(&decide(&request, &taint, &rules)) >= before);
        }
    }

    #[test]
    fn the_third_leg_asks_and_names_who_brought_the_others() {
        let mut taint = Taint::default();
        taint.join(Effects::PRIVATE, "budget.read (call 1.2)");
        taint.join(Effects::UNTRUSTED, "rsvps.list (call 1.1)");
        let mail = Request { name: "mail.send", effects: Effects::ACTS, ask: false };
        let Decision::Ask { reasons } = decide(&mail, &taint, &Rules::with_rule_of_two(RuleOfTwo::On)) else {
            panic!("not asked");
        };
        assert_eq!(
            reasons[0].to_string(),
            "rule of two: budget.read (call 1.2) brought private data; rsvps.list (call 1.1) brought untrusted content"
        );
        assert_eq!(decide(&mail, &taint, &Rules::default()), Decision::Allow);
    }

    #[test]
    fn a_read_that_completes_the_three_asks_only_when_strict() {
        let mut taint = Taint::default();
        taint.join(Effects::ACTS | Effects::UNTRUSTED, "a");
        let read = Request { name: "budget.read", effects: Effects::PRIVATE, ask: false };
        assert_eq!(decide(&read, &taint, &Rules::with_rule_of_two(RuleOfTwo::On)), Decision::Allow);
        assert_eq!(rank(&decide(&read, &taint, &Rules::with_rule_of_two(RuleOfTwo::Strict))), 1);
    }
}
