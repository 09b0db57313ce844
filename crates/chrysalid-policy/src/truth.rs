//! What a test says of a value: yes, no, or that it cannot be told; and what follows from many of them.

use std::ops::Not;

use crate::argument::Argument;

/// The most values that one test looks at in one argument. Of the rest it cannot be told.
pub(crate) const MAX_LEAVES: usize = 100_000;

/// What a test says of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    Yes,
    No,
    Unknown,
}

impl Truth {
    /// Whether both hold.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Yes, Self::Yes) => Self::Yes,
            _ => Self::Unknown,
        }
    }

    /// Whether one of them holds.
    pub(crate) fn or(self, other: Self) -> Self {
        !(!self).and(!other)
    }
}

impl Not for Truth {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            Self::Unknown => Self::Unknown,
        }
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

/// What tests say of a whole argument. What surely holds may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// It holds, or cannot be told: enough for what tightens.
    pub may: bool,
    /// It holds: needed for what loosens.
    pub surely: bool,
}

impl Outcome {
    pub(crate) const ALWAYS: Self = Self { may: true, surely: true };
    pub(crate) const NEVER: Self = Self { may: false, surely: false };
    pub(crate) const UNKNOWN: Self = Self { may: true, surely: false };

    /// Both, each in its own direction.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { may: self.may && other.may, surely: self.surely && other.surely }
    }
}

impl From<Truth> for Outcome {
    fn from(truth: Truth) -> Self {
        match truth {
            Truth::Yes => Self::ALWAYS,
            Truth::No => Self::NEVER,
            Truth::Unknown => Self::UNKNOWN,
        }
    }
}

/// What stands at the end of a path.
#[derive(Clone, Copy)]
pub(crate) enum Seen<'a> {
    Value(&'a dyn Argument),
    Missing,
    /// Something that is not read, or has no such place.
    Hidden,
}

/// A test of one value. It lessens the number that it is given by the further values that it looks at.
pub(crate) type LeafTest<'a, 't> = &'t dyn Fn(Seen<'a>, &mut usize) -> Outcome;

/// Gathers what a test says of each value that it looks at: one that may hold is enough to tighten, and to loosen there
/// must be one and all must surely hold.
pub(crate) struct Leaves<'a, 't> {
    test: LeafTest<'a, 't>,
    left: &'t mut usize,
    any_may: bool,
    any: bool,
    all_surely: bool,
}

impl<'a, 't> Leaves<'a, 't> {
    /// Looks at `left` values at most, and lessens it by those it looked at.
    pub(crate) fn new(test: LeafTest<'a, 't>, left: &'t mut usize) -> Self {
        Self { test, left, any_may: false, any: false, all_surely: true }
    }

    pub(crate) fn see(&mut self, seen: Seen<'a>) {
        let outcome = match self.left.checked_sub(1) {
            None => Outcome::UNKNOWN,
            Some(left) => {
                *self.left = left;
                (self.test)(seen, self.left)
            }
        };
        self.any = true;
        self.any_may |= outcome.may;
        self.all_surely &= outcome.surely;
    }

    /// Whether no further value changes the outcome.
    pub(crate) fn is_settled(&self) -> bool {
        self.any_may && !self.all_surely
    }

    pub(crate) fn outcome(&self) -> Outcome {
        Outcome { may: self.any_may, surely: self.any && self.all_surely }
    }
}
