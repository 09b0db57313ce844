//! The record of a session's calls, with an index of those that are still open: a program that makes many calls must not
//! pay at each for all that came before.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::state::{SharedName, StoredCall};
use crate::call::CallStatus;

/// Calls by number, open ones apart: they are few, and looked at again and again. In bytes it is one map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    open: BTreeMap<u32, StoredCall>,
    /// Ended calls. Most end in the order they were made, and are read from an image in that order, so they are a queue:
    /// reading old calls back into a tree took half as long again.
    ended: VecDeque<(u32, StoredCall)>,
    /// Ended calls that were made before the last of `ended`.
    late: BTreeMap<u32, StoredCall>,
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
            self.put_ended(number, call);
        }
    }

    fn put_ended(&mut self, number: u32, call: StoredCall) {
        self.held_by_ended += call.held();
        if self.ended.back().is_none_or(|(last, _)| *last < number) {
            self.ended.push_back((number, call));
        } else {
            self.late.insert(number, call);
        }
    }

    fn place_of_ended(&self, number: u32) -> Option<usize> {
        self.ended.binary_search_by_key(&number, |(number, _)| *number).ok()
    }

    /// Forgets the oldest ended calls: a session that lives long must not grow with all that it ever did.
    pub(crate) fn forget_oldest(&mut self) {
        if self.ended.len() + self.late.len() <= KEPT {
            return;
        }
        if !self.late.is_empty() {
            self.ended.extend(std::mem::take(&mut self.late));
            self.ended.make_contiguous().sort_unstable_by_key(|(number, _)| *number);
        }
        for (_, call) in self.ended.drain(..self.ended.len() - KEPT) {
            self.held_by_ended = self.held_by_ended.saturating_sub(call.held());
        }
        self.ended.shrink_to(2 * KEPT);
    }

    pub(super) fn held_by_ended(&self) -> usize {
        self.held_by_ended
    }

    pub(crate) fn get(&self, number: u32) -> Option<&StoredCall> {
        let listed = || self.ended.get(self.place_of_ended(number)?).map(|(_, call)| call);
        self.open.get(&number).or_else(listed).or_else(|| self.late.get(&number))
    }

    /// A call to change; open ones are closed by [`Calls::end`].
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut StoredCall> {
        if self.open.contains_key(&number) {
            return self.open.get_mut(&number);
        }
        self.ended_mut(number)
    }

    fn ended_mut(&mut self, number: u32) -> Option<&mut StoredCall> {
        match self.place_of_ended(number) {
            Some(at) => self.ended.get_mut(at).map(|(_, call)| call),
            None => self.late.get_mut(&number),
        }
    }

    /// All calls, in the order they were made.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &StoredCall)> {
        let ended = merged(listed(self.ended.iter()), mapped(self.late.iter()), |one, other| one < other);
        merged(mapped(self.open.iter()), ended, |one, other| one < other)
    }

    /// All calls, the latest first.
    pub(crate) fn latest_first(&self) -> impl Iterator<Item = (u32, &StoredCall)> {
        let ended = merged(listed(self.ended.iter().rev()), mapped(self.late.iter().rev()), |one, other| one > other);
        merged(mapped(self.open.iter().rev()), ended, |one, other| one > other)
    }

    /// Calls that have not ended, in the order they were made. They belong to the program that runs.
    pub(crate) fn open(&self) -> impl Iterator<Item = (u32, &StoredCall)> {
        mapped(self.open.iter())
    }

    /// Open calls with this status, in the order they were made.
    pub(crate) fn with_status(&self, status: CallStatus) -> impl Iterator<Item = (u32, &StoredCall)> {
        self.open().filter(move |(_, call)| call.status == status)
    }

    pub(crate) fn count(&self, status: CallStatus) -> usize {
        self.with_status(status).count()
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len() + self.ended.len() + self.late.len()
    }

    /// Ends a call: what only an open one needs is dropped.
    pub(crate) fn end(&mut self, number: u32, status: CallStatus, now_millis: f64) {
        let Some(mut call) = self.open.remove(&number) else {
            if let Some(call) = self.ended_mut(number) {
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
        self.put_ended(number, call);
    }
}

fn mapped<'a>(calls: impl Iterator<Item = (&'a u32, &'a StoredCall)>) -> impl Iterator<Item = (u32, &'a StoredCall)> {
    calls.map(|(number, call)| (*number, call))
}

fn listed<'a>(calls: impl Iterator<Item = &'a (u32, StoredCall)>) -> impl Iterator<Item = (u32, &'a StoredCall)> {
    calls.map(|(number, call)| (*number, call))
}

/// Two runs of calls as one, each in an order that `first` tells.
fn merged<'a>(
    one: impl Iterator<Item = (u32, &'a StoredCall)>,
    other: impl Iterator<Item = (u32, &'a StoredCall)>,
    first: fn(u32, u32) -> bool,
) -> impl Iterator<Item = (u32, &'a StoredCall)> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    std::iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some((a, _)), Some((b, _))) if first(*a, *b) => one.next(),
        (_, Some(_)) => other.next(),
        _ => one.next(),
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
        let mut calls = Calls::default();
        calls.ended.reserve(map.size_hint().unwrap_or(0).min(KEPT));
        let mut names = Names::default();
        let mut latest = None;
        while let Some(number) = map.next_key()? {
            if latest.replace(number).is_some_and(|latest| latest >= number) {
                return Err(A::Error::custom("numbers of calls ascend"));
            }
            calls.insert(number, map.next_value_seed(OneCall(&mut names))?);
        }
        Ok(calls)
    }
}

/// The names that calls of one image share.
#[derive(Default)]
struct Names {
    all: BTreeSet<SharedName>,
    /// Nearly always the one that comes next.
    last: SharedName,
}

impl Names {
    fn shared(&mut self, name: &str) -> SharedName {
        if self.last != name {
            self.last = self.all.get(name).cloned().unwrap_or_else(|| name.into());
            self.all.insert(self.last.clone());
        }
        self.last.clone()
    }
}

/// Reads a call as it is written by [`StoredCall`]'s derived `Serialize`.
struct OneCall<'a>(&'a mut Names);

impl<'de> DeserializeSeed<'de> for OneCall<'_> {
    type Value = StoredCall;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<StoredCall, D::Error> {
        deserializer.deserialize_tuple(FIELDS, self)
    }
}

/// Fields of a [`StoredCall`].
const FIELDS: usize = 10;

impl<'de> Visitor<'de> for OneCall<'_> {
    type Value = StoredCall;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a call")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut fields: A) -> Result<StoredCall, A::Error> {
        Ok(StoredCall {
            program: next(&mut fields)?,
            name: self.0.shared(next(&mut fields)?),
            status: next(&mut fields)?,
            open: next(&mut fields)?,
            took_millis: next(&mut fields)?,
            edited: next(&mut fields)?,
            place: next(&mut fields)?,
            decided: next(&mut fields)?,
            called_as: next(&mut fields)?,
            grant: next(&mut fields)?,
        })
    }
}

fn next<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(fields: &mut A) -> Result<T, A::Error> {
    fields.next_element()?.ok_or_else(|| A::Error::custom("a call has more fields"))
}

#[cfg(test)]
mod tests {
    use chrysalid_policy::{DecisionKind, Effects};

    use super::{CallStatus, Calls, KEPT, StoredCall};
    use crate::call::{CallPlace, DecidedBy};
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
            name: "look".into(),
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
    fn calls_end_in_any_order() {
        let mut calls = Calls::default();
        for number in 1..=6 {
            calls.insert(number, call(true));
        }
        for number in [5, 2, 6, 1] {
            calls.end(number, CallStatus::Completed, 0.0);
        }
        assert_eq!(numbers(calls.iter()), [1, 2, 3, 4, 5, 6]);
        assert_eq!(numbers(calls.latest_first()), [6, 5, 4, 3, 2, 1]);
        assert_eq!(numbers(calls.open()), [3, 4]);
        let known = |calls: &Calls| (1..=7).map(|number| calls.get(number).map(|call| call.status)).collect::<Vec<_>>();
        let [queued, done] = [Some(CallStatus::Queued), Some(CallStatus::Completed)];
        assert_eq!(known(&calls), [done, done, queued, queued, done, done, None]);
        for number in [1, 5] {
            calls.end(number, CallStatus::Failed, 0.0);
            assert_eq!(calls.get_mut(number).map(|call| call.status), Some(CallStatus::Failed));
        }
    }

    #[test]
    fn a_call_is_read_as_it_was_written() {
        let mut calls = Calls::default();
        for (number, name) in (1..).zip(["look", "web.get", "look", "", "web.get"]) {
            let mut call = StoredCall { program: number, name: name.into(), ..call(number == 3) };
            call.took_millis = Some(number * 1000);
            call.edited = Some(vec![7; number as usize]);
            call.place = Some(CallPlace { file: Some(format!("{number}.js")), line: number, column: 2 });
            call.decided = Some(DecidedBy { decision: DecisionKind::Edit, by: Some("ann".into()) });
            call.called_as = Some("other".into());
            call.grant = Some(number + 9);
            calls.insert(number, call);
        }
        let bytes = postcard::to_allocvec(&calls).unwrap();
        let again: Calls = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(postcard::to_allocvec(&again).unwrap(), bytes);
        let shown = |calls: &Calls| calls.iter().map(|call| format!("{call:?}")).collect::<Vec<_>>();
        assert_eq!(shown(&again), shown(&calls));
        for cut in 0..bytes.len() {
            assert!(postcard::from_bytes::<Calls>(&bytes[..cut]).is_err(), "{cut} bytes");
        }
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
        // It is the oldest of those that ended, then.
        calls.end(1, CallStatus::Completed, 0.0);
        calls.forget_oldest();
        assert_eq!((calls.len(), numbers(calls.iter()).first()), (KEPT, Some(&905)));
        assert_eq!(calls.held_by_ended(), KEPT * call(false).held());
    }
}
