//! Ended calls as an image has them: a column for each field. There may be thousands, and they differ in few fields, so
//! columns are read faster than calls one by one, and take less room.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use chrysalid_policy::DecisionKind;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::call::{CallPlace, CallStatus, DecidedBy};
use crate::session::state::{Changed, SharedName, StoredCall};
use crate::value::message::put_varint;

/// Calls in ascending order of their numbers.
#[derive(Serialize, Deserialize)]
pub(super) struct Columns<'a> {
    /// Names of capabilities and of files, and who decided: each once.
    #[serde(borrow)]
    texts: Vec<&'a str>,
    /// How many numbers lie between each call and the one before it. It is always whole, and so says how many calls there are.
    gaps: Column<'a>,
    fields: [Column<'a>; WIDTH],
    /// What a person changed, by place in the columns.
    changes: BTreeMap<usize, Cow<'a, Changed>>,
}

/// A varint for each call, or a single one where it is the same for all.
struct Column<'a>(Cow<'a, [u8]>);

/// What the columns say of a call: program, name, status, milliseconds, line, column, file, decision, who decided, grant.
/// Texts and values of an enumeration are places in a list. What may be absent is one more than it is, or 0; the largest
/// number counts as the one before it.
type Row = [u32; WIDTH];

const WIDTH: usize = 10;

/// Calls that columns hold at most, and bytes of their texts together, each as often as it is told: few bytes could say that
/// there are any number. So many calls are 512 MiB of [`crate::Limits::host_memory`].
pub(super) const MOST: usize = 1 << 20;
const MOST_TEXT: usize = 1 << 30;
const TOO_MUCH_TEXT: &str = "too much text";
/// Texts that a call has at most.
const TEXTS: usize = 3;

impl<'a> Columns<'a> {
    /// The columns, or why there are none.
    pub(super) fn of(calls: impl Iterator<Item = (u32, &'a StoredCall)>) -> Result<Self, &'static str> {
        let mut texts = Told::default();
        let (mut gaps, mut fields) = (Vec::new(), [const { Writer::new() }; WIDTH]);
        let mut changes = BTreeMap::new();
        let mut follows = Some(0);
        for (place, (number, call)) in calls.enumerate() {
            let gap =
                follows.and_then(|follows| number.checked_sub(follows)).ok_or("numbers of calls do not ascend")?;
            put_varint(&mut gaps, gap as usize);
            follows = number.checked_add(1);
            for (field, value) in fields.iter_mut().zip(texts.row(call)?) {
                field.put(value);
            }
            if let Some(changed) = &call.changed {
                changes.insert(place, Cow::Borrowed(&**changed));
            }
        }
        Ok(Self { texts: texts.all, gaps: Column(gaps.into()), fields: fields.map(Writer::into_column), changes })
    }

    /// The calls, or what is wrong with the columns.
    pub(super) fn into_calls(mut self) -> Result<VecDeque<(u32, StoredCall)>, &'static str> {
        if self.texts.len() > self.gaps.0.len().saturating_mul(TEXTS) {
            return Err("texts of no call");
        }
        let mut texts = Texts { all: self.texts.iter().map(|text| (*text).into()).collect(), room: MOST_TEXT };
        let mut gaps = &*self.gaps.0;
        let mut fields = self.fields.each_ref().map(|column| Reader::new(&column.0));
        let mut calls = VecDeque::with_capacity(gaps.len().min(MOST));
        let (mut follows, mut latest) = (Some(0u32), 0);
        while !gaps.is_empty() {
            if calls.len() == MOST {
                return Err("too many calls");
            }
            let gap = take(&mut gaps).ok_or("a column of calls is no numbers")?;
            let number = follows.and_then(|follows| follows.checked_add(gap)).ok_or("a call has no number")?;
            follows = number.checked_add(1);
            let mut row = Row::default();
            for (value, field) in row.iter_mut().zip(&mut fields) {
                *value = field.next().ok_or("a column of calls is too short")?;
            }
            let mut call = texts.call(row)?;
            if call.program < latest {
                return Err("programs do not ascend");
            }
            latest = call.program;
            if !self.changes.is_empty() {
                call.changed = self.changes.remove(&calls.len()).map(|changed| Box::new(changed.into_owned()));
            }
            calls.push_back((number, call));
        }
        if calls.is_empty() && self.fields.iter().any(|column| !column.0.is_empty()) {
            return Err("columns of no calls");
        }
        if !self.changes.is_empty() || fields.iter().any(|field| !field.rest.is_empty()) {
            return Err("a column of calls is too long");
        }
        Ok(calls)
    }
}

/// The texts that columns name, and how many bytes of them may still be told.
struct Texts {
    all: Vec<SharedName>,
    room: usize,
}

const MISSING: &str = "a call has what is not there";

impl Texts {
    #[inline]
    fn call(&mut self, row: Row) -> Result<StoredCall, &'static str> {
        let [program, name, status, took, line, column, file, decision, by, grant] = row;
        let name = self.text(name)?.clone();
        let file = maybe(file).map(|file| self.owned(file)).transpose()?;
        let by = maybe(by).map(|by| self.owned(by)).transpose()?;
        if line == 0 && (column != 0 || file.is_some()) || decision == 0 && by.is_some() {
            return Err("a part of what is absent");
        }
        let decision = maybe(decision).map(|decision| listed(&DecisionKind::ALL, decision)).transpose()?;
        Ok(StoredCall {
            program,
            name,
            status: listed(&CallStatus::ALL, status)?,
            open: None,
            took_millis: maybe(took),
            place: maybe(line).map(|line| CallPlace { file, line, column }),
            decided: decision.map(|decision| DecidedBy { decision, by }),
            grant: maybe(grant),
            changed: None,
        })
    }

    fn text(&mut self, place: u32) -> Result<&SharedName, &'static str> {
        let text = self.all.get(place as usize).ok_or(MISSING)?;
        self.room = self.room.checked_sub(text.len()).ok_or(TOO_MUCH_TEXT)?;
        Ok(text)
    }

    fn owned(&mut self, place: u32) -> Result<String, &'static str> {
        self.text(place).map(|text| text.as_str().to_owned())
    }
}

/// What a number of a row stands for, if it is not absent.
fn maybe(value: u32) -> Option<u32> {
    value.checked_sub(1)
}

fn listed<T: Copy>(list: &[T], place: u32) -> Result<T, &'static str> {
    list.get(place as usize).copied().ok_or(MISSING)
}

/// The texts of calls that are written, each once.
#[derive(Default)]
struct Told<'a> {
    all: Vec<&'a str>,
    places: BTreeMap<&'a str, u32>,
    /// Nearly always the one that comes next.
    last: Option<(&'a str, u32)>,
    /// Bytes of texts, each as often as it is told.
    bytes: usize,
}

impl<'a> Told<'a> {
    /// What the columns say of a call, or why they cannot say it.
    fn row(&mut self, call: &'a StoredCall) -> Result<Row, &'static str> {
        let StoredCall { program, name, status, open: _, took_millis, place, decided, grant, changed: _ } = call;
        let some = |value: Option<u32>| value.map_or(0, |value| value.saturating_add(1));
        let file = place.as_ref().and_then(|place| place.file.as_deref());
        let by = decided.as_ref().and_then(|decided| decided.by.as_deref());
        self.bytes += name.len() + file.map_or(0, str::len) + by.map_or(0, str::len);
        if self.bytes > MOST_TEXT {
            return Err(TOO_MUCH_TEXT);
        }
        let decision = decided.as_ref().map(|decided| place_in(&DecisionKind::ALL, decided.decision)).transpose()?;
        Ok([
            *program,
            self.place(name),
            place_in(&CallStatus::ALL, *status)?,
            some(*took_millis),
            some(place.as_ref().map(|place| place.line)),
            place.as_ref().map_or(0, |place| place.column),
            some(file.map(|file| self.place(file))),
            some(decision),
            some(by.map(|by| self.place(by))),
            some(*grant),
        ])
    }

    fn place(&mut self, text: &'a str) -> u32 {
        match self.last {
            Some((last, place)) if last == text => return place,
            _ => {}
        }
        let place = *self.places.entry(text).or_insert_with(|| {
            self.all.push(text);
            to_u32(self.all.len() - 1)
        });
        self.last = Some((text, place));
        place
    }
}

fn place_in<T: PartialEq + Copy>(list: &[T], value: T) -> Result<u32, &'static str> {
    list.iter().position(|known| *known == value).map(to_u32).ok_or("a value that its enumeration does not list")
}

fn to_u32(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// A column while it is written.
struct Writer {
    bytes: Vec<u8>,
    /// What all calls so far have, if they have the same.
    same: Option<u32>,
}

impl Writer {
    const fn new() -> Self {
        Self { bytes: Vec::new(), same: None }
    }

    fn put(&mut self, value: u32) {
        if self.bytes.is_empty() {
            self.same = Some(value);
        } else if self.same != Some(value) {
            self.same = None;
        }
        put_varint(&mut self.bytes, value as usize);
    }

    fn into_column(mut self) -> Column<'static> {
        if let Some(value) = self.same {
            self.bytes.clear();
            put_varint(&mut self.bytes, value as usize);
        }
        Column(self.bytes.into())
    }
}

/// A column while it is read.
struct Reader<'a> {
    rest: &'a [u8],
    same: Option<u32>,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let mut rest = bytes;
        let first = take(&mut rest);
        if rest.is_empty() { Self { rest, same: first } } else { Self { rest: bytes, same: None } }
    }

    fn next(&mut self) -> Option<u32> {
        self.same.or_else(|| take(&mut self.rest))
    }
}

/// The varint that bytes begin with.
fn take(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    for shift in [0, 7, 14, 21, 28] {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return u32::try_from(number).ok();
        }
    }
    None
}

impl Serialize for Column<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Column<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&[u8]>::deserialize(deserializer).map(|bytes| Self(bytes.into()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What is read of any bytes is written again, and read as the same.
        #[test]
        fn any_bytes_are_read_or_refused(
            bytes in prop::collection::vec(prop_oneof![0_u8..4, any::<u8>()], 0..60),
            place in 0_usize..60,
            byte in any::<u8>(),
        ) {
            let mut good = super::tests::bytes(&[(3, call(4)), (4, call(4)), (9, call(2))]);
            let length = good.len();
            good[place % length] = byte;
            for bytes in [bytes, good] {
                if let Ok(calls) = read(&bytes) {
                    let again = read(&super::tests::bytes(&calls)).unwrap();
                    prop_assert_eq!(format!("{:?}", again), format!("{calls:?}"));
                }
            }
        }
    }

    fn call(line: u32) -> StoredCall {
        StoredCall {
            program: 2,
            name: "look".into(),
            status: CallStatus::Completed,
            open: None,
            took_millis: Some(line * 100),
            place: Some(CallPlace { file: None, line, column: 7 }),
            decided: Some(DecidedBy { decision: DecisionKind::Respond, by: Some("ann".into()) }),
            grant: None,
            changed: None,
        }
    }

    fn bytes(calls: &[(u32, StoredCall)]) -> Vec<u8> {
        postcard::to_allocvec(&Columns::of(calls.iter().map(|(number, call)| (*number, call))).unwrap()).unwrap()
    }

    fn read(bytes: &[u8]) -> Result<Vec<(u32, StoredCall)>, String> {
        let columns: Columns = postcard::from_bytes(bytes).map_err(|error| error.to_string())?;
        columns.into_calls().map(Vec::from).map_err(ToOwned::to_owned)
    }

    #[test]
    fn golden_bytes() {
        let calls = [(3, call(4)), (4, call(4)), (9, call(2))];
        let expected: &[&[u8]] = &[
            b"\x02\x04look\x03ann",
            &[3, 3, 0, 4],
            // Program, name, status.
            &[1, 2, 1, 0, 1, 4],
            // Milliseconds and lines, each one more.
            &[6, 0x91, 3, 0x91, 3, 0xc9, 1],
            &[3, 5, 5, 3],
            // Column, no file, decision, who, no grant.
            &[1, 7, 1, 0, 1, 4, 1, 2, 1, 0],
            &[0],
        ];
        assert_eq!(bytes(&calls), expected.concat());
        assert_eq!(bytes(&[]), [0; 13]);
    }

    #[test]
    fn what_was_written_is_read() {
        let mut calls = vec![(0, call(1)), (1, call(1)), (7, call(2)), (u32::MAX, call(0))];
        let statuses = CallStatus::ALL.map(|status| StoredCall { status, took_millis: None, ..call(3) });
        calls.splice(3..3, (10..).zip(statuses));
        let decisions = DecisionKind::ALL.map(|decision| StoredCall {
            name: "pay".into(),
            place: Some(CallPlace { file: Some("look".into()), line: u32::MAX - 1, column: u32::MAX }),
            decided: Some(DecidedBy { decision, by: None }),
            grant: Some(0),
            ..call(3)
        });
        calls.splice(13..13, (30..).zip(decisions));
        calls[5].1.place = None;
        calls[6].1.decided = None;
        calls[7].1.changed = Some(Box::new(Changed { edited: Some(Vec::new()), called_as: None }));
        calls[13].1.changed = Some(Box::new(Changed { edited: None, called_as: Some("gate".into()) }));
        for count in 0..=calls.len() {
            let again = read(&bytes(&calls[..count])).unwrap();
            assert_eq!(format!("{again:?}"), format!("{:?}", &calls[..count]));
        }
    }

    #[test]
    fn more_calls_than_columns_hold_are_refused() {
        let call = call(1);
        let columns = |count| Columns::of((0..).zip(std::iter::repeat_n(&call, count))).unwrap().into_calls();
        assert_eq!(columns(MOST).unwrap().len(), MOST);
        assert_eq!(columns(MOST + 1).unwrap_err(), "too many calls");
    }

    #[test]
    fn a_text_is_not_told_without_end() {
        let by = "x".repeat(1 << 20);
        let call = StoredCall { decided: Some(DecidedBy { decision: DecisionKind::Approve, by: None }), ..call(1) };
        let text = by.clone();
        let mut columns = Columns::of((0..).zip(std::iter::repeat_n(&call, 2000))).unwrap();
        columns.texts.push(&text);
        columns.fields[8] = Column(vec![2].into());
        assert_eq!(columns.into_calls().unwrap_err(), TOO_MUCH_TEXT);

        let call = StoredCall { decided: Some(DecidedBy { decision: DecisionKind::Approve, by: Some(by) }), ..call };
        assert_eq!(Columns::of((0..).zip(std::iter::repeat_n(&call, 1023))).err(), None);
        assert_eq!(Columns::of((0..).zip(std::iter::repeat_n(&call, 1024))).err(), Some(TOO_MUCH_TEXT));
    }

    #[test]
    fn numbers_ascend_when_they_are_written() {
        let call = call(1);
        for numbers in [[4, 4], [4, 3], [u32::MAX, u32::MAX]] {
            let refused = Columns::of(numbers.into_iter().zip([&call, &call])).err();
            assert_eq!(refused, Some("numbers of calls do not ascend"), "{numbers:?}");
        }
    }

    /// The order is part of the format.
    #[test]
    fn lists_of_values_keep_their_order() {
        let statuses = CallStatus::ALL.map(CallStatus::name).join(" ");
        let expected = "queued waiting outside started completed failed denied rejected abandoned unknown";
        assert_eq!(statuses, expected);
        assert_eq!(DecisionKind::ALL.map(DecisionKind::name).join(" "), "approve edit reject respond");
    }

    #[test]
    fn the_largest_number_counts_as_the_one_before_it() {
        let calls = [(1, StoredCall { took_millis: Some(u32::MAX), ..call(1) })];
        assert_eq!(read(&bytes(&calls)).unwrap()[0].1.took_millis, Some(u32::MAX - 1));
    }

    #[test]
    fn columns_that_contradict_each_other_are_refused() {
        type Change = fn(&mut Columns<'static>);
        let refused: [(Change, &str); 17] = [
            (|all| all.texts = vec!["look"; 7], "texts of no call"),
            (|all| all.fields[7] = Column(vec![0].into()), "a part of what is absent"),
            (|all| all.fields[4] = Column(vec![0].into()), "a part of what is absent"),
            (
                |all| {
                    all.gaps = Column(Vec::new().into());
                    all.texts.clear();
                },
                "columns of no calls",
            ),
            (|all| all.fields[0] = Column(vec![2, 1].into()), "programs do not ascend"),
            (|all| all.gaps = Column(vec![0x80].into()), "a column of calls is no numbers"),
            (|all| all.gaps = Column(vec![0, 0xff, 0xff, 0xff, 0xff, 0x10].into()), "a column of calls is no numbers"),
            (|all| all.gaps = Column(vec![1, 0xff, 0xff, 0xff, 0xff, 0x0f].into()), "a call has no number"),
            (|all| all.gaps = Column(vec![0xff, 0xff, 0xff, 0xff, 0x0f, 0].into()), "a call has no number"),
            (|all| all.fields[0] = Column(Vec::new().into()), "a column of calls is too short"),
            (|all| all.gaps = Column(vec![0, 0, 0].into()), "a column of calls is too short"),
            (|all| all.gaps = Column(vec![0].into()), "a column of calls is too long"),
            (|all| drop(all.changes.insert(2, Cow::Owned(Changed::default()))), "a column of calls is too long"),
            (|all| all.texts.clear(), "a call has what is not there"),
            (|all| all.fields[2] = Column(vec![10].into()), "a call has what is not there"),
            (|all| all.fields[6] = Column(vec![3].into()), "a call has what is not there"),
            (|all| all.fields[7] = Column(vec![5].into()), "a call has what is not there"),
        ];
        for (place, (change, expected)) in refused.into_iter().enumerate() {
            let calls: &'static _ = Box::leak(Box::new([call(1), call(2)]));
            let mut columns = Columns::of((1..).zip(calls)).unwrap();
            change(&mut columns);
            assert_eq!(columns.into_calls().unwrap_err(), expected, "{place}");
        }
    }
}
