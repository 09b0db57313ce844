//! The record of a session's calls, with an index of those that are still open: a program that makes many calls must not
//! pay at each for all that came before.

use std::collections::BTreeMap;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::state::StoredCall;
use crate::call::CallStatus;

/// Calls by number, open ones apart: they are few, and looked at again and again. In bytes it is one map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    open: BTreeMap<u32, StoredCall>,
    ended: BTreeMap<u32, StoredCall>,
    /// Bytes of the host that ended calls take.
    held_by_ended: usize,
}

/// Records of ended calls that are kept when a program begins.
const KEPT: usize = 4096;

impl Calls {
    pub(crate) fn insert(&mut self, number: u32, call: StoredCall) {
        if call.open.is_some() {
            self.open.insert(number, call);
        } else {
            self.held_by_ended += call.held();
            self.ended.insert(number, call);
        }
    }

    /// Forgets the oldest ended calls: a session that lives long must not grow with all that it ever did.
    pub(crate) fn forget_oldest(&mut self) {
        while self.ended.len() > KEPT
            && let Some((_, call)) = self.ended.pop_first()
        {
            self.held_by_ended = self.held_by_ended.saturating_sub(call.held());
        }
    }

    pub(super) fn held_by_ended(&self) -> usize {
        self.held_by_ended
    }

    pub(crate) fn get(&self, number: u32) -> Option<&StoredCall> {
        self.open.get(&number).or_else(|| self.ended.get(&number))
    }

    /// A call to change; open ones are closed by [`Calls::end`].
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut StoredCall> {
        match self.open.get_mut(&number) {
            None => self.ended.get_mut(&number),
            open => open,
        }
    }

    /// All calls, in the order they were made.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &StoredCall)> {
        merged(self.open.iter(), self.ended.iter(), |one, other| one < other)
    }

    /// All calls, the latest first.
    pub(crate) fn latest_first(&self) -> impl Iterator<Item = (u32, &StoredCall)> {
        merged(self.open.iter().rev(), self.ended.iter().rev(), |one, other| one > other)
    }

    /// Calls that have not ended, in the order they were made. They belong to the program that runs.
    pub(crate) fn open(&self) -> impl Iterator<Item = (u32, &StoredCall)> {
        self.open.iter().map(|(number, call)| (*number, call))
    }

    /// Open calls with this status, in the order they were made.
    pub(crate) fn with_status(&self, status: CallStatus) -> impl Iterator<Item = (u32, &StoredCall)> {
        self.open().filter(move |(_, call)| call.status == status)
    }

    pub(crate) fn count(&self, status: CallStatus) -> usize {
        self.with_status(status).count()
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len() + self.ended.len()
    }

    /// Ends a call: what only an open one needs is dropped.
    pub(crate) fn end(&mut self, number: u32, status: CallStatus, now_millis: f64) {
        let Some(mut call) = self.open.remove(&number) else {
            if let Some(call) = self.ended.get_mut(&number) {
                call.status = status;
            }
            return;
        };
        call.status = status;
        if let Some(started) = call.open.take().and_then(|open| open.started_millis) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
            let took = (now_millis - started).clamp(0.0, f64::from(u32::MAX)) as u32;
            call.took_millis = Some(took);
        }
        self.held_by_ended += call.held();
        self.ended.insert(number, call);
    }
}

/// Two runs of calls as one, each in an order that `first` tells.
fn merged<'a>(
    one: impl Iterator<Item = (&'a u32, &'a StoredCall)>,
    other: impl Iterator<Item = (&'a u32, &'a StoredCall)>,
    first: fn(u32, u32) -> bool,
) -> impl Iterator<Item = (u32, &'a StoredCall)> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    std::iter::from_fn(move || {
        let next = match (one.peek(), other.peek()) {
            (Some((a, _)), Some((b, _))) if first(**a, **b) => one.next(),
            (_, Some(_)) => other.next(),
            _ => one.next(),
        };
        next.map(|(number, call)| (*number, call))
    })
}

impl Serialize for Calls {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (number, call) in self.iter() {
            map.serialize_entry(&number, call)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Calls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Numbered)
    }
}

struct Numbered;

impl<'de> Visitor<'de> for Numbered {
    type Value = Calls;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("calls by number")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Calls, A::Error> {
        let (mut open, mut ended) = (Vec::new(), Vec::new());
        while let Some((number, call)) = map.next_entry::<u32, StoredCall>()? {
            let list = if call.open.is_some() { &mut open } else { &mut ended };
            list.push((number, call));
        }
        let held_by_ended = ended.iter().map(|(_, call)| call.held()).sum();
        Ok(Calls { open: open.into_iter().collect(), ended: ended.into_iter().collect(), held_by_ended })
    }
}

#[cfg(test)]
mod tests {
    use chrysalid_policy::Effects;

    use super::{CallStatus, Calls, KEPT, StoredCall};
    use crate::capability::Delivery;
    use crate::session::state::{OpenCall, StoredAsk};

    fn call(open: bool) -> StoredCall {
        let details = OpenCall {
            argument: vec![1],
            given: None,
            value_bytes: 8,
            definition: [0; 16],
            effects: Effects::NONE,
            carried: Effects::NONE,
            delivery: Delivery::Value,
            ask: StoredAsk::default(),
            requested_millis: 0.0,
            started_millis: None,
            decision: None,
            approved: false,
        };
        StoredCall {
            program: 1,
            name: "look".to_owned(),
            status: CallStatus::Queued,
            open: open.then(|| Box::new(details)),
            took_millis: None,
            edited: None,
            place: None,
            decided: None,
            called_as: None,
            grant: None,
        }
    }

    fn numbers<'a>(calls: impl Iterator<Item = (u32, &'a StoredCall)>) -> Vec<u32> {
        calls.map(|(number, _)| number).collect()
    }

    #[test]
    fn calls_are_in_their_order_whether_open_or_ended() {
        let mut calls = Calls::default();
        for number in 1..=6 {
            calls.insert(number, call(number % 3 != 0));
        }
        calls.end(2, CallStatus::Completed, 0.0);
        assert_eq!(numbers(calls.open()), [1, 4, 5]);
        assert_eq!(numbers(calls.iter()), [1, 2, 3, 4, 5, 6]);
        assert_eq!(numbers(calls.latest_first()), [6, 5, 4, 3, 2, 1]);
        assert_eq!(calls.get(2).map(|call| call.status), Some(CallStatus::Completed));

        let bytes = postcard::to_allocvec(&calls).unwrap();
        let again: Calls = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(numbers(again.open()), [1, 4, 5]);
        assert_eq!(numbers(again.iter()), [1, 2, 3, 4, 5, 6]);
        assert_eq!(again.held_by_ended(), calls.held_by_ended());
    }

    #[test]
    fn the_oldest_ended_calls_are_forgotten() {
        let mut calls = Calls::default();
        for number in 1..=5000 {
            calls.insert(number, call(number == 1));
        }
        calls.forget_oldest();
        assert_eq!((calls.len(), calls.get(1).is_some(), calls.get(2).is_some()), (KEPT + 1, true, false));
        assert_eq!(numbers(calls.iter()).get(1), Some(&905));
    }
}
