//! Pages of things of one size, told as the difference of each word from the one a stride before it.
//!
//! Blocks of one size lie beside each other in the guest's heap, so objects that a program made in a loop are at even distances,
//! and differ in a number, a pointer and little else.

use super::format::PAGE;

const WORD: usize = 4;
/// Bytes that strides are multiples of.
const UNIT: usize = 8;
/// The longest, in units.
const LONGEST: u8 = 64;
/// Where a search looks before it looks at a whole page; behind the longest stride, and at no even distances.
const SAMPLES: [usize; 8] = [512, 920, 1424, 1768, 2296, 2776, 3320, 3864];
const SAMPLE: usize = 64;

/// A distance within a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stride(u8);

impl Stride {
    pub(super) fn of_units(units: u8) -> Option<Self> {
        (1..=LONGEST).contains(&units).then_some(Self(units))
    }

    pub(super) fn units(self) -> u8 {
        self.0
    }

    fn bytes(self) -> usize {
        usize::from(self.0) * UNIT
    }

    /// Takes off each word the one a stride before, and nothing off the first ones.
    pub(super) fn differences(self, page: &[u8; PAGE]) -> [u8; PAGE] {
        let mut differences = *page;
        let later = differences.get_mut(self.bytes()..).unwrap_or_default();
        combine(later, page, u32::wrapping_sub);
        differences
    }

    /// Makes of differences the page.
    pub(super) fn sum(self, differences: &mut [u8; PAGE]) {
        for start in (self.bytes()..PAGE).step_by(self.bytes()) {
            let (before, rest) = differences.split_at_mut(start);
            let before = before.get(start - self.bytes()..).unwrap_or_default();
            combine(rest, before, u32::wrapping_add);
        }
    }

    /// What the differences of a part of a page take after zstd, about, in bytes.
    fn cost(self, page: &[u8; PAGE], from: usize, length: usize) -> u32 {
        let now = page.get(from..from + length).unwrap_or_default().as_chunks::<WORD>().0;
        let before = page.get(from - self.bytes()..).unwrap_or_default().as_chunks::<WORD>().0;
        let differences = now
            .iter()
            .zip(before)
            .map(|(now, before)| u32::from_le_bytes(*now).wrapping_sub(u32::from_le_bytes(*before)));
        differences.map(cost_of).fold(0, u32::wrapping_add)
    }

    fn cost_of_all(self, page: &[u8; PAGE]) -> u32 {
        let first = page.as_chunks::<WORD>().0.iter().take(self.bytes() / WORD);
        let first = first.map(|word| cost_of(u32::from_le_bytes(*word))).fold(0, u32::wrapping_add);
        first.wrapping_add(self.cost(page, self.bytes(), PAGE - self.bytes()))
    }
}

/// Numbers and pointers go on by little, and by the same again and again. The difference of two texts is as long as they are.
///
/// Wrapping, though no page comes near: what is checked for overflow is not done for several words at once.
fn cost_of(difference: u32) -> u32 {
    const LITTLE: u32 = 1 << 15;
    let is_large = u32::from(difference.wrapping_add(LITTLE) >= 2 * LITTLE);
    u32::from(difference != 0).wrapping_add(is_large.wrapping_mul(3))
}

/// Puts into each word what comes of it and of its neighbour in `others`, for as many as there are of both.
fn combine(words: &mut [u8], others: &[u8], how: fn(u32, u32) -> u32) {
    for (word, other) in words.as_chunks_mut::<WORD>().0.iter_mut().zip(others.as_chunks::<WORD>().0) {
        *word = how(u32::from_le_bytes(*word), u32::from_le_bytes(*other)).to_le_bytes();
    }
}

/// Finds the strides of pages, the latest first: pages of one size come in numbers. So do those that have no stride: after each
/// in which none was found, twice as many are left out, up to fifteen.
#[derive(Default)]
pub(super) struct Strides {
    latest: [Option<Stride>; 4],
    /// Pages that were in vain since the last that was not.
    misses: u32,
    left_out: u32,
}

/// Pages that are left out at most.
const MOST_LEFT_OUT: u32 = 15;

impl Strides {
    /// A stride by which a page takes, by estimate, at most half of what it takes as its difference from another, if one is found.
    pub(super) fn find(&mut self, page: &[u8; PAGE], before: &[u8; PAGE]) -> Option<Stride> {
        if self.left_out > 0 {
            self.left_out -= 1;
            return None;
        }
        let words = page.as_chunks::<WORD>().0.iter().zip(before.as_chunks::<WORD>().0);
        let words = words.map(|(word, before)| u32::from_le_bytes(*word) ^ u32::from_le_bytes(*before));
        let cost = words.map(cost_of).fold(0, u32::wrapping_add);
        let found = self.find_now(page, cost / 2);
        self.misses = if found.is_some() { 0 } else { self.misses.saturating_add(1) };
        self.left_out = MOST_LEFT_OUT.min(((1 << self.misses.min(8)) - 1) >> 1);
        found
    }

    fn find_now(&mut self, page: &[u8; PAGE], most: u32) -> Option<Stride> {
        let counted = |stride: Stride| (stride.cost_of_all(page), stride);
        let fits = |(cost, _): &(u32, Stride)| *cost <= most;
        let known = self.latest.iter().flatten().map(|stride| counted(*stride)).min_by_key(|(cost, _)| *cost);
        let (_, found) = known.filter(fits).or_else(|| Some(counted(searched(page))).filter(fits))?;
        let place = self.latest.iter().position(|latest| *latest == Some(found)).unwrap_or(self.latest.len() - 1);
        self.latest.get_mut(..=place)?.rotate_right(1);
        *self.latest.first_mut()? = Some(found);
        Some(found)
    }
}

fn searched(page: &[u8; PAGE]) -> Stride {
    let cost = |stride: &Stride| SAMPLES.iter().map(|from| stride.cost(page, *from, SAMPLE)).sum::<u32>();
    (1..=LONGEST).map(Stride).min_by_key(cost).unwrap_or(Stride(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Blocks of so many bytes: a tag, their number, a pointer to the one before, and what is the same in all.
    fn blocks(bytes: usize) -> [u8; PAGE] {
        let mut page = [0; PAGE];
        for (number, block) in (0_u32..).zip(page.chunks_mut(bytes)) {
            let words = [7, number, 0x1000 + number * u32::try_from(bytes).unwrap(), 0xffff_fff9];
            for (place, word) in block.chunks_mut(4).zip(words.into_iter().chain(100..)) {
                place.copy_from_slice(&word.to_le_bytes());
            }
        }
        page
    }

    #[test]
    fn the_size_of_blocks_is_found() {
        for bytes in (16..=512).step_by(8) {
            let page = blocks(bytes);
            let found = Strides::default().find_now(&page, u32::MAX).unwrap();
            assert_eq!(found.bytes() % bytes, 0, "{bytes} and not {}", found.bytes());
            // Two words of each block differ a little from those in the one before.
            let most = u32::try_from(2 * PAGE / bytes + found.bytes()).unwrap();
            assert!(found.cost_of_all(&page) <= most, "{bytes}");
        }
    }

    #[test]
    fn blocks_that_are_mostly_zero_have_a_size_too() {
        for bytes in [64, 152, 256, 488, 512] {
            let mut page = [0; PAGE];
            page.chunks_mut(bytes).for_each(|block| block[..16].copy_from_slice(b"\x07\0\0\xf0some words.."));
            assert_eq!(
                Strides::default().find(&page, &[0; PAGE]).map(|found| found.bytes() % bytes),
                Some(0),
                "{bytes}"
            );
        }
    }

    #[test]
    fn what_was_found_is_tried_first_and_no_more_is_taken_than_asked_for() {
        let mut strides = Strides::default();
        let units = |strides: &Strides| strides.latest.map(|stride| stride.map_or(0, Stride::units));
        for bytes in [48, 64, 192, 48, 56, 72] {
            let most = Stride::of_units(u8::try_from(bytes / 8).unwrap()).unwrap().cost_of_all(&blocks(bytes));
            assert_eq!(strides.find_now(&blocks(bytes), most).map(Stride::bytes), Some(bytes));
            assert_eq!(strides.find_now(&blocks(bytes), most - 1), None);
        }
        assert_eq!(units(&strides), [9, 7, 6, 24]);
    }

    #[test]
    fn differences_are_of_words() {
        let mut page = [0; PAGE];
        page[..16].copy_from_slice(&[5, 0, 0, 0, 9, 0, 0, 0, 4, 0, 0, 0, 10, 1, 0, 0]);
        let mut differences = Stride(1).differences(&page);
        assert_eq!(differences[..16], [5, 0, 0, 0, 9, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 1, 0, 0]);
        Stride(1).sum(&mut differences);
        assert!(differences == page);
    }

    #[test]
    fn pages_are_left_out_after_those_in_vain() {
        let noise = std::array::from_fn(|place| u8::try_from((place * place * 31 + 7 * place) >> 5 & 0xff).unwrap());
        let mut strides = Strides::default();
        let mut looked_at = Vec::new();
        for place in 0..60 {
            let before = strides.misses;
            assert_eq!(strides.find(&noise, &[0; PAGE]), None);
            if strides.misses > before {
                looked_at.push(place);
            }
        }
        assert_eq!(looked_at, [0, 1, 3, 7, 15, 31, 47]);
        let found = (60..70).map(|_| strides.find(&blocks(64), &[0; PAGE]).map(Stride::bytes)).collect::<Vec<_>>();
        assert_eq!(found, [None, None, None, Some(64), Some(64), Some(64), Some(64), Some(64), Some(64), Some(64)]);
    }

    #[test]
    fn only_what_takes_half_is_taken() {
        let mut page = blocks(64);
        let differs = |from: &[u8; PAGE], page: &[u8; PAGE]| Strides::default().find(page, from).map(Stride::bytes);
        assert_eq!(differs(&[0; PAGE], &page), Some(64));
        // Numbers that go on by little take no less as differences than as they are.
        for (number, word) in (0_u32..).zip(page.chunks_mut(4)) {
            word.copy_from_slice(&(number * number % 1000).to_le_bytes());
        }
        assert_eq!(differs(&[0; PAGE], &page), None);
    }

    #[test]
    fn little_differences_cost_less() {
        let costs = [0, 1, 0x7fff, 0x8000, u32::MAX, u32::MAX - 0x7fff, u32::MAX - 0x8000].map(cost_of);
        assert_eq!(costs, [0, 1, 1, 4, 1, 1, 4]);
    }

    #[test]
    fn strides_are_8_to_512_bytes() {
        let read = [0, 1, 64, 65, 255].map(|units| Stride::of_units(units).map(Stride::bytes));
        assert_eq!(read, [None, Some(8), Some(512), None, None]);
    }

    proptest! {
        #[test]
        fn sums_of_differences_are_the_page(words in prop::collection::vec(any::<u32>(), PAGE / 4), units in 1..=LONGEST) {
            let page: [u8; PAGE] = words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>().try_into().unwrap();
            let stride = Stride::of_units(units).unwrap();
            let mut again = stride.differences(&page);
            let words = again.as_chunks().0.iter().map(|word| cost_of(u32::from_le_bytes(*word)));
            prop_assert_eq!(words.sum::<u32>(), stride.cost_of_all(&page));
            stride.sum(&mut again);
            prop_assert!(again == page);
        }
    }
}
