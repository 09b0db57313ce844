//! The list that packed pages are in: its entries, and the zstd frame around them.
//!
//! An entry is a number in LEB128 and for some a byte more, whose meaning is `pages`' own, and a page as its difference from another:
//!
//! ```text
//! lines    u64      bit i: line i of 64 bytes differs
//! for each such line:
//!   words  u16      bit i: word i of 4 bytes differs
//!   for each such word:
//!     xor  u32      the word now, XOR the word before
//! ```
//!
//! A frame is read a piece at a time, so that a heap of many megabytes is restored without as many beside it.

use std::cell::RefCell;
use std::io;
use std::ops::Range;

use zstd::stream::raw::{Decoder, InBuffer, Operation as _, OutBuffer};
use zstd::zstd_safe::{DParameter, get_frame_content_size};

use super::compression;
use super::format::{PAGE, SnapshotError, take};

const LINE: usize = 64;
const WORD: usize = 4;
/// A number of at most ten bytes, a stride, the masks, and every word.
pub(super) const LONGEST_ENTRY: usize = 10 + 1 + 8 + PAGE / LINE * 2 + PAGE;
/// Bytes of the list that a reader holds at a time.
const PIECE: usize = 256 << 10;
/// Binary logarithm of the largest window, in bytes, that a frame may ask for. Those of our level ask for 2^19.
const WINDOW: u32 = 20;

thread_local! {
    // As in `compression`. A thread keeps 0.1 MB for it.
    static DECODER: RefCell<Option<Decoder<'static>>> = const { RefCell::new(None) };
}

pub(super) fn compress(list: &[u8]) -> Result<Vec<u8>, SnapshotError> {
    compression::compress(list).map_err(|_| SnapshotError::Failed("zstd could not compress the pages"))
}

pub(super) fn put_number(list: &mut Vec<u8>, number: u64) {
    let mut left = number;
    loop {
        let [low, ..] = (left & 0x7f).to_le_bytes();
        left >>= 7;
        if left == 0 {
            return list.push(low);
        }
        list.push(low | 0x80);
    }
}

/// Puts a page as its difference from another.
pub(super) fn put_page(list: &mut Vec<u8>, page: &[u8; PAGE], before: &[u8; PAGE]) {
    let start = list.len();
    list.extend_from_slice(&0_u64.to_le_bytes());
    let mut differing = 0_u64;
    let lines = page.as_chunks::<LINE>().0.iter().zip(before.as_chunks::<LINE>().0);
    for ((line, before), index) in lines.zip(0_u32..) {
        if line_differs(line, before) {
            differing |= 1 << index;
            put_line(list, line, before);
        }
    }
    if let Some(mask) = list.get_mut(start..).and_then(<[u8]>::first_chunk_mut) {
        *mask = differing.to_le_bytes();
    }
}

/// Without a call: most lines of a page that differs are as they were.
fn line_differs(line: &[u8; LINE], before: &[u8; LINE]) -> bool {
    let words = line.as_chunks().0.iter().zip(before.as_chunks().0);
    words.fold(0, |sum, (word, before)| sum | (u64::from_le_bytes(*word) ^ u64::from_le_bytes(*before))) != 0
}

/// Apart, so that the loop over lines, most of which are as they were, is compiled alike wherever it stands.
#[inline(never)]
fn put_line(list: &mut Vec<u8>, line: &[u8; LINE], before: &[u8; LINE]) {
    let mut entry = [0; 2 + LINE];
    let mut differing = 0_u16;
    let mut length = 2;
    let words = line.as_chunks::<WORD>().0.iter().zip(before.as_chunks::<WORD>().0);
    for ((word, before), index) in words.zip(0_u32..) {
        let difference = u32::from_le_bytes(*word) ^ u32::from_le_bytes(*before);
        // Without a branch, as no word predicts the next: a zero is written, then overwritten.
        if let Some(slot) = entry.get_mut(length..).and_then(<[u8]>::first_chunk_mut) {
            *slot = difference.to_le_bytes();
        }
        differing |= u16::from(difference != 0) << index;
        length += usize::from(difference != 0) * WORD;
    }
    if let Some(mask) = entry.first_chunk_mut() {
        *mask = differing.to_le_bytes();
    }
    list.extend_from_slice(entry.get(..length).unwrap_or(&entry));
}

/// Gives `read` what is left of the list, for as long as anything is; it takes one entry off.
///
/// `packed` is a frame of at most `bound` bytes, or nothing for an empty list.
pub(super) fn read_entries(
    packed: &[u8],
    bound: usize,
    mut read: impl FnMut(&mut &[u8]) -> Result<(), SnapshotError>,
) -> Result<(), SnapshotError> {
    if packed.is_empty() {
        return Ok(());
    }
    let size = match get_frame_content_size(packed) {
        Ok(Some(size)) => usize::try_from(size).ok().filter(|size| *size <= bound).ok_or_else(|| no_frame(bound))?,
        Ok(None) => bound,
        Err(_) => return Err(no_frame(bound)),
    };
    let mut decoder = decoder().map_err(|_| SnapshotError::Failed("zstd has no memory to read pages with"))?;
    let mut list = List {
        decoder: &mut decoder,
        packed,
        piece: Vec::with_capacity(size.clamp(LONGEST_ENTRY, PIECE)),
        ahead: 0..0,
        is_last: false,
        bound,
    };
    loop {
        let ahead = list.ahead()?;
        if ahead.is_empty() {
            break;
        }
        let mut rest = ahead;
        read(&mut rest)?;
        let left = rest.len();
        list.take_all_but(left);
    }
    if size <= PIECE {
        // Another one has a window of its own, which is not worth keeping.
        DECODER.set(Some(decoder));
    }
    Ok(())
}

fn decoder() -> io::Result<Decoder<'static>> {
    if let Some(mut kept) = DECODER.take() {
        kept.reinit()?;
        return Ok(kept);
    }
    let mut decoder = Decoder::new()?;
    decoder.set_parameter(DParameter::WindowLogMax(WINDOW))?;
    Ok(decoder)
}

fn no_frame(bound: usize) -> SnapshotError {
    SnapshotError::corrupt(format!("pages are not zstd of at most {bound} bytes"))
}

/// A list that is being read.
struct List<'list> {
    decoder: &'list mut Decoder<'static>,
    /// What the decoder has not seen.
    packed: &'list [u8],
    piece: Vec<u8>,
    /// The part of the piece that was not taken yet.
    ahead: Range<usize>,
    /// Whether nothing comes after this piece.
    is_last: bool,
    bound: usize,
}

impl List<'_> {
    /// What comes next, at least one whole entry if the list has one.
    fn ahead(&mut self) -> Result<&[u8], SnapshotError> {
        if self.ahead.len() < LONGEST_ENTRY && !self.is_last {
            self.fill()?;
        }
        Ok(self.piece.get(self.ahead.clone()).unwrap_or_default())
    }

    /// Takes what is ahead, but for its last `left` bytes.
    fn take_all_but(&mut self, left: usize) {
        self.ahead.start = self.ahead.end.saturating_sub(left);
    }

    fn fill(&mut self) -> Result<(), SnapshotError> {
        self.piece.copy_within(self.ahead.clone(), 0);
        self.ahead = 0..self.ahead.len();
        let mut packed = InBuffer::around(self.packed);
        // Into what a vector has room for, so that nothing is zeroed first.
        let room = self.piece.capacity();
        let mut piece = OutBuffer::around_pos(&mut self.piece, self.ahead.end);
        while !self.is_last && piece.pos() < room {
            let before = (packed.pos(), piece.pos());
            self.is_last = self.decoder.run(&mut packed, &mut piece).map_err(|_| no_frame(self.bound))? == 0;
            if !self.is_last && before == (packed.pos(), piece.pos()) {
                return Err(no_frame(self.bound));
            }
        }
        self.ahead.end = piece.pos();
        self.packed = self.packed.get(packed.pos()..).unwrap_or_default();
        if self.is_last && !self.packed.is_empty() {
            return Err(no_frame(self.bound));
        }
        Ok(())
    }
}

pub(super) fn take_number(list: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let [byte] = take(list)?;
        number |= u64::from(byte & 0x7f) << shift;
        if shift == 63 && byte > 1 {
            return None;
        }
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Makes of a page the one that differs from it by the next entry; says whether it does.
pub(super) fn take_page(list: &mut &[u8], page: &mut [u8; PAGE]) -> Option<bool> {
    let differing = u64::from_le_bytes(take(list)?);
    let lines = page.as_chunks_mut::<LINE>().0;
    for (line, _) in lines.iter_mut().zip(0_u32..).filter(|(_, index)| differing >> index & 1 == 1) {
        take_line(list, line)?;
    }
    Some(differing != 0)
}

fn take_line(list: &mut &[u8], line: &mut [u8; LINE]) -> Option<()> {
    let differing = u16::from_le_bytes(take(list)?);
    let words = line.as_chunks_mut::<WORD>().0;
    for (word, _) in words.iter_mut().zip(0_u32..).filter(|(_, index)| differing >> index & 1 == 1) {
        *word = (u32::from_le_bytes(*word) ^ u32::from_le_bytes(take(list)?)).to_le_bytes();
    }
    (differing != 0).then_some(())
}
