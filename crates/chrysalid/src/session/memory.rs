//! Which pages of a guest's memory are its own, and copies of them: what snapshots and checkpoints are made of.
//!
//! The kernel knows which pages of a copy-on-write mapping were written (/proc/self/pagemap: present or swapped, and not
//! of the file); where it does not tell, the memory is compared with the baseline. Pages of the guest's stack below
//! its resting place are dead and never count.

use std::cell::RefCell;
use std::fs::File;
use std::ops::Range;

use super::instance::Instance;
use crate::error::Result;
use crate::snapshot::format::PAGE;
use crate::snapshot::pages::{changed_by_comparing, differs};

/// Size of the guest's stack in linear memory, as it is linked.
const STACK_SIZE: usize = 1 << 20;
/// Dead stack pages after which a program was deep enough to be worth a fresh fiber.
const DEEP_PAGES: usize = 16;

/// The pages that may differ from the baseline, ascending, and how many dead stack pages were touched.
pub(crate) struct Changed {
    pub(crate) pages: Vec<u32>,
    pub(crate) was_deep: bool,
}

pub(crate) fn changed(memory: &[u8], baseline: &[u8], stack_pointer: i32) -> Changed {
    let mut pages = private_pages(memory).unwrap_or_else(|| changed_by_comparing(memory, baseline));
    let stack = dead_stack(stack_pointer);
    let mut dead = Vec::new();
    pages.retain(|page| {
        let lives = !stack.contains(&(*page as usize));
        dead.extend((!lives).then_some(*page));
        lives
    });
    // A slot keeps pages from the session before, as the baseline has them: those are no sign of depth.
    let was_deep = dead.len() > DEEP_PAGES
        && dead.into_iter().filter(|page| differs(memory, baseline, *page)).nth(DEEP_PAGES).is_some();
    Changed { pages, was_deep }
}

/// Whole pages of the stack below where it rests.
pub(crate) fn dead_stack(stack_pointer: i32) -> Range<usize> {
    let top = usize::try_from(stack_pointer).unwrap_or(0);
    top.saturating_sub(STACK_SIZE).div_ceil(PAGE)..top / PAGE
}

/// A copy of a guest's own pages.
pub(crate) struct Copy {
    pages: Vec<u32>,
    bytes: Vec<u8>,
    memory_length: usize,
}

impl Copy {
    pub(crate) fn of(memory: &[u8], changed: Vec<u32>) -> Self {
        let mut bytes = Vec::with_capacity(changed.len() * PAGE);
        let mut pages = changed;
        pages.retain(|page| {
            let start = *page as usize * PAGE;
            memory.get(start..start + PAGE).is_some_and(|contents| {
                bytes.extend_from_slice(contents);
                true
            })
        });
        Self { pages, bytes, memory_length: memory.len() }
    }

    /// Length of the memory that it was made of, in bytes.
    pub(super) fn length(&self) -> usize {
        self.memory_length
    }

    /// The numbers of its pages, ascending.
    pub(super) fn numbers(&self) -> &[u32] {
        &self.pages
    }

    pub(super) fn page(&self, number: u32) -> Option<&[u8; PAGE]> {
        let at = self.pages.binary_search(&number).ok()?;
        self.bytes.as_chunks::<PAGE>().0.get(at)
    }

    /// Whether it holds all pages of a memory that are not the baseline's, which are among those that changed.
    pub(super) fn is_of(&self, memory: &[u8], baseline: &[u8], changed: &[u32]) -> bool {
        let own = changed.iter().filter(|page| differs(memory, baseline, **page));
        let pages = memory.as_chunks::<PAGE>().0;
        let same = |page: &u32| self.page(*page).is_some_and(|own| pages.get(*page as usize) == Some(own));
        memory.len() == self.memory_length && own.clone().count() == self.pages.len() && own.clone().all(same)
    }

    /// Writes the copy into a guest that starts from the baseline.
    pub(crate) fn write_into(&self, instance: &mut Instance) -> Result<()> {
        instance.grow_to(self.memory_length)?;
        let memory = instance.memory_mut();
        for (page, contents) in self.pages.iter().zip(self.bytes.chunks_exact(PAGE)) {
            let start = *page as usize * PAGE;
            if let Some(place) = memory.get_mut(start..start + PAGE) {
                place.copy_from_slice(contents);
            }
        }
        Ok(())
    }
}

thread_local! {
    /// Open page map, with the process it belongs to: after a fork it would tell of the parent.
    static PAGE_MAP: RefCell<Option<(u32, File)>> = const { RefCell::new(None) };
}

const PRESENT: u64 = 1 << 63;
const SWAPPED: u64 = 1 << 62;
const OF_FILE: u64 = 1 << 61;

#[cfg(target_os = "linux")]
fn private_pages(memory: &[u8]) -> Option<Vec<u32>> {
    use std::os::unix::fs::FileExt;

    #[cfg(feature = "fuzzing")]
    if crate::fuzzing::compares_pages() {
        return None;
    }
    if rustix::param::page_size() != PAGE {
        return None;
    }
    PAGE_MAP.with_borrow_mut(|slot| {
        let process = std::process::id();
        if slot.as_ref().is_none_or(|(owner, _)| *owner != process) {
            *slot = Some((process, File::open("/proc/self/pagemap").ok()?));
        }
        let (_, file) = slot.as_ref()?;
        let mut entries = vec![0; memory.len() / PAGE * 8];
        file.read_exact_at(&mut entries, (memory.as_ptr().addr() / PAGE * 8) as u64).ok()?;
        let private = |entry: &[u8; 8]| {
            let bits = u64::from_le_bytes(*entry);
            bits & (PRESENT | SWAPPED) != 0 && bits & OF_FILE == 0
        };
        let (entries, _) = entries.as_chunks::<8>();
        Some((0u32..).zip(entries).filter(|(_, entry)| private(entry)).map(|(page, _)| page).collect())
    })
}

#[cfg(not(target_os = "linux"))]
fn private_pages(_: &[u8]) -> Option<Vec<u32>> {
    None
}

#[cfg(test)]
mod tests {
    use super::dead_stack;

    #[test]
    fn the_dead_stack_ends_at_the_page_of_the_resting_place() {
        assert_eq!(dead_stack(1 << 20), 0..256);
        assert_eq!(dead_stack((2 << 20) + 100), 257..512);
        assert_eq!(dead_stack(-1), 0..0);
    }
}
