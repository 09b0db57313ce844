//! Pages of guest memory as their difference from the baseline image, or of a link from the image that it follows; then
//! zstd.
//!
//! The list (`list.rs`) has an entry for each page that differs, in ascending order and up to the frame's end. Its number is
//! four times the gap, which is how many pages are skipped since the entry before, so that no list can be out of order; and what
//! the page is told from:
//!
//! - [`FROM_BEFORE`]: the image before, which for a full image is the baseline.
//! - [`FROM_BASELINE`], in a link: the baseline all the same. Text in the place of other text is smaller by itself, and memory that
//!   was freed is the baseline's again.
//! - [`BY_STRIDE`]: itself (`strides.rs`). The number of units follows, then the differences as a page.
//!
//! Past the end of either image every byte counts as zero. Changed pages are mostly zero after XOR: naming the words that
//! are not takes a quarter off the time and a tenth off the size of zstd alone over whole pages.

use super::format::take;
use super::format::{PAGE, SnapshotError};
use super::list::{LONGEST_ENTRY, compress, put_number, put_page, read_entries, take_number, take_page};
use super::strides::{Stride, Strides};

const ZERO_PAGE: [u8; PAGE] = [0; PAGE];

const FROM_BEFORE: u64 = 0;
const FROM_BASELINE: u64 = 1;
const BY_STRIDE: u64 = 2;
/// Bits of an entry's number that say what the page is told from.
const SOURCE_BITS: u32 = 2;
/// Bytes of an entry that are not worth a search for strides.
const SHORT: usize = 512;

/// Packs the pages of `memory` that `changed` names in ascending order, less those that equal the
/// baseline after all.
///
/// Both images are whole pages. Pages that are not named are not read.
pub(crate) fn pack(
    memory: &[u8],
    baseline: &[u8],
    changed: impl Iterator<Item = u32>,
) -> Result<Vec<u8>, SnapshotError> {
    compress(&list_pages(memory, baseline, changed)?)
}

fn list_pages(memory: &[u8], baseline: &[u8], changed: impl Iterator<Item = u32>) -> Result<Vec<u8>, SnapshotError> {
    let baseline = whole_pages(baseline)?;
    let mut list = Vec::with_capacity(room(memory, &changed));
    let mut strides = Strides::default();
    named_pages(memory, changed, |number, gap, page| {
        let before = baseline.get(number).unwrap_or(&ZERO_PAGE);
        if page == before {
            return false;
        }
        let start = list.len();
        put_entry(&mut list, gap, FROM_BEFORE, page, before);
        put_by_stride_if_cheaper(&mut list, start, gap, (page, before), &mut strides);
        true
    })?;
    Ok(list)
}

fn put_entry(list: &mut Vec<u8>, gap: u64, source: u64, page: &[u8; PAGE], before: &[u8; PAGE]) {
    put_number(list, gap << SOURCE_BITS | source);
    put_page(list, page, before);
}

/// Puts a page, whose entry at `start` is the last, by a stride in that one's place, where half of it is gained by estimate.
fn put_by_stride_if_cheaper(
    list: &mut Vec<u8>,
    start: usize,
    gap: u64,
    (page, before): (&[u8; PAGE], &[u8; PAGE]),
    strides: &mut Strides,
) {
    if list.len().saturating_sub(start) < SHORT {
        return;
    }
    if let Some(stride) = strides.find(page, before) {
        list.truncate(start);
        put_number(list, gap << SOURCE_BITS | BY_STRIDE);
        list.push(stride.units());
        put_page(list, &stride.differences(page), &ZERO_PAGE);
    }
}

/// As [`pack`], as the difference from an image whose pages `before` gives, where they are not the baseline's.
///
/// `changed` names the pages that may differ from those.
pub(crate) fn pack_link<'before>(
    memory: &[u8],
    baseline: &[u8],
    changed: impl Iterator<Item = u32>,
    before: impl Fn(u32) -> Option<&'before [u8; PAGE]>,
) -> Result<Vec<u8>, SnapshotError> {
    let baseline = whole_pages(baseline)?;
    let mut list = Vec::with_capacity(room(memory, &changed));
    let mut strides = Strides::default();
    named_pages(memory, changed, |number, gap, page| {
        let fresh = baseline.get(number).unwrap_or(&ZERO_PAGE);
        let before = u32::try_from(number).ok().and_then(&before).unwrap_or(fresh);
        if page == before {
            return false;
        }
        let start = list.len();
        put_entry(&mut list, gap, FROM_BEFORE, page, before);
        let is_long = list.len().saturating_sub(start) > PAGE / 2;
        let mut told_from = before;
        if !std::ptr::eq(before, fresh) && (is_long || page == fresh) {
            list.truncate(start);
            put_entry(&mut list, gap, FROM_BASELINE, page, fresh);
            told_from = fresh;
        }
        put_by_stride_if_cheaper(&mut list, start, gap, (page, told_from), &mut strides);
        true
    })?;
    compress(&list)
}

fn room(memory: &[u8], changed: &impl Iterator) -> usize {
    changed.size_hint().0.min(memory.len() / PAGE).saturating_mul(PAGE / 8)
}

/// Gives `put` the number of each page that is named, the gap before it and the page; it says whether it took it.
fn named_pages(
    memory: &[u8],
    named: impl Iterator<Item = u32>,
    mut put: impl FnMut(usize, u64, &[u8; PAGE]) -> bool,
) -> Result<(), SnapshotError> {
    let memory = whole_pages(memory)?;
    let mut next = 0;
    for number in named {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let page = memory.get(number).ok_or(SnapshotError::Failed("a changed page is past the end of memory"))?;
        let gap = number.checked_sub(next).ok_or(SnapshotError::Failed("changed pages do not ascend"))?;
        if put(number, gap as u64, page) {
            next = number.saturating_add(1);
        }
    }
    Ok(())
}

fn whole_pages(image: &[u8]) -> Result<&[[u8; PAGE]], SnapshotError> {
    match image.as_chunks() {
        (pages, []) => Ok(pages),
        _ => Err(SnapshotError::Failed("an image is not whole pages")),
    }
}

/// Gives `write` the number and new content of each packed page, in ascending order.
///
/// `baseline` is whole pages, and only those that are listed are read. `memory_len` bounds page
/// numbers and allocation, so it must have passed the memory limit before.
pub(crate) fn unpack(
    packed: &[u8],
    baseline: &[u8],
    memory_len: u64,
    mut write: impl FnMut(u32, &[u8; PAGE]) -> Result<(), SnapshotError>,
) -> Result<(), SnapshotError> {
    let baseline = whole_pages(baseline)?;
    let memory_pages = usize::try_from(memory_len).unwrap_or(usize::MAX) / PAGE;
    if memory_pages < baseline.len() {
        let least = baseline.len().saturating_mul(PAGE);
        return Err(SnapshotError::corrupt(format!("memory length {memory_len} is under the baseline's {least}")));
    }
    let mut next = 0;
    read_entries(packed, memory_pages.saturating_mul(LONGEST_ENTRY), |list| {
        let (number, source) = numbered(next, take_number(list), memory_pages)?;
        let mut page = *baseline.get(number).unwrap_or(&ZERO_PAGE);
        let is_read = match source {
            FROM_BEFORE => take_page(list, &mut page) == Some(true),
            BY_STRIDE => take_by_stride(list, &mut page, number)?.is_some(),
            _ => return Err(told_from_nothing(number)),
        };
        if !is_read {
            return Err(cut_short(number));
        }
        let position =
            u32::try_from(number).map_err(|_| SnapshotError::corrupt(format!("page {number} is over {}", u32::MAX)))?;
        next = number.saturating_add(1);
        write(position, &page)
    })
}

/// Makes of `memory`, which holds the image before, that of a link. Both images are whole pages.
pub(crate) fn unpack_link(packed: &[u8], baseline: &[u8], memory: &mut [u8]) -> Result<(), SnapshotError> {
    let baseline = whole_pages(baseline)?;
    let pages = memory.as_chunks_mut::<PAGE>().0;
    let memory_pages = pages.len();
    let mut next = 0;
    read_entries(packed, memory_pages.saturating_mul(LONGEST_ENTRY), |list| {
        let (number, source) = numbered(next, take_number(list), memory_pages)?;
        let page = pages.get_mut(number).ok_or_else(|| cut_short(number))?;
        let is_read = match source {
            FROM_BEFORE => take_page(list, page) == Some(true),
            FROM_BASELINE => {
                *page = *baseline.get(number).unwrap_or(&ZERO_PAGE);
                // It may be the baseline's again.
                take_page(list, page).is_some()
            }
            BY_STRIDE => take_by_stride(list, page, number)?.is_some(),
            _ => return Err(told_from_nothing(number)),
        };
        if !is_read {
            return Err(cut_short(number));
        }
        next = number.saturating_add(1);
        Ok(())
    })
}

fn take_by_stride(list: &mut &[u8], page: &mut [u8; PAGE], number: usize) -> Result<Option<()>, SnapshotError> {
    let Some([units]) = take(list) else { return Ok(None) };
    let stride = Stride::of_units(units).ok_or_else(|| told_from_nothing(number))?;
    *page = ZERO_PAGE;
    Ok(take_page(list, page).map(|_| stride.sum(page)))
}

/// The number of the page that an entry is about, and what it is told from.
fn numbered(next: usize, coded: Option<u64>, memory_pages: usize) -> Result<(usize, u64), SnapshotError> {
    let coded = coded.ok_or_else(|| SnapshotError::corrupt("page list has a gap without an end"))?;
    let number = usize::try_from(coded >> SOURCE_BITS)
        .ok()
        .and_then(|gap| next.checked_add(gap))
        .filter(|number| *number < memory_pages)
        .ok_or_else(|| SnapshotError::corrupt(format!("page list passes the last of {memory_pages} pages")))?;
    Ok((number, coded & ((1 << SOURCE_BITS) - 1)))
}

fn told_from_nothing(number: usize) -> SnapshotError {
    SnapshotError::corrupt(format!("page {number} is told from nothing that is known"))
}

fn cut_short(number: usize) -> SnapshotError {
    SnapshotError::corrupt(format!("page {number} is cut short or changes nothing"))
}

/// Whether a page of `memory` is not as the baseline has it; zero past its end.
pub(crate) fn differs(memory: &[u8], baseline: &[u8], number: u32) -> bool {
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    let before = baseline.as_chunks::<PAGE>().0.get(number).unwrap_or(&ZERO_PAGE);
    memory.as_chunks::<PAGE>().0.get(number).is_some_and(|page| page != before)
}

/// Numbers of the pages of `memory` that differ from the baseline, found by reading all of both;
/// both are whole pages.
pub(crate) fn changed_by_comparing(memory: &[u8], baseline: &[u8]) -> Vec<u32> {
    let (pages, before) = (memory.as_chunks::<PAGE>().0, baseline.as_chunks::<PAGE>().0);
    let before = before.iter().chain(std::iter::repeat(&ZERO_PAGE));
    let pairs = pages.iter().zip(before).zip(0_u32..);
    pairs.filter(|((page, before), _)| page != before).map(|(_, number)| number).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MEMORY_PAGES: usize = 32;
    const BASELINE_PAGES: usize = 16;

    fn baseline() -> Vec<u8> {
        (0..BASELINE_PAGES * PAGE).map(|index| u8::try_from(index * 31 % 251).unwrap()).collect()
    }

    /// The baseline, grown with zeros to twice its length.
    fn fresh_memory() -> Vec<u8> {
        let mut memory = baseline();
        memory.resize(MEMORY_PAGES * PAGE, 0);
        memory
    }

    fn memory_len() -> u64 {
        u64::try_from(MEMORY_PAGES * PAGE).unwrap()
    }

    fn restore(packed: &[u8]) -> Result<(Vec<u8>, Vec<u32>), SnapshotError> {
        let (mut memory, mut written) = (fresh_memory(), Vec::new());
        unpack(packed, &baseline(), memory_len(), |number, page| {
            let start = usize::try_from(number).unwrap() * PAGE;
            memory[start..start + PAGE].copy_from_slice(page);
            written.push(number);
            Ok(())
        })?;
        Ok((memory, written))
    }

    fn refused(list: &[u8]) -> String {
        restore(&compress(list).unwrap()).unwrap_err().to_string()
    }

    #[test]
    fn nothing_changed_is_an_empty_list() {
        let packed = pack(&fresh_memory(), &baseline(), 0..32).unwrap();
        assert_eq!(read_entries(&packed, 0, |_| Err(SnapshotError::Failed("an entry"))), Ok(()));
        assert_eq!(restore(&packed), Ok((fresh_memory(), Vec::new())));
    }

    #[test]
    fn golden_bytes_of_the_list() {
        let mut memory = fresh_memory();
        memory[2 * PAGE + 5] ^= 0xff;
        memory[3 * PAGE - 1] ^= 0x10;
        memory[20 * PAGE + 64] = 9;
        let list = list_pages(&memory, &baseline(), [2, 3, 20].into_iter()).unwrap();
        let expected = [
            vec![8],
            vec![1, 0, 0, 0, 0, 0, 0, 0x80],
            vec![2, 0, 0, 0xff, 0, 0],
            vec![0, 0x80, 0, 0, 0, 0x10],
            vec![68],
            vec![2, 0, 0, 0, 0, 0, 0, 0],
            vec![1, 0, 9, 0, 0, 0],
        ];
        assert_eq!(list, expected.concat());
        assert_eq!(restore(&compress(&list).unwrap()), Ok((memory, vec![2, 20])));
    }

    /// Pages of blocks of 64 bytes, which differ in one word of sixteen.
    fn blocks(memory: &mut [u8]) {
        for (number, block) in (1_u32..).zip(memory.chunks_mut(64)) {
            block.fill(0x55);
            block[..4].copy_from_slice(&number.to_le_bytes());
        }
    }

    #[test]
    fn pages_of_blocks_of_one_size_are_told_by_strides() {
        let mut memory = fresh_memory();
        blocks(&mut memory[10 * PAGE..20 * PAGE]);
        let list = list_pages(&memory, &baseline(), 0..32).unwrap();
        let lines = u64::MAX.to_le_bytes();
        let first = [[0xff, 0xff, 1, 0, 0, 0].to_vec(), vec![0x55; 60]].concat();
        let others = [1, 0, 1, 0, 0, 0].repeat(63);
        // Ten pages on, by strides of eight units.
        assert_eq!(list[..454], [&[42, 8], &lines[..], &first, &others].concat());
        assert_eq!(list.len(), 10 * 454);
        assert_eq!(restore(&compress(&list).unwrap()), Ok((memory.clone(), (10..20).collect())));

        let mut before = fresh_memory();
        before[10 * PAGE..20 * PAGE].fill(0xaa);
        let (length, restored) = relink(&before, &memory, 0..32);
        assert!(restored == memory && length < 200, "{length}");
        assert!(relink(&memory, &before, 0..32).1 == before);
    }

    #[test]
    fn a_page_of_zeros_may_be_told_by_a_stride() {
        let mut memory = fresh_memory();
        memory[PAGE..2 * PAGE].fill(0);
        let packed = pack(&memory, &baseline(), 0..32).unwrap();
        assert!(packed.len() < 40, "{}", packed.len());
        assert_eq!(restore(&packed), Ok((memory, vec![1])));
    }

    #[test]
    fn pages_that_are_not_named_stay_the_baselines() {
        let mut memory = fresh_memory();
        memory[0] ^= 1;
        memory[PAGE] ^= 1;
        let (restored, written) = restore(&pack(&memory, &baseline(), [1].into_iter()).unwrap()).unwrap();
        memory[0] ^= 1;
        assert_eq!((restored, written), (memory, vec![1]));
    }

    /// Packs `memory` as a link behind an image that holds `before`, and unpacks it over that.
    fn relink(before: &[u8], memory: &[u8], named: impl Iterator<Item = u32>) -> (usize, Vec<u8>) {
        let page = |number: u32| before.as_chunks::<PAGE>().0.get(usize::try_from(number).unwrap());
        let packed = pack_link(memory, &baseline(), named, page).unwrap();
        let mut restored = before.to_vec();
        restored.resize(memory.len(), 0);
        unpack_link(&packed, &baseline(), &mut restored).unwrap();
        (packed.len(), restored)
    }

    #[test]
    fn a_link_holds_what_differs_from_the_image_before() {
        let mut before = fresh_memory();
        before.iter_mut().step_by(3).for_each(|byte| *byte ^= 0x5a);
        let mut memory = before.clone();
        memory[7 * PAGE + 9] ^= 1;
        memory[30 * PAGE] ^= 1;
        let (length, restored) = relink(&before, &memory, 0..32);
        assert!(restored == memory && length < 100, "{length}");
        // Nothing is no change, named or not.
        assert!(relink(&before, &before, 0..32).1 == before);
        assert!(relink(&before, &memory, [7].into_iter()).1[30 * PAGE] == before[30 * PAGE]);
    }

    #[test]
    fn a_link_takes_pages_back_to_the_baseline() {
        let noise: Vec<u8> =
            (0_u32..131_072).map(|index| (index.wrapping_mul(0x9e37_79b9) >> 24).try_into().unwrap()).collect();
        let (length, restored) = relink(&noise, &fresh_memory(), 0..32);
        assert!(restored == fresh_memory() && length < 100, "{length}");
    }

    #[test]
    fn a_link_to_other_text_takes_no_more_than_the_text() {
        let text = |word: &str| word.bytes().cycle().take(32 * PAGE).collect::<Vec<_>>();
        let (before, memory) = (text("one thing and another, "), text("something else altogether; "));
        let full = pack(&memory, &baseline(), 0..32).unwrap().len();
        let (length, restored) = relink(&before, &memory, 0..32);
        assert!(restored == memory && length <= full + 16, "{length} and {full}");
    }

    #[test]
    fn a_link_to_longer_memory_starts_from_zeros() {
        let mut memory = fresh_memory();
        memory[31 * PAGE + 1] = 7;
        assert!(relink(&baseline(), &memory, 0..32).1 == memory);
    }

    #[test]
    fn golden_bytes_of_the_list_of_a_link() {
        let before = fresh_memory();
        let mut memory = before.clone();
        memory[2 * PAGE + 5] ^= 0xff;
        let mut written = before.clone();
        written[20 * PAGE + 64] = 9;
        let page = |number: u32| written.as_chunks::<PAGE>().0.get(usize::try_from(number).unwrap());
        let packed = pack_link(&memory, &baseline(), [2, 20].into_iter(), page).unwrap();
        let mut list = Vec::new();
        read_entries(&packed, 1 << 20, |rest| {
            list = std::mem::take(rest).to_vec();
            Ok(())
        })
        .unwrap();
        let expected = [
            vec![8],
            vec![1, 0, 0, 0, 0, 0, 0, 0],
            vec![2, 0, 0, 0xff, 0, 0],
            // Zero again, as in the baseline: 17 pages on, and nothing differs.
            vec![69],
            vec![0; 8],
        ];
        assert_eq!(list, expected.concat());
    }

    #[test]
    fn a_crafted_list_of_a_link_is_corrupt() {
        let refused = |list: &[u8]| {
            let mut memory = fresh_memory();
            unpack_link(&compress(list).unwrap(), &baseline(), &mut memory).unwrap_err().to_string()
        };
        let cases: [(Vec<u8>, &str); 8] = [
            (vec![0x80, 1, 0, 0, 0, 0, 0, 0, 0, 0], "page list passes the last of 32 pages"),
            (vec![0xff; 9], "page list has a gap without an end"),
            (vec![0, 0, 0, 0, 0, 0, 0, 0, 0], "page 0 is cut short or changes nothing"),
            (vec![1, 0, 0, 0, 0, 0, 0, 0], "page 0 is cut short or changes nothing"),
            (vec![1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], "page 0 is cut short or changes nothing"),
            (vec![2, 65, 0, 0, 0, 0, 0, 0, 0, 0], "page 0 is told from nothing that is known"),
            (vec![2, 64, 0, 0, 0, 0, 0, 0, 0], "page 0 is cut short or changes nothing"),
            (vec![3, 0, 0, 0, 0, 0, 0, 0, 0], "page 0 is told from nothing that is known"),
        ];
        for (list, reason) in cases {
            assert_eq!(refused(&list), format!("snapshot is corrupt: {reason}"), "{list:?}");
        }
    }

    #[test]
    fn a_list_of_many_pieces_is_read_whole() {
        let baseline = vec![0; PAGE];
        let memory: Vec<u8> =
            (0_u32..8 << 20).map(|index| (index.wrapping_mul(0x9e37_79b9) >> 24).try_into().unwrap()).collect();
        let named = || 0..u32::try_from(memory.len() / PAGE).unwrap();
        let packed = pack(&memory, &baseline, named()).unwrap();
        let mut restored = vec![0; memory.len()];
        let restoring = |packed: &[u8], restored: &mut Vec<u8>| {
            unpack(packed, &baseline, memory.len() as u64, |number, page| {
                let start = usize::try_from(number).unwrap() * PAGE;
                restored[start..start + PAGE].copy_from_slice(page);
                Ok(())
            })
        };
        restoring(&packed, &mut restored).unwrap();
        assert!(restored == memory);
        for length in [packed.len() - 1, packed.len() / 2, 100] {
            let cut = restoring(&packed[..length], &mut restored);
            assert!(matches!(cut, Err(SnapshotError::Corrupt(_))), "{length} of {}", packed.len());
        }
        // A window of 4 MiB is more than a reader gives.
        let list = list_pages(&memory, &baseline, named()).unwrap();
        for (window, is_read) in [(20, true), (22, false)] {
            let mut other = zstd::bulk::Compressor::new(1).unwrap();
            other.set_parameter(zstd::zstd_safe::CParameter::WindowLog(window)).unwrap();
            let result = restoring(&other.compress(&list).unwrap(), &mut restored);
            assert_eq!(result.is_ok(), is_read, "{window}: {result:?}");
        }
    }

    #[test]
    fn a_dense_page_stays_under_the_bound() {
        let memory: Vec<u8> = fresh_memory().iter().map(|byte| byte ^ 0xa5).collect();
        let list = list_pages(&memory, &baseline(), 0..32).unwrap();
        assert!(list.len() <= MEMORY_PAGES * LONGEST_ENTRY);
        assert_eq!(restore(&compress(&list).unwrap()), Ok((memory, (0..32).collect())));
    }

    #[test]
    fn comparing_finds_what_differs_from_the_baseline_and_from_zero() {
        let mut memory = fresh_memory();
        assert_eq!(changed_by_comparing(&memory, &baseline()), Vec::<u32>::new());
        for number in [0, 15, 16, 31] {
            memory[number * PAGE + 4095] ^= 1;
        }
        assert_eq!(changed_by_comparing(&memory, &baseline()), [0, 15, 16, 31]);
    }

    #[test]
    fn a_wrong_caller_gets_an_error() {
        let (memory, baseline) = (fresh_memory(), baseline());
        let mut changed = memory.clone();
        changed[3 * PAGE] ^= 1;
        let cases = [
            (pack(&memory, &baseline, [32].into_iter()), "a changed page is past the end of memory"),
            (pack(&changed, &baseline, [3, 3].into_iter()), "changed pages do not ascend"),
            (pack(&memory[1..], &baseline, 0..1), "an image is not whole pages"),
            (pack(&memory, &baseline[1..], 0..1), "an image is not whole pages"),
        ];
        for (result, reason) in cases {
            assert_eq!(result, Err(SnapshotError::Failed(reason)));
        }
    }

    #[test]
    fn a_crafted_list_is_corrupt() {
        let line_of_one_word = [1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 5, 0, 0, 0];
        let cases: [(Vec<u8>, &str); 13] = [
            ([&[0x80, 1][..], &line_of_one_word].concat(), "page list passes the last of 32 pages"),
            (
                [&[124][..], &line_of_one_word, &[0], &line_of_one_word].concat(),
                "page list passes the last of 32 pages",
            ),
            (vec![0x80], "page list has a gap without an end"),
            (vec![0xff; 11], "page list has a gap without an end"),
            ([&[0x80; 9][..], &[2], &line_of_one_word].concat(), "page list has a gap without an end"),
            (vec![0, 0, 0, 0, 0, 0, 0, 0, 0], "page 0 is cut short or changes nothing"),
            (vec![0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], "page 0 is cut short or changes nothing"),
            ([&[0][..], &line_of_one_word[..13]].concat(), "page 0 is cut short or changes nothing"),
            // By no stride, by one that is too long, cut short, from another image where there is none, from nothing known.
            ([&[2, 0][..], &line_of_one_word].concat(), "page 0 is told from nothing that is known"),
            ([&[2, 65][..], &line_of_one_word].concat(), "page 0 is told from nothing that is known"),
            (vec![2], "page 0 is cut short or changes nothing"),
            ([&[1][..], &line_of_one_word].concat(), "page 0 is told from nothing that is known"),
            ([&[3][..], &line_of_one_word].concat(), "page 0 is told from nothing that is known"),
        ];
        for (list, reason) in cases {
            assert_eq!(refused(&list), format!("snapshot is corrupt: {reason}"), "{list:?}");
        }
        let largest_gap = [[0xff; 9].as_slice(), &[0x01], &line_of_one_word].concat();
        assert_eq!(refused(&largest_gap), "snapshot is corrupt: page list passes the last of 32 pages");
    }

    #[test]
    fn memory_shorter_than_the_baseline_is_corrupt() {
        let packed = compress(&[]).unwrap();
        let error = unpack(&packed, &baseline(), 4096, |_, _| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "snapshot is corrupt: memory length 4096 is under the baseline's 65536");
    }

    #[test]
    fn decompression_bomb() {
        let bound = MEMORY_PAGES * LONGEST_ENTRY;
        let expected = Err(SnapshotError::Corrupt(format!("pages are not zstd of at most {bound} bytes")));
        let bomb = compress(&vec![0; bound + 1]).unwrap();
        assert_eq!(restore(&bomb), expected);
        // A frame whose head promises four gigabytes and which holds nothing.
        let promise = [0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0xff, 0xff, 0xff, 0xff, 0x01, 0, 0];
        assert_eq!(restore(&promise), expected);
        assert_eq!(restore(b"not zstd at all"), expected);
        assert_eq!(restore(&[bomb.as_slice(), &bomb].concat()), expected);
    }

    #[test]
    fn every_truncation_is_corrupt_and_no_flipped_bit_panics() {
        let mut memory = fresh_memory();
        memory[PAGE..PAGE + 40].fill(7);
        memory[20 * PAGE] = 9;
        let packed = pack(&memory, &baseline(), 0..32).unwrap();
        for length in 1..packed.len() {
            assert!(matches!(restore(&packed[..length]), Err(SnapshotError::Corrupt(_))), "length {length}");
        }
        for bit in 0..packed.len() * 8 {
            let mut bytes = packed.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(restore(&bytes), Ok(_) | Err(SnapshotError::Corrupt(_))), "bit {bit}");
        }
    }

    #[test]
    fn an_error_of_the_writer_ends_the_reading() {
        let mut memory = fresh_memory();
        memory.fill(1);
        let packed = pack(&memory, &baseline(), 0..32).unwrap();
        let mut calls = 0;
        let result = unpack(&packed, &baseline(), memory_len(), |_, _| {
            calls += 1;
            Err(SnapshotError::Failed("no"))
        });
        assert_eq!((result, calls), (Err(SnapshotError::Failed("no")), 1));
    }

    proptest! {
        #[test]
        fn unpacking_gives_back_what_was_packed(
            edits in prop::collection::vec((0..MEMORY_PAGES * PAGE, any::<u64>()), 0..200),
            even in prop::collection::vec((0..MEMORY_PAGES, 1_usize..80), 0..4),
        ) {
            let mut memory = fresh_memory();
            for (page, units) in even {
                let place = page * PAGE..(page + 1) * PAGE;
                memory[place].chunks_mut(units * 8).for_each(|block| block[..8].fill(0x77));
            }
            for (position, value) in edits {
                let end = (position + 8).min(memory.len());
                memory[position..end].copy_from_slice(&value.to_le_bytes()[..end - position]);
            }
            let changed = changed_by_comparing(&memory, &baseline());
            let packed = pack(&memory, &baseline(), changed.iter().copied()).unwrap();
            prop_assert_eq!(&packed, &pack(&memory, &baseline(), 0..32).unwrap());
            prop_assert_eq!(restore(&packed), Ok((memory, changed)));
        }

        #[test]
        fn a_link_gives_what_was_packed(
            edits in prop::collection::vec((0..MEMORY_PAGES * PAGE, any::<u64>(), any::<bool>()), 0..200),
            freed in prop::collection::vec(0..MEMORY_PAGES, 0..4),
            even in prop::collection::vec((0..MEMORY_PAGES, 1_usize..80), 0..4),
        ) {
            let (mut before, mut memory) = (fresh_memory(), fresh_memory());
            for (page, units) in even {
                let place = page * PAGE..(page + 1) * PAGE;
                memory[place].chunks_mut(units * 8).for_each(|block| block[..8].fill(0x77));
            }
            for (position, value, both) in edits {
                let end = (position + 8).min(memory.len());
                let bytes = &value.to_le_bytes()[..end - position];
                memory[position..end].copy_from_slice(bytes);
                before[position..end].copy_from_slice(if both { bytes } else { &memory[..end - position] });
            }
            for page in freed {
                memory[page * PAGE..(page + 1) * PAGE].copy_from_slice(&fresh_memory()[page * PAGE..(page + 1) * PAGE]);
            }
            prop_assert!(relink(&before, &memory, 0..32).1 == memory);
        }

        #[test]
        fn no_list_panics(
            list in prop::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(2), any::<u8>()], 0..300),
        ) {
            let packed = compress(&list).unwrap();
            prop_assert!(matches!(restore(&packed), Ok(_) | Err(SnapshotError::Corrupt(_))));
            let link = unpack_link(&packed, &baseline(), &mut fresh_memory());
            prop_assert!(matches!(link, Ok(()) | Err(SnapshotError::Corrupt(_))));
        }
    }
}
