//! The rule of two (Meta, 2025-10-31): a session meets at most two of private data, untrusted content and acting on
//! the world without a human.

use serde::{Deserialize, Serialize};

use crate::{Effects, Reason, Taint};

/// Whether, and how strictly, the rule of two holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RuleOfTwo {
    /// Not at all. What an engine gets in which no capability declares effects.
    #[default]
    Off,
    /// A call that acts asks when the session would have met all three.
    On,
    /// Any call with an effect asks when the session would have met all three, or has.
    Strict,
}

impl RuleOfTwo {
    pub(crate) const NAMES: [(&'static str, Self); 3] =
        [("on", Self::On), ("strict", Self::Strict), ("off", Self::Off)];
}

/// Why a call asks, if it does. `own` are the effects of the call itself, `carried` those of what its argument holds.
pub(crate) fn reason(own: Effects, carried: Effects, taint: &Taint, rule: RuleOfTwo) -> Option<Reason> {
    let effects = own | carried;
    let complete = (taint.effects() | effects).contains(Effects::ALL);
    let acts = effects.contains(Effects::ACTS);
    let asks = match rule {
        RuleOfTwo::Off => false,
        RuleOfTwo::On => complete && acts,
        RuleOfTwo::Strict => complete && !effects.is_empty(),
    };
    asks.then(|| {
        let mut brought: Vec<String> = taint
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
            .collect();
        // A call that alone has all three, in a session that met nothing, is told in fewer words.
        if !brought.is_empty() || !own.contains(Effects::ALL) {
            brought.extend(added(own, carried, taint.effects()));
        }
        Reason::RuleOfTwo { brought }
    })
}

/// What the call adds to what the session met. That it acts goes without saying, unless it does more.
fn added(own: Effects, carried: Effects, met: Effects) -> Option<String> {
    let new = met.missing_from(own | carried);
    let mut parts = Vec::new();
    if new.contains(Effects::PRIVATE) {
        parts.push(if own.contains(Effects::PRIVATE) { "reads private data" } else { "passes on private data" });
    }
    if new.contains(Effects::UNTRUSTED) {
        parts.push(if own.contains(Effects::UNTRUSTED) {
            "brings untrusted content"
        } else {
            "passes on untrusted content"
        });
    }
    if parts.is_empty() {
        return None;
    }
    if (own | carried).contains(Effects::ACTS) {
        parts.push("acts on the world");
    }
    let last = parts.pop()?;
    let first = parts.join(", ");
    Some(if first.is_empty() { format!("this call {last}") } else { format!("this call {first} and {last}") })
}

#[cfg(test)]
mod tests {
    use super::{RuleOfTwo, reason};
    use crate::{Effects, Taint};

    fn text(met: &[(Effects, &str)], own: Effects, carried: Effects, rule: RuleOfTwo) -> Option<String> {
        let mut taint = Taint::default();
        for (effects, by) in met {
            taint.join(*effects, by);
        }
        reason(own, carried, &taint, rule).map(|reason| reason.to_string())
    }

    const PRIVATE: (Effects, &str) = (Effects::PRIVATE, "budget.read (call 1.2, line 4)");
    const UNTRUSTED: (Effects, &str) = (Effects::UNTRUSTED, "rsvps.list (call 1.1, line 3)");
    const ACTED: (Effects, &str) = (Effects::ACTS, "pay (call 1.3)");

    #[test]
    fn the_reason_names_who_brought_what() {
        let none = Effects::NONE;
        let table = [
            (
                text(&[PRIVATE, UNTRUSTED], Effects::ACTS, none, RuleOfTwo::On),
                "rule of two: budget.read (call 1.2, line 4) brought private data; rsvps.list (call 1.1, line 3) brought untrusted content",
            ),
            (
                text(&[UNTRUSTED], Effects::ACTS | Effects::PRIVATE, none, RuleOfTwo::On),
                "rule of two: rsvps.list (call 1.1, line 3) brought untrusted content; this call reads private data and acts on the world",
            ),
            (
                text(&[UNTRUSTED], Effects::ACTS, Effects::PRIVATE, RuleOfTwo::On),
                "rule of two: rsvps.list (call 1.1, line 3) brought untrusted content; this call passes on private data and acts on the world",
            ),
            (
                text(&[], Effects::ACTS, Effects::PRIVATE | Effects::UNTRUSTED, RuleOfTwo::On),
                "rule of two: this call passes on private data, passes on untrusted content and acts on the world",
            ),
            (
                text(&[ACTED, UNTRUSTED], Effects::PRIVATE, none, RuleOfTwo::Strict),
                "rule of two: pay (call 1.3) acted on the world; rsvps.list (call 1.1, line 3) brought untrusted content; this call reads private data",
            ),
            (text(&[], Effects::ALL, none, RuleOfTwo::On), "rule of two: has all three effects"),
            (
                text(&[PRIVATE], Effects::ALL, none, RuleOfTwo::On),
                "rule of two: budget.read (call 1.2, line 4) brought private data; this call brings untrusted content and acts on the world",
            ),
        ];
        for (found, expected) in table {
            assert_eq!(found.as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_read_that_completes_the_three_asks_only_when_strict() {
        assert_eq!(text(&[ACTED, UNTRUSTED], Effects::PRIVATE, Effects::NONE, RuleOfTwo::On), None);
        assert_eq!(text(&[PRIVATE, UNTRUSTED], Effects::ACTS, Effects::NONE, RuleOfTwo::Off), None);
        assert_eq!(text(&[PRIVATE], Effects::ACTS, Effects::NONE, RuleOfTwo::Strict), None);
        assert_eq!(text(&[PRIVATE, UNTRUSTED, ACTED], Effects::NONE, Effects::NONE, RuleOfTwo::Strict), None);
    }
}
