//! Why a person is asked, or a call is refused.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::quote::quoted;

/// What a rule, or the default, says about a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ruling {
    /// It runs.
    #[default]
    Allow,
    /// A person decides.
    Ask,
    /// It does not run.
    Deny,
}

impl Ruling {
    pub(crate) const NAMES: [(&'static str, Self); 3] =
        [("allow", Self::Allow), ("ask", Self::Ask), ("deny", Self::Deny)];

    /// Its name in a file: `allow`, `ask` or `deny`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
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
    /// With this call the session meets all three effects; `brought` says what was met before, by which call, and what
    /// this call adds.
    RuleOfTwo {
        /// One sentence part for each bringer of an effect.
        brought: Vec<String>,
    },
    /// A rule of the operator.
    Rule {
        /// The line of the rule in its file, from 1.
        line: u32,
        /// What the rule says to people.
        reason: String,
    },
    /// No rule matched, and the default is not to allow.
    Default {
        /// The default.
        ruling: Ruling,
    },
    /// The capability's own predicate asked for these arguments, or failed.
    Predicate {
        /// What it said; empty when it said nothing.
        why: String,
    },
    /// The program as a whole waits for an approval.
    Program,
    /// The call is not in the plan that was approved.
    Unplanned,
    /// A budget is spent.
    Budget {
        /// What of, in words, such as `calls of the session`.
        what: String,
        /// How much of it there was.
        bound: u64,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always => f.write_str("asks each time"),
            Self::Changed => f.write_str("the tool was changed since the call was made"),
            Self::RuleOfTwo { brought } if brought.is_empty() => f.write_str("rule of two: has all three effects"),
            Self::RuleOfTwo { brought } => write!(f, "rule of two: {}", brought.join("; ")),
            Self::Rule { line, reason } => write!(f, "{} (policy line {line})", quoted(reason)),
            Self::Default { ruling } => {
                write!(f, "no rule of the policy decides; its default is {}", quoted(ruling.name()))
            }
            Self::Predicate { why } if why.is_empty() => f.write_str("the tool asks for these arguments"),
            Self::Predicate { why } => f.write_str(why),
            Self::Program => f.write_str("the program as a whole waits for approval"),
            Self::Unplanned => f.write_str("not in the plan that was approved"),
            Self::Budget { what, bound } => write!(f, "no {what} left of {bound}"),
        }
    }
}
