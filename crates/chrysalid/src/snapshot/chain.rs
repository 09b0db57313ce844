//! A chain: a full image and the links behind it, each of which is a difference from the one before.
//!
//! Every image has a header of its own, and the last one's is the session's; only pages are taken from those before it. A
//! link names its predecessor by an id that covers the whole of it, so a chain cannot be put together from other images.
//! Images are opened one at a time: what a chain takes is bounded by its largest image, and its time by [`MAX_LINKS`].

use std::fmt::Write as _;

use super::format::{self, ClearFields, Follows, Identity, MAX_LINKS, PAGE, SnapshotError};
use super::pages;
use crate::error::{Error, Result};
use crate::key::KeyRing;
use crate::session::Instance;

/// The guest's memory in the images of a chain, of which the last is opened.
pub(crate) struct PackedMemory<'images> {
    pub(super) images: &'images [&'images [u8]],
    pub(super) identity: Identity,
    pub(super) keys: &'images KeyRing,
    pub(super) length: u64,
    /// Of the last image.
    pub(super) pages: Vec<u8>,
}

impl PackedMemory<'_> {
    /// Links behind the chain's full image.
    pub(crate) fn links(&self) -> u32 {
        u32::try_from(self.images.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Bytes of the packed pages of the chain's full image.
    pub(crate) fn full_pages(&self) -> usize {
        let head = self.images.first().and_then(|full| format::clear_fields(full).ok());
        head.map_or(0, |head| head.pages_len as usize)
    }

    /// Writes the pages into a guest that starts from the baseline.
    pub(crate) fn write_into(self, baseline: &[u8], instance: &mut Instance) -> Result<()> {
        let length = usize::try_from(self.length).map_err(|_| SnapshotError::corrupt("memory length"))?;
        instance.grow_to(length)?;
        let memory = instance.memory_mut();
        let earlier = self.images.len().saturating_sub(1);
        for (at, image) in self.images.iter().take(earlier).enumerate() {
            let written = format::read(image, &self.identity, self.keys, self.length)
                .and_then(|contents| write_one(at, &contents.pages, contents.memory_len, baseline, memory));
            written.map_err(|error| placed(self.images, at, error))?;
        }
        write_one(earlier, &self.pages, self.length, baseline, memory)
            .map_err(|error| placed(self.images, earlier, error))
    }
}

fn write_one(at: usize, packed: &[u8], length: u64, baseline: &[u8], memory: &mut [u8]) -> Result<(), SnapshotError> {
    if at > 0 {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let memory = memory.get_mut(..length).ok_or_else(|| SnapshotError::corrupt("memory length"))?;
        return pages::unpack_link(packed, baseline, memory);
    }
    pages::unpack(packed, baseline, length, |page, contents| {
        let start = page as usize * PAGE;
        let place =
            memory.get_mut(start..start + PAGE).ok_or_else(|| SnapshotError::corrupt("page outside of memory"))?;
        place.copy_from_slice(contents);
        Ok(())
    })
}

/// Whether images are a whole chain in its order, by their heads: nothing is opened yet.
pub(super) fn check(images: &[&[u8]]) -> Result<()> {
    let most = MAX_LINKS as usize + 1;
    if images.len() == 1 {
        // Whether it is a link is known once it is opened.
        return Ok(());
    }
    if images.is_empty() {
        return Err(SnapshotError::BrokenChain("a chain of no images".to_owned()).into());
    }
    if images.len() > most {
        let error = format!("a chain of {} images is over {most}", images.len());
        return Err(SnapshotError::BrokenChain(error).into());
    }
    let mut before = None;
    for (at, image) in images.iter().enumerate() {
        let fields = link_up(image, at, before.as_ref()).map_err(|error| placed(images, at, error))?;
        before = Some(fields);
    }
    Ok(())
}

/// The id and the head of an image, if it follows the one before.
fn link_up(
    image: &[u8],
    at: usize,
    before: Option<&([u8; 32], ClearFields)>,
) -> Result<([u8; 32], ClearFields), SnapshotError> {
    let fields = format::clear_fields(image)?;
    let follows = fields.follows()?;
    let problem = match (follows, before) {
        (Some(follows), None) => return Err(alone(&follows)),
        (None, Some(_)) => Some("snapshot is a full image, which only begins a chain".to_owned()),
        (Some(follows), Some((id, _))) if follows.image != *id => {
            let (wanted, given) = (hex(&follows.image), hex(id));
            Some(format!("snapshot is a link that needs the image {wanted} before it, not {given}"))
        }
        _ => None,
    };
    if let Some(problem) = problem {
        return Err(SnapshotError::BrokenChain(problem));
    }
    let links = follows.map_or(0, |follows| follows.links as usize);
    if links != at {
        return Err(SnapshotError::corrupt(format!("number of links {links} is not {at}")));
    }
    if let Some((_, before)) = before
        && fields.memory_len < before.memory_len
    {
        let (length, least) = (fields.memory_len, before.memory_len);
        return Err(SnapshotError::corrupt(format!("memory length {length} is under its predecessor's {least}")));
    }
    Ok((format::id(image)?, fields))
}

/// What is wrong with a link that nothing was given before.
pub(super) fn alone(follows: &Follows) -> SnapshotError {
    SnapshotError::BrokenChain(format!("snapshot is a link that needs the image {} before it", hex(&follows.image)))
}

/// An error with the place of its image, where there are several.
pub(super) fn placed(images: &[&[u8]], at: usize, error: SnapshotError) -> Error {
    let error = Error::from(error);
    match images.len() {
        1 => error,
        several => Error::new(error.kind(), format!("image {} of {several}: {error}", at + 1)),
    }
}

fn hex(id: &[u8; 32]) -> String {
    id.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
