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
    changes: BTreeMap<usize, Box<Changed>>,
}

/// A varint for each call, or a single one where it is the same for all.
struct Column<'a>(Cow<'a, [u8]>);

/// What the columns say of a call: program, name, status, milliseconds, line, column, file, decision, who decided, grant.
/// Texts and values of an enumeration are places in a list. What may be absent is one more than it is, or 0; the largest
/// number counts as the one before it.
type Row = [u32; WIDTH];

const WIDTH: usize = 10;

/// Calls that columns hold at most: few bytes could say that there are any number. So many are 512 MiB of
/// [`crate::Limits::host_memory`].
pub(super) const MOST: usize = 1 << 20;
const TOO_MANY: &str = "more than 1048576 calls that have ended";

impl<'a> Columns<'a> {
    /// The columns, or why there are none.
    pub(super) fn of(calls: impl Iterator<Item = (u32, &'a StoredCall)>) -> Result<Self, &'static str> {
        let mut texts = Texts::default();
        let (mut gaps, mut fields) = (Vec::new(), [const { Writer::new() }; WIDTH]);
        let mut changes = BTreeMap::new();
        let mut follows = 0;
        for (place, (number, call)) in calls.enumerate() {
            if place == MOST {
                return Err(TOO_MANY);
            }
            put_varint(&mut gaps, (number - follows) as usize);
            follows = number.saturating_add(1);
            for (field, value) in fields.iter_mut().zip(texts.row(call)) {
                field.put(value);
            }
            if let Some(changed) = &call.changed {
                changes.insert(place, changed.clone());
            }
        }
        Ok(Self { texts: texts.all, gaps: Column(gaps.into()), fields: fields.map(Writer::into_column), changes })
    }

    /// The calls, or what is wrong with the columns.
    pub(super) fn into_calls(mut self) -> Result<VecDeque<(u32, StoredCall)>, &'static str> {
        let texts: Vec<SharedName> = self.texts.iter().map(|text| (*text).into()).collect();
        let mut gaps = &*self.gaps.0;
        let mut fields = self.fields.each_ref().map(|column| Reader::new(&column.0));
        let mut calls = VecDeque::with_capacity(gaps.len().min(MOST));
        let mut follows = Some(0u32);
        while !gaps.is_empty() {
            if calls.len() == MOST {
                return Err(TOO_MANY);
            }
            let gap = take(&mut gaps).ok_or("a column of calls is no numbers")?;
            let number = follows.and_then(|follows| follows.checked_add(gap)).ok_or("a call has no number")?;
            follows = number.checked_add(1);
            let mut row = Row::default();
            for (value, field) in row.iter_mut().zip(&mut fields) {
                *value = field.next().ok_or("a column of calls is too short")?;
            }
            let changed = if self.changes.is_empty() { None } else { self.changes.remove(&calls.len()) };
            calls.push_back((number, call(row, &texts, changed)?));
        }
        if !self.changes.is_empty() || fields.iter().any(|field| !field.rest.is_empty()) {
            return Err("a column of calls is too long");
        }
        Ok(calls)
    }
}

#[inline]
fn call(row: Row, texts: &[SharedName], changed: Option<Box<Changed>>) -> Result<StoredCall, &'static str> {
    let [program, name, status, took, line, column, file, decision, by, grant] = row;
    let known = |place: u32| texts.get(place as usize);
    let text = |place| known(place).map(|text| text.as_str().to_owned());
    let (line, file) = (maybe(line, Some)?, maybe(file, text)?);
    let (decision, by) = (maybe(decision, |place| DecisionKind::ALL.get(place as usize).copied())?, maybe(by, text)?);
    Ok(StoredCall {
        program,
        name: known(name).ok_or(MISSING)?.clone(),
        status: *CallStatus::ALL.get(status as usize).ok_or(MISSING)?,
        open: None,
        took_millis: maybe(took, Some)?,
        place: line.map(|line| CallPlace { file, line, column }),
        decided: decision.map(|decision| DecidedBy { decision, by }),
        grant: maybe(grant, Some)?,
        changed,
    })
}

const MISSING: &str = "a call has what is not there";

/// What a number of a row stands for, if it is not absent.
fn maybe<T>(value: u32, known: impl FnOnce(u32) -> Option<T>) -> Result<Option<T>, &'static str> {
    value.checked_sub(1).map(|value| known(value).ok_or(MISSING)).transpose()
}

/// The texts of an image's calls, each once.
#[derive(Default)]
struct Texts<'a> {
    all: Vec<&'a str>,
    places: BTreeMap<&'a str, u32>,
    /// Nearly always the one that comes next.
    last: Option<(&'a str, u32)>,
}

impl<'a> Texts<'a> {
    fn row(&mut self, call: &'a StoredCall) -> Row {
        let StoredCall { program, name, status, open: _, took_millis, place, decided, grant, changed: _ } = call;
        let some = |value: Option<u32>| value.map_or(0, |value| value.saturating_add(1));
        let file = place.as_ref().and_then(|place| place.file.as_deref());
        let by = decided.as_ref().and_then(|decided| decided.by.as_deref());
        [
            *program,
            self.place(name),
            place_in(&CallStatus::ALL, *status),
            some(*took_millis),
            some(place.as_ref().map(|place| place.line)),
            place.as_ref().map_or(0, |place| place.column),
            some(file.map(|file| self.place(file))),
            some(decided.as_ref().map(|decided| place_in(&DecisionKind::ALL, decided.decision))),
            some(by.map(|by| self.place(by))),
            some(*grant),
        ]
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

fn place_in<T: PartialEq + Copy>(list: &[T], value: T) -> u32 {
    to_u32(list.iter().position(|known| *known == value).unwrap_or_default())
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
    use super::*;

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
        let columns = |count| Columns::of((0..).zip(std::iter::repeat_n(&call, count))).map(Columns::into_calls);
        assert_eq!(columns(MOST).unwrap().unwrap().len(), MOST);
        assert_eq!(columns(MOST + 1).err(), Some(TOO_MANY));
    }

    #[test]
    fn the_largest_number_counts_as_the_one_before_it() {
        let calls = [(1, StoredCall { took_millis: Some(u32::MAX), ..call(1) })];
        assert_eq!(read(&bytes(&calls)).unwrap()[0].1.took_millis, Some(u32::MAX - 1));
    }

    #[test]
    fn columns_that_contradict_each_other_are_refused() {
        type Change = fn(&mut Columns<'static>);
        let refused: [(Change, &str); 13] = [
            (
                |all| {
                    all.gaps = Column(vec![0; MOST + 1].into());
                    for field in &mut all.fields {
                        field.0 = vec![field.0[0] & 1].into();
                    }
                },
                TOO_MANY,
            ),
            (|all| all.gaps = Column(vec![0x80].into()), "a column of calls is no numbers"),
            (|all| all.gaps = Column(vec![0, 0xff, 0xff, 0xff, 0xff, 0x10].into()), "a column of calls is no numbers"),
            (|all| all.gaps = Column(vec![1, 0xff, 0xff, 0xff, 0xff, 0x0f].into()), "a call has no number"),
            (|all| all.gaps = Column(vec![0xff, 0xff, 0xff, 0xff, 0x0f, 0].into()), "a call has no number"),
            (|all| all.fields[0] = Column(Vec::new().into()), "a column of calls is too short"),
            (|all| all.gaps = Column(vec![0, 0, 0].into()), "a column of calls is too short"),
            (|all| all.gaps = Column(vec![0].into()), "a column of calls is too long"),
            (|all| drop(all.changes.insert(2, Box::default())), "a column of calls is too long"),
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
