//! What a capability does, in the three words of Meta's rule of two.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

use serde::{Deserialize, Serialize};

/// A set of effects. The operator declares them; the program never does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Effects(u8);

impl Effects {
    /// No effect: computes, or reads what is public.
    pub const NONE: Self = Self(0);
    /// Reads sensitive data.
    pub const PRIVATE: Self = Self(1);
    /// Brings content that an attacker may have written.
    pub const UNTRUSTED: Self = Self(2);
    /// Changes state or talks outward.
    pub const ACTS: Self = Self(4);
    /// All three; what an unlabelled capability counts as once any capability is labelled.
    pub const ALL: Self = Self(7);

    const NAMES: [(Self, &'static str); 3] =
        [(Self::PRIVATE, "private"), (Self::UNTRUSTED, "untrusted"), (Self::ACTS, "acts")];

    /// Whether every effect of `other` is in this set.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The effects that are in `other` and not here.
    #[must_use]
    pub fn missing_from(self, other: Self) -> Self {
        Self(other.0 & !self.0)
    }

    /// The effect with this name: `private`, `untrusted` or `acts`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(effect, _)| *effect)
    }

    /// The names in the set, in a fixed order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().filter(move |(effect, _)| self.contains(*effect)).map(|(_, name)| name)
    }

    /// The single effects in the set, in a fixed order.
    pub fn each(self) -> impl Iterator<Item = Self> {
        Self::NAMES.into_iter().map(|(effect, _)| effect).filter(move |effect| self.contains(*effect))
    }
}

impl BitOr for Effects {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Effects {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Display for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        f.write_str(&self.names().collect::<Vec<_>>().join(" + "))
    }
}

#[cfg(test)]
mod tests {
    use super::Effects;

    #[test]
    fn names_go_both_ways() {
        for name in ["private", "untrusted", "acts"] {
            let effect = Effects::from_name(name).unwrap();
            assert_eq!(effect.to_string(), name);
        }
        assert_eq!(Effects::from_name("reads"), None);
        assert_eq!(Effects::ALL.to_string(), "private + untrusted + acts");
        assert_eq!(Effects::NONE.to_string(), "none");
    }

    #[test]
    fn missing_is_what_the_other_adds() {
        let had = Effects::PRIVATE | Effects::ACTS;
        assert_eq!(had.missing_from(Effects::ALL), Effects::UNTRUSTED);
        assert_eq!(Effects::ALL.missing_from(had), Effects::NONE);
    }
}
