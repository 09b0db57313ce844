//! What an expression may be, as far as tools are reached through it.

use super::tree::{Node, ROOT};

/// What an expression may be. `at` is the offset at which it is named last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Nothing of what follows.
    Other,
    /// A place in the tree of tools; where it is not sure, a property `tools` of something, which may be another thing.
    Tools { node: Node, sure: bool, at: u32 },
    /// A name under `tools` that is not there, as it is written.
    Missing { path: String, at: u32 },
    /// The global object.
    Global { at: u32 },
    /// `this` where it can be the global object.
    This { at: u32 },
}

impl Value {
    pub(super) fn root(sure: bool, at: u32) -> Self {
        Self::Tools { node: ROOT, sure, at }
    }

    /// The same, named at another place.
    pub(super) fn named_at(self, at: u32) -> Self {
        match self {
            Self::Other => Self::Other,
            Self::Tools { node, sure, .. } => Self::Tools { node, sure, at },
            Self::Missing { path, .. } => Self::Missing { path, at },
            Self::Global { .. } => Self::Global { at },
            Self::This { .. } => Self::This { at },
        }
    }

    /// Whether nothing is reached through it.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self, Self::Other | Self::Missing { .. })
    }
}
