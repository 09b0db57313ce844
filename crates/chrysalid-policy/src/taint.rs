//! Which effects a session has met, and which call brought each. Only grows.

use serde::{Deserialize, Serialize};

use crate::Effects;

/// The first call that brought an effect.
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

    /// Where each effect came from first.
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

    /// Adds all of another taint, as at the end of a subagent.
    pub fn join_all(&mut self, other: &Self) {
        for brought in &other.brought {
            self.join(brought.effect, &brought.by);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Brought, Effects, Taint};

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
