//! From bytes to what a guest does. Most acts are nearly what a sane guest could do, since one that is far off ends its
//! program at once, and nothing after it is reached.

use crate::script::{Act, BOARD, END, FREE, NEXT_DUE, OUT, OUT_LENGTH, OUTCOME, OWN_OUT, PROGRAM, SCRIPT, act, bytes};

const MAX_ACTS: u8 = 24;
/// Where names and arguments are written.
const NAME: u32 = 80_000;
const ARGUMENT: u32 = 700_000;

/// What a program does is mostly done when it begins, runs, and is answered.
const ENTRIES: [u32; 16] = [5, 6, 7, 5, 9, 1, 2, 3, 4, 8, 10, 5, 6, 7, 5, 7];

/// Acts of `garbage/guest.wat` that need no bytes. Traps and endless loops are one in sixteen.
const KINDS: [u32; 15] = [0, 1, 2, 3, 4, 5, 6, 7, 10, 14, 0, 1, 3, 4, 6];
const ENDS: [u32; 5] = [8, 9, 11, 12, 13];

/// How often; 0 is without end.
const TIMES: [u32; 16] = [1, 1, 2, 3, 100, 20_000, 0, 1, 1, 1, 2, 5, 1000, 1, 1, 1];

const MEMORY: u32 = 8 << 20;

/// Words that were of interest before: places, lengths, states, and what is next to a bound.
const WORDS: [u32; 30] = [
    0,
    1,
    2,
    3,
    4,
    5,
    16,
    64,
    255,
    1000,
    0xffff,
    BOARD - 1,
    BOARD,
    PROGRAM,
    BOARD + 60,
    OWN_OUT,
    SCRIPT,
    FREE,
    2 * SCRIPT,
    END - 4,
    END - 1,
    END,
    END + 1,
    MEMORY,
    MEMORY + (1 << 20),
    0x7fff_ffff,
    0x8000_0000,
    u32::MAX - 3,
    u32::MAX - 1,
    u32::MAX,
];

const NAMES: [&[u8]; 13] = [
    b"mirror",
    b"gate",
    b"pay",
    b"outside",
    b"fail",
    b"$import",
    b"$search",
    b"$describe",
    b"",
    b"nosuch",
    b"\xff\0",
    b"$import2",
    b"$reveal",
];

/// In wire form, or nearly.
const VALUES: [&[u8]; 18] = [
    b"\x0e\x00",
    b"\x01",
    b"\x0e\x01\x06amount\x04\x02",
    b"\x0e\x01\x03key\x07\x01a",
    b"\x0e\x01\x03key\x07\x02no",
    b"\x0e\x01\x05query\x07\x03pay",
    b"\x0e\x01\x04name\x07\x04gate",
    b"\x07\xff\xff\xff\xff\x0f",
    b"\x0c\xff\xff\xff\xff\x0f",
    b"\x0c\x02\x0e\x00\x12\x01",
    b"\x0c\x01\x12\x00",
    b"\x12\x07",
    b"\xff",
    b"\x0c\x03\x04\x02\x04\x02\x04\x02",
    b"\x0e\x02\x01a\x01\x01a\x01",
    b"\x07\x02\xc3\xbc",
    b"\x15\x01\x04gate",
    b"\x0e\x02\x01a\x15\x07\x03pay\x01b\x0c\x01\x15\x00\x00",
];

/// When a timer is due, in milliseconds since 1970.
const DUES: [f64; 8] = [0.0, -1.0, 1e300, f64::NAN, f64::INFINITY, 1.8e12, 4e12, f64::MIN];

/// Bytes as a row of choices; when they are used up, each is the first.
pub(super) struct Choices<'b> {
    rest: &'b [u8],
}

impl<'b> Choices<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn below(&mut self, count: u8) -> u32 {
        u32::from(self.byte() % count)
    }

    /// What the guest does in one program.
    pub(super) fn acts(&mut self) -> Vec<Act> {
        (0..=self.below(MAX_ACTS)).flat_map(|_| self.act()).collect()
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        *first
    }

    fn take(&mut self, count: u8) -> &'b [u8] {
        let (taken, rest) = self.rest.split_at(usize::from(count).min(self.rest.len()));
        self.rest = rest;
        taken
    }

    fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[usize::from(self.byte()) % items.len()]
    }

    fn act(&mut self) -> Vec<Act> {
        let entry = self.one_of(&ENTRIES);
        match self.below(12) {
            0 | 1 => act(entry, 0, [BOARD + 4 * self.below(16), self.word(), 0, 0, 0]),
            2 => act(entry, 0, [PROGRAM, self.below(4), 0, 0, 0]),
            3..6 => self.request(entry),
            6 => self.value_or_line(),
            7 => bytes(entry, NEXT_DUE, &self.one_of(&DUES).to_le_bytes()),
            8 => {
                let (place, length) = (self.word(), self.byte() % 32);
                bytes(entry, place, self.take(length))
            }
            9 => act(entry, 14, [self.word(), 0, 0, 0, 0]),
            _ => {
                let kind = if self.below(16) == 15 { self.one_of(&ENDS) } else { self.one_of(&KINDS) };
                act(entry, kind, [self.word(), self.word(), self.word(), self.word(), self.one_of(&TIMES)])
            }
        }
    }

    /// A request that could be one.
    fn request(&mut self, entry: u32) -> Vec<Act> {
        let (name, argument) = (self.one_of(&NAMES), self.value());
        let places = [NAME, length(name), ARGUMENT, length(&argument), self.one_of(&TIMES)];
        [bytes(entry, NAME, name), bytes(entry, ARGUMENT, &argument), act(entry, 3, places)].concat()
    }

    /// A value that could be one, in the outbox or as a line.
    fn value_or_line(&mut self) -> Vec<Act> {
        let value = self.value();
        let length = length(&value);
        let shown = if self.below(2) == 0 {
            [act(OUTCOME, 0, [OUT, FREE, 0, 0, 0]), act(OUTCOME, 0, [OUT_LENGTH, length, 0, 0, 0])].concat()
        } else {
            act(OUTCOME, 4, [self.byte().into(), FREE, length, 0, self.one_of(&TIMES)])
        };
        [bytes(OUTCOME, FREE, &value), shown].concat()
    }

    fn word(&mut self) -> u32 {
        match self.byte() % 40 {
            index @ 0..30 => WORDS[usize::from(index)],
            30..33 => self.byte().into(),
            33..36 => END - u32::from(self.byte()),
            36..38 => FREE + u32::from(self.byte()),
            _ => u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()]),
        }
    }

    fn value(&mut self) -> Vec<u8> {
        let mut value = self.one_of(&VALUES).to_vec();
        match self.below(8) {
            // In arrays, more than may be within each other.
            6 => {
                let levels = 8 * usize::from(self.byte());
                value = [b"\x0c\x01".repeat(levels), value].concat();
            }
            // A byte of it is another.
            7 => {
                let place = usize::from(self.byte()) % value.len();
                value[place] = self.byte();
            }
            _ => {}
        }
        value
    }
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap()
}
