//! Which effects a session has met, and which call brought each. Only grows.

use serde::{Deserialize, Serialize};

use crate::Effects;

/// The most bringers that are kept.
const MAX_BROUGHT: usize = 24;

/// A call that brought an effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brought {
    /// The effect, a set of one.
    pub effect: Effects,
    /// The call, in words for a person, such as `budget.read (call 1.2)`.
    pub by: String,
}

/// The effects that a session has met, with where each came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taint {
    brought: Vec<Brought>,
}

impl Taint {
    /// All effects met so far.
    #[must_use]
    pub fn effects(&self) -> Effects {
        self.brought.iter().fold(Effects::NONE, |sum, brought| sum | brought.effect)
    }

    /// Where each effect came from first, here and in what was joined.
    #[must_use]
    pub fn provenance(&self) -> &[Brought] {
        &self.brought
    }

    /// Adds effects. The first bringer of an effect is kept.
    pub fn join(&mut self, effects: Effects, by: &str) {
        for effect in self.effects().missing_from(effects).each() {
            self.brought.push(Brought { effect, by: by.to_owned() });
        }
    }

    /// Adds all of another taint, as at the end of a subagent. The bringers of both are kept, each once, up to a
    /// bound; there it is one of each effect that stays.
    pub fn join_all(&mut self, other: &Self) {
        for brought in &other.brought {
            let is_new = !self.effects().contains(brought.effect);
            if is_new || (self.brought.len() < MAX_BROUGHT && !self.brought.contains(brought)) {
                self.brought.push(brought.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Brought, Effects, MAX_BROUGHT, Taint};

    fn taints() -> impl Strategy<Value = Taint> {
        let one = (0usize..3, "[a-d]").prop_map(|(effect, by)| (Effects::ALL.each().nth(effect).unwrap(), by));
        prop::collection::vec(one, 0..6).prop_map(|all| {
            let mut taint = Taint::default();
            for (effect, by) in all {
                let mut more = Taint::default();
                more.join(effect, &by);
                taint.join_all(&more);
            }
            taint
        })
    }

    fn joined(one: &Taint, other: &Taint) -> Taint {
        let mut taint = one.clone();
        taint.join_all(other);
        taint
    }

    proptest! {
        #[test]
        fn to_join_is_commutative_idempotent_and_only_adds(one in taints(), other in taints(), third in taints()) {
            let both = joined(&one, &other);
            prop_assert_eq!(both.effects(), joined(&other, &one).effects());
            prop_assert_eq!(both.effects(), one.effects() | other.effects());
            prop_assert_eq!(joined(&both, &other), both.clone());
            prop_assert_eq!(joined(&one, &one), one.clone());
            prop_assert_eq!(joined(&both, &third), joined(&one, &joined(&other, &third)));
            for brought in one.provenance().iter().chain(other.provenance()) {
                prop_assert!(both.provenance().contains(brought));
            }
        }
    }

    #[test]
    fn an_effect_is_never_lost_to_the_bound() {
        let mut taint = Taint::default();
        for number in 0..100 {
            let mut more = Taint::default();
            more.join(Effects::PRIVATE, &format!("call {number}"));
            taint.join_all(&more);
        }
        assert_eq!(taint.provenance().len(), MAX_BROUGHT);
        let mut more = Taint::default();
        more.join(Effects::ACTS, "pay");
        taint.join_all(&more);
        assert_eq!(taint.effects(), Effects::PRIVATE | Effects::ACTS);
        assert_eq!(taint.provenance().len(), MAX_BROUGHT + 1);
    }

    #[test]
    fn the_first_bringer_is_kept() {
        let mut taint = Taint::default();
        taint.join(Effects::PRIVATE, "a");
        taint.join(Effects::PRIVATE | Effects::ACTS, "b");
        assert_eq!(
            taint.provenance(),
            [Brought { effect: Effects::PRIVATE, by: "a".into() }, Brought { effect: Effects::ACTS, by: "b".into() },]
        );
        assert_eq!(taint.effects(), Effects::PRIVATE | Effects::ACTS);
    }
}
