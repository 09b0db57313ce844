//! The record of a session's calls, with an index of those that are still open: a program that makes many calls must not
//! pay at each for all that came before.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::state::StoredCall;
use crate::call::CallStatus;

/// Calls by number. In bytes it is the map alone; the index is made anew.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    by_number: BTreeMap<u32, StoredCall>,
    open: BTreeSet<u32>,
    /// Bytes of the host that ended calls take.
    held_by_ended: usize,
}

/// Records of ended calls that are kept when a program begins.
const KEPT: usize = 4096;

impl Calls {
    pub(crate) fn insert(&mut self, number: u32, call: StoredCall) {
        if call.open.is_some() {
            self.open.insert(number);
        } else {
            self.held_by_ended += call.held();
        }
        self.by_number.insert(number, call);
    }

    /// Forgets the oldest ended calls: a session that lives long must not grow with all that it ever did.
    pub(crate) fn forget_oldest(&mut self) {
        let many = self.by_number.len().saturating_sub(self.open.len() + KEPT);
        let oldest: Vec<u32> =
            self.by_number.keys().copied().filter(|number| !self.open.contains(number)).take(many).collect();
        for call in oldest.into_iter().filter_map(|number| self.by_number.remove(&number)) {
            self.held_by_ended = self.held_by_ended.saturating_sub(call.held());
        }
    }

    pub(super) fn held_by_ended(&self) -> usize {
        self.held_by_ended
    }

    pub(crate) fn get(&self, number: u32) -> Option<&StoredCall> {
        self.by_number.get(&number)
    }

    /// A call to change; ended ones are closed by [`Calls::end`].
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut StoredCall> {
        self.by_number.get_mut(&number)
    }

    /// All calls, in the order they were made.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, &StoredCall)> {
        self.by_number.iter().map(|(number, call)| (*number, call))
    }

    /// Calls that have not ended, in the order they were made. They belong to the program that runs.
    pub(crate) fn open(&self) -> impl Iterator<Item = (u32, &StoredCall)> {
        self.open.iter().filter_map(|number| Some((*number, self.by_number.get(number)?)))
    }

    /// Open calls with this status, in the order they were made.
    pub(crate) fn with_status(&self, status: CallStatus) -> impl Iterator<Item = (u32, &StoredCall)> {
        self.open().filter(move |(_, call)| call.status == status)
    }

    pub(crate) fn count(&self, status: CallStatus) -> usize {
        self.with_status(status).count()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_number.len()
    }

    /// Ends a call: what only an open one needs is dropped.
    pub(crate) fn end(&mut self, number: u32, status: CallStatus, now_millis: f64) {
        let was_open = self.open.remove(&number);
        let Some(call) = self.by_number.get_mut(&number) else { return };
        call.status = status;
        if let Some(started) = call.open.take().and_then(|open| open.started_millis) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
            let took = (now_millis - started).clamp(0.0, f64::from(u32::MAX)) as u32;
            call.took_millis = Some(took);
        }
        if was_open {
            self.held_by_ended += call.held();
        }
    }
}

impl Serialize for Calls {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.by_number.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Calls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let by_number = BTreeMap::<u32, StoredCall>::deserialize(deserializer)?;
        let open = by_number.iter().filter(|(_, call)| call.open.is_some()).map(|(number, _)| *number).collect();
        let ended = by_number.values().filter(|call| call.open.is_none());
        let held_by_ended = ended.map(StoredCall::held).sum();
        Ok(Self { by_number, open, held_by_ended })
    }
}
