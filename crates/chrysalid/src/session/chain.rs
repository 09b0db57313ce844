//! What a session remembers of its last image, so that the next one can be a link behind it.
//!
//! The pages of that image are copied: what differs from them is all that a link holds. Where the heap did not change since,
//! the checkpoint before a program is the same copy.

use std::sync::Arc;

use super::memory::Copy;
use crate::error::Result;
use crate::snapshot::pages::{differs, pack, pack_link};
use crate::snapshot::{Follows, PackedPages, image_id};

/// A full image and the links behind it, as far as they were written.
pub(super) struct Chain {
    /// Most links behind a full image; none where chains are not wanted.
    most: u32,
    last: Option<Last>,
}

/// The last image.
pub(super) struct Last {
    pub(super) id: [u8; 32],
    /// Links behind the full image, up to and with this one.
    pub(super) links: u32,
    /// Bytes of the full image's packed pages.
    pub(super) full: usize,
    /// Its pages that are not the baseline's.
    pub(super) pages: Arc<Copy>,
}

impl Chain {
    pub(super) fn new(most: u32) -> Self {
        Self { most, last: None }
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.most > 0
    }

    pub(super) fn go_on_behind(&mut self, last: Last) {
        self.last = Some(last);
    }

    pub(super) fn end(&mut self) {
        self.last = None;
    }

    /// The pages for an image of this memory: a link's where there may be one and it is smaller.
    ///
    /// `changed` are those that may differ from the baseline. A link of less than half of the chain's full image is taken as it
    /// is; else what a full one would take is found out by packing that, too.
    pub(super) fn pack(&self, memory: &[u8], baseline: &[u8], changed: &[u32]) -> Result<PackedPages> {
        let last = self.last.as_ref().filter(|last| last.links < self.most && last.pages.length() <= memory.len());
        let link = last.map(|last| last.link(memory, baseline, changed)).transpose()?;
        let plain = last.map_or(0, |last| last.full / 2);
        let link = match link {
            Some(link) if link.pages.len() < plain => return Ok(link),
            link => link,
        };
        let pages = pack(memory, baseline, changed.iter().copied())?;
        Ok(link.filter(|link| link.pages.len() < pages.len()).unwrap_or(PackedPages { pages, follows: None }))
    }

    /// Takes down the image that was made of this memory, whose pages were as long as this.
    pub(super) fn took(
        &mut self,
        image: &[u8],
        (follows, packed): (Option<Follows>, usize),
        pages: Arc<Copy>,
    ) -> Result<()> {
        let id = image_id(image)?;
        let (links, full) = match (follows, &self.last) {
            (Some(follows), Some(last)) => (follows.links, last.full),
            _ => (0, packed),
        };
        self.last = Some(Last { id, links, full, pages });
        Ok(())
    }

    pub(super) fn last_pages(&self) -> Option<Arc<Copy>> {
        self.last.as_ref().map(|last| last.pages.clone())
    }

    /// The copy of the last image's pages, if the memory still holds the same.
    pub(super) fn same_pages(&self, memory: &[u8], baseline: &[u8], changed: &[u32]) -> Option<Arc<Copy>> {
        let pages = &self.last.as_ref()?.pages;
        pages.is_of(memory, baseline, changed).then(|| pages.clone())
    }
}

impl Last {
    fn link(&self, memory: &[u8], baseline: &[u8], changed: &[u32]) -> Result<PackedPages> {
        // A page of the last image may be the baseline's by now.
        let mut pages = [changed, self.pages.numbers()].concat();
        pages.sort_unstable();
        pages.dedup();
        let pages = pack_link(memory, baseline, pages.into_iter(), |page| self.pages.page(page))?;
        Ok(PackedPages { pages, follows: Some(Follows { image: self.id, links: self.links + 1 }) })
    }
}

/// A copy of those pages that differ from the baseline.
pub(super) fn own_pages(memory: &[u8], baseline: &[u8], mut changed: Vec<u32>) -> Arc<Copy> {
    changed.retain(|page| differs(memory, baseline, *page));
    Arc::new(Copy::of(memory, changed))
}
