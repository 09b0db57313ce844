//! The record of a session's calls, with an index of those that are still open: a program that makes many calls must not
//! pay at each for all that came before.

mod columns;

use std::collections::{BTreeMap, VecDeque};

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use self::columns::Columns;
use super::state::StoredCall;
use crate::call::CallStatus;

/// Calls by number, open ones apart: they are few, and looked at again and again.
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

    /// How many have ended and how many of those an image holds, if they are more.
    pub(crate) fn too_many_for_an_image(&self) -> Option<(usize, usize)> {
        let ended = self.ended.len() + self.late.len();
        (ended > columns::MOST).then_some((ended, columns::MOST))
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

    /// The largest number of a call.
    pub(crate) fn last(&self) -> Option<u32> {
        let open = self.open.keys().next_back().copied();
        let ended = self.ended.back().map(|(number, _)| *number);
        // Late ones came before the last of the ended.
        open.max(ended)
    }

    /// All calls, in the order they were made.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &StoredCall)> {
        merged(mapped(self.open.iter()), self.ended())
    }

    fn ended(&self) -> impl Iterator<Item = (u32, &StoredCall)> {
        merged(listed(self.ended.iter()), mapped(self.late.iter()))
    }

    /// Calls of one program, in the order they were made.
    pub(crate) fn of_program(&self, program: u32) -> Vec<(u32, &StoredCall)> {
        // Programs follow one another, and so do the numbers of their calls.
        let first = self.ended.partition_point(|(_, call)| call.program < program);
        let others = mapped(self.late.iter()).chain(mapped(self.open.iter()));
        let all = listed(self.ended.range(first..)).chain(others);
        let mut calls: Vec<_> = all.filter(|(_, call)| call.program == program).collect();
        if !calls.is_sorted_by_key(|(number, _)| *number) {
            calls.sort_unstable_by_key(|(number, _)| *number);
        }
        calls
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

/// Two runs of calls as one, each in the order that they were made.
fn merged<'a>(
    one: impl Iterator<Item = (u32, &'a StoredCall)>,
    other: impl Iterator<Item = (u32, &'a StoredCall)>,
) -> impl Iterator<Item = (u32, &'a StoredCall)> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    std::iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some((a, _)), Some((b, _))) if a < b => one.next(),
        (_, Some(_)) => other.next(),
        _ => one.next(),
    })
}

impl Serialize for Calls {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ended = Columns::of(self.ended()).map_err(S::Error::custom)?;
        (&self.open, ended).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Calls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (open, columns): (Vec<(u32, StoredCall)>, Columns) = Deserialize::deserialize(deserializer)?;
        if !open.is_sorted_by(|(number, _), (next, _)| number < next) {
            return Err(D::Error::custom("numbers of calls ascend"));
        }
        let open = BTreeMap::from_iter(open);
        let ended = columns.into_calls().map_err(D::Error::custom)?;
        let held_by_ended = ended.iter().map(|(_, call)| call.held()).sum();
        let calls = Self { open, ended, late: BTreeMap::new(), held_by_ended };
        if calls.open.iter().any(|(number, call)| call.open.is_none() || calls.place_of_ended(*number).is_some()) {
            return Err(D::Error::custom("an open call has ended"));
        }
        Ok(calls)
    }
}

#[cfg(test)]
mod tests {
    use chrysalid_policy::{DecisionKind, Effects};

    use super::{CallStatus, Calls, KEPT, StoredCall};
    use crate::call::{CallPlace, DecidedBy};
    use crate::capability::Delivery;
    use crate::error::ErrorKind;
    use crate::session::state::{Changed, OpenCall, State, StoredAsk};
    use crate::snapshot;

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
            place: None,
            decided: None,
            grant: None,
            changed: None,
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
        assert_eq!(numbers(calls.of_program(1).into_iter()), [1, 2, 3, 4, 5, 6]);
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
    fn calls_of_a_program_are_told_from_those_before_and_after() {
        let mut calls = Calls::default();
        for number in 1..=12 {
            calls.insert(number, StoredCall { program: number.div_ceil(3), ..call(number == 6 || number == 7) });
        }
        let of =
            |calls: &Calls| (0..=5).map(|program| numbers(calls.of_program(program).into_iter())).collect::<Vec<_>>();
        let expected = [vec![], vec![1, 2, 3], vec![4, 5, 6], vec![7, 8, 9], vec![10, 11, 12], vec![]];
        assert_eq!(of(&calls), expected);
        calls.end(7, CallStatus::Abandoned, 0.0);
        calls.end(6, CallStatus::Completed, 0.0);
        assert_eq!(of(&calls), expected);
    }

    #[test]
    fn a_call_is_read_as_it_was_written() {
        let mut calls = Calls::default();
        for (number, name) in (1..).zip(["look", "web.get", "look", "", "web.get"]) {
            let mut call = StoredCall { program: number, name: name.into(), ..call(number == 3) };
            call.took_millis = Some(number * 1000);
            call.place = Some(CallPlace { file: Some(format!("{number}.js")), line: number, column: 2 });
            call.decided = Some(DecidedBy { decision: DecisionKind::Edit, by: Some("ann".into()) });
            call.changed =
                Some(Box::new(Changed { edited: Some(vec![7; number as usize]), called_as: Some("other".into()) }));
            call.grant = Some(number + 9);
            calls.insert(number, call);
        }
        let bytes = postcard::to_allocvec(&calls).unwrap();
        let again: Calls = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(postcard::to_allocvec(&again).unwrap(), bytes);
        let shown = |calls: &Calls| calls.iter().map(|call| format!("{call:?}")).collect::<Vec<_>>();
        assert_eq!(shown(&again), shown(&calls));
        // Two that ended late are among the others then.
        for number in [5, 1] {
            calls.insert(number + 10, StoredCall { program: 9, ..call(true) });
        }
        calls.end(15, CallStatus::Completed, 0.0);
        calls.end(11, CallStatus::Completed, 0.0);
        let again: Calls = postcard::from_bytes(&postcard::to_allocvec(&calls).unwrap()).unwrap();
        assert_eq!(shown(&again), shown(&calls));
        for cut in 0..bytes.len() {
            assert!(postcard::from_bytes::<Calls>(&bytes[..cut]).is_err(), "{cut} bytes");
        }
    }

    #[test]
    fn a_snapshot_of_too_many_calls_is_refused() {
        let mut state = State::new([0; 16], [0; 32]);
        (0..1 << 20).for_each(|number| state.calls.insert(number, call(false)));
        assert!(snapshot::header(&state).is_ok());
        state.calls.insert(1 << 20, call(false));
        let refused = snapshot::header(&state).unwrap_err();
        let message = "a snapshot holds 1048576 calls that have ended, the session keeps 1048577";
        assert_eq!((refused.kind(), refused.to_string()), (ErrorKind::TooLarge, message.to_owned()));
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
