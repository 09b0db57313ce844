//! Values that stay on the host, as a program holds them.

use std::fmt;
use std::sync::Arc;

/// A value that the host keeps: a program may store it, compare it and pass it on, and cannot read it.
///
/// Only the host makes one. In a program it is an opaque object, the same one wherever the number is the same; it crosses
/// in arguments, values, errors and console lines as itself.
///
/// To serde and in JSON it is `{"$handle": 3, "of": "rsvps.list"}`. That object alone is no handle again: where JSON becomes
/// a [`Value`](super::Value), it stays the object that it is, so that no text can make one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Handle {
    /// Which of its session, from 1.
    pub id: u32,
    /// Name of the capability that the value came from.
    pub name: Arc<str>,
}

impl Handle {
    /// The handle of that number, from 1, of a capability.
    pub fn new(id: u32, name: impl Into<Arc<str>>) -> Self {
        Self { id, name: name.into() }
    }
}

/// `[handle 3 of rsvps.list]`, with the name as it is.
impl fmt::Display for Handle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "[handle {} of {}]", self.id, self.name)
    }
}

/// Keys of the object that JSON has for one.
pub(super) const ID: &str = "$handle";
pub(super) const NAME: &str = "of";

#[derive(serde::Serialize, serde::Deserialize)]
struct Written {
    #[serde(rename = "$handle")]
    id: u32,
    of: String,
}

impl From<Written> for Handle {
    fn from(written: Written) -> Self {
        Self::new(written.id, written.of)
    }
}

impl From<Handle> for Written {
    fn from(handle: Handle) -> Self {
        Self { id: handle.id, of: handle.name.as_ref().to_owned() }
    }
}
