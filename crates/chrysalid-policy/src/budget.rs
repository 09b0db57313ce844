//! Budgets: how much may be spent, and what was.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Reason;

/// What a budget is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One program.
    #[default]
    Program,
    /// All programs of a session.
    Session,
    /// A session and all that it spawned.
    Run,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Program => "program",
            Self::Session => "session",
            Self::Run => "run",
        })
    }
}

/// How much may be spent. None is without a bound.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// What it is for.
    pub scope: Scope,
    /// Calls, of whatever capability.
    pub calls: Option<u32>,
    /// Calls of single capabilities, by name.
    pub calls_by_name: BTreeMap<String, u32>,
    /// Bytes of arguments and results.
    pub bytes: Option<u64>,
    /// Sessions spawned.
    pub spawns: Option<u32>,
    /// Levels of sessions below the first.
    pub depth: Option<u32>,
}

impl Budget {
    /// A budget without bounds.
    #[must_use]
    pub fn of(scope: Scope) -> Self {
        Self { scope, ..Self::default() }
    }
}

/// What one step would spend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost<'a> {
    /// The capability of a call, if it is one.
    pub call: Option<&'a str>,
    /// Bytes of arguments and results.
    pub bytes: u64,
    /// Sessions spawned.
    pub spawns: u32,
    /// The level that a spawned session would have: 1 below the first.
    pub depth: u32,
}

/// What a budget is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Resource {
    /// Calls, of whatever capability.
    Calls,
    /// Calls of one capability, by its name.
    CallsOf(String),
    /// Bytes of arguments and results.
    Bytes,
    /// Sessions spawned.
    Spawns,
    /// Levels of sessions.
    Depth,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Calls => f.write_str("calls"),
            Self::CallsOf(name) => write!(f, "calls of {name}"),
            Self::Bytes => f.write_str("bytes"),
            Self::Spawns => f.write_str("subagents"),
            Self::Depth => f.write_str("levels of subagents"),
        }
    }
}

/// A budget that is not enough for a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exhausted {
    /// Whose budget.
    pub scope: Scope,
    /// What of.
    pub what: Resource,
    /// How much of it there was.
    pub bound: u64,
    /// How much of it was spent before the step.
    pub spent: u64,
}

impl Exhausted {
    /// The same as a reason of a decision.
    #[must_use]
    pub fn reason(&self) -> Reason {
        Reason::Budget { what: format!("{} of the {}", self.what, self.scope), bound: self.bound }
    }
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scope, what, bound, spent } = self;
        let (s, them) = if *bound == 1 { ("", "it") } else { ("s", "them") };
        match what {
            Resource::Calls => write!(f, "this {scope} may make {bound} call{s} and has made {them}"),
            Resource::CallsOf(name) => write!(f, "this {scope} may call {name} {bound} time{s} and has done so"),
            Resource::Bytes => write!(f, "this {scope} may exchange {bound} byte{s}, of which {spent} are used"),
            Resource::Spawns => write!(f, "this {scope} may spawn {bound} subagent{s} and has spawned {spent}"),
            Resource::Depth => write!(f, "subagents may be nested {bound} level{s} deep"),
        }
    }
}

/// What was spent. Counts stay at their highest value once there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Calls, of whatever capability.
    pub calls: u32,
    /// Calls of each capability, by name.
    pub calls_by_name: BTreeMap<String, u32>,
    /// Bytes of arguments and results.
    pub bytes: u64,
    /// Sessions spawned.
    pub spawns: u32,
    /// Wall clock outside pauses, in milliseconds. No step costs any: whoever has a clock counts it.
    pub wall_millis: f64,
}

impl Spent {
    /// The first bound that a step would exceed.
    #[must_use]
    pub fn would_exceed(&self, budget: &Budget, cost: &Cost<'_>) -> Option<Exhausted> {
        let over = |what: Resource, spent: u64, more: u64, bound: Option<u64>| {
            let bound = bound.filter(|bound| more > 0 && spent.saturating_add(more) > *bound)?;
            Some(Exhausted { scope: budget.scope, what, bound, spent })
        };
        let calls = u64::from(cost.call.is_some());
        let of_name = || self.no_call_left(budget.scope, cost.call?, *budget.calls_by_name.get(cost.call?)?);
        over(Resource::Calls, self.calls.into(), calls, budget.calls.map(u64::from))
            .or_else(of_name)
            .or_else(|| over(Resource::Bytes, self.bytes, cost.bytes, budget.bytes))
            .or_else(|| over(Resource::Spawns, self.spawns.into(), cost.spawns.into(), budget.spawns.map(u64::from)))
            .or_else(|| over(Resource::Depth, 0, cost.depth.into(), budget.depth.map(u64::from)))
    }

    /// Whether one more call of a capability is more than this bound.
    #[must_use]
    pub fn no_call_left(&self, scope: Scope, name: &str, bound: u32) -> Option<Exhausted> {
        let spent = self.calls_of(name);
        let over =
            || Exhausted { scope, what: Resource::CallsOf(name.to_owned()), bound: bound.into(), spent: spent.into() };
        (spent >= bound).then(over)
    }

    /// Counts a step.
    pub fn spend(&mut self, cost: &Cost<'_>) {
        if let Some(name) = cost.call {
            self.calls = self.calls.saturating_add(1);
            let calls = self.calls_by_name.entry(name.to_owned()).or_default();
            *calls = calls.saturating_add(1);
        }
        self.bytes = self.bytes.saturating_add(cost.bytes);
        self.spawns = self.spawns.saturating_add(cost.spawns);
    }

    /// Takes the higher of each count. So to go back to an earlier state gives nothing back.
    pub fn join(&mut self, other: &Self) {
        self.calls = self.calls.max(other.calls);
        self.bytes = self.bytes.max(other.bytes);
        self.spawns = self.spawns.max(other.spawns);
        self.wall_millis = self.wall_millis.max(other.wall_millis);
        for (name, calls) in &other.calls_by_name {
            let own = self.calls_by_name.entry(name.clone()).or_default();
            *own = (*own).max(*calls);
        }
    }

    /// Calls of one capability.
    #[must_use]
    pub fn calls_of(&self, name: &str) -> u32 {
        self.calls_by_name.get(name).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Cost, Scope, Spent};

    fn call(name: &str) -> Cost<'_> {
        Cost { call: Some(name), bytes: 10, ..Cost::default() }
    }

    #[test]
    fn a_step_that_is_too_much_is_told() {
        let mut budget =
            Budget { calls: Some(3), bytes: Some(35), spawns: Some(1), depth: Some(2), ..Budget::of(Scope::Session) };
        budget.calls_by_name.insert("pay".into(), 1);
        let mut spent = Spent::default();
        assert_eq!(spent.would_exceed(&budget, &call("pay")), None);
        spent.spend(&call("pay"));
        let over = spent.would_exceed(&budget, &call("pay")).unwrap();
        assert_eq!(over.to_string(), "this session may call pay 1 time and has done so");
        assert_eq!(over.reason().to_string(), "no calls of pay of the session left of 1");
        spent.spend(&call("read"));
        assert_eq!(spent.would_exceed(&budget, &call("read")), None);
        let large = Cost { bytes: 16, ..call("read") };
        let over = spent.would_exceed(&budget, &large).unwrap();
        assert_eq!(over.to_string(), "this session may exchange 35 bytes, of which 20 are used");
        spent.spend(&call("read"));
        let over = spent.would_exceed(&budget, &call("read")).unwrap();
        assert_eq!(over.to_string(), "this session may make 3 calls and has made them");
        let spawn = |depth| Cost { spawns: 1, depth, ..Cost::default() };
        assert_eq!(spent.would_exceed(&budget, &spawn(2)), None);
        let over = spent.would_exceed(&budget, &spawn(3)).unwrap();
        assert_eq!(over.to_string(), "subagents may be nested 2 levels deep");
        spent.spend(&spawn(1));
        let over = spent.would_exceed(&budget, &spawn(1)).unwrap();
        assert_eq!(over.to_string(), "this session may spawn 1 subagent and has spawned 1");
        assert_eq!(spent.would_exceed(&budget, &Cost::default()), None);
        assert_eq!(spent.would_exceed(&Budget::default(), &large), None);
    }

    #[test]
    fn counts_do_not_wrap() {
        let mut spent = Spent { calls: u32::MAX, bytes: u64::MAX, spawns: u32::MAX, ..Spent::default() };
        spent.spend(&Cost { spawns: 1, ..call("a") });
        assert_eq!((spent.calls, spent.bytes, spent.spawns), (u32::MAX, u64::MAX, u32::MAX));
        let budget = Budget { bytes: Some(u64::MAX - 1), ..Budget::default() };
        assert_eq!(spent.would_exceed(&budget, &call("a")).unwrap().bound, u64::MAX - 1);
    }

    #[test]
    fn to_join_takes_the_higher_counts() {
        let (mut one, mut other) = (Spent::default(), Spent::default());
        one.spend(&call("a"));
        one.spend(&call("a"));
        other.spend(&call("b"));
        other.spawns = 4;
        (one.wall_millis, other.wall_millis) = (70.5, 9.0);
        let before = one.clone();
        one.join(&other);
        assert_eq!((one.wall_millis, other.wall_millis), (70.5, 9.0));
        assert_eq!((one.calls, one.bytes, one.spawns, one.calls_of("a"), one.calls_of("b")), (2, 20, 4, 2, 1));
        one.join(&before);
        one.join(&other);
        assert_eq!((one.calls, one.calls_of("a"), one.calls_of("b")), (2, 2, 1));
    }
}
