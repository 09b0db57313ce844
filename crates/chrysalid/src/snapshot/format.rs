//! The byte layout of a snapshot: a clear head, then a sealed body.
//!
//! ```text
//! magic 8 | format u16 | guest 32 | abi u32 | key id 8
//! memory length u64 | header length u32 | pages length u32 | links u32 | follows 32 | nonce 24
//! header ++ pages, encrypted | tag 16
//! ```
//!
//! Integers are little endian. The whole head is associated data of the seal. Reading checks in the
//! order of cost, and nothing a length field says is allocated before it agrees with the bytes at
//! hand; `docs/snapshot-format.md` says what each error means. What the header holds is not decided
//! here.

use std::fmt;

use sha2::{Digest, Sha256};
use thiserror::Error;

use super::seal::{self, NONCE, TAG};
use crate::key::{Key, KeyId, KeyRing};

/// Bytes of one page of a snapshot, which is the host's page and not the 64 KiB of `WebAssembly`.
pub(crate) const PAGE: usize = 4096;

/// First bytes of every snapshot: like PNG's, they do not survive a transfer as text.
const MAGIC: [u8; 8] = *b"\x89CHRY\r\n\x1a";
const FORMAT: u16 = 5;
const HEAD: usize = 8 + 2 + 32 + 4 + 8 + 8 + 4 + 4 + 4 + 32 + NONCE;
/// Most links of a chain, behind its full image.
pub(crate) const MAX_LINKS: u32 = 64;
/// First bytes of what an id is the digest of.
const ID_DOMAIN: &[u8] = b"chrysalid image id 1\0";
/// In the place of an image that a full image does not follow.
const NO_IMAGE: [u8; 32] = [0; 32];
/// Linear memory grows by this many bytes, so its length is a multiple of them.
const MEMORY_UNIT: u64 = 65_536;

/// What a snapshot must share with the engine that reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    /// SHA-256 of the guest build.
    pub(crate) guest: [u8; 32],
    /// Version of the calls between guest and host.
    pub(crate) abi: u32,
}

/// The image that a link is a difference from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Follows {
    /// Its [`id`].
    pub(crate) image: [u8; 32],
    /// Links behind the full image, up to and with this one: at least one.
    pub(crate) links: u32,
}

/// What a snapshot holds, opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contents {
    /// The host's header, as its own module wrote it.
    pub(crate) header: Vec<u8>,
    /// Bytes of the guest's linear memory.
    pub(crate) memory_len: u64,
    /// Absent in a full image.
    pub(crate) follows: Option<Follows>,
    /// Pages as [`super::pages::pack`] made them, or [`super::pages::pack_link`].
    pub(crate) pages: Vec<u8>,
}

/// The clear head, readable without a key. Nothing vouches for it before the seal is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClearFields {
    /// Version of this layout.
    pub(crate) format: u16,
    /// SHA-256 of the guest build.
    pub(crate) guest: [u8; 32],
    /// Version of the calls between guest and host.
    pub(crate) abi: u32,
    /// The key that sealed it.
    pub(crate) key: KeyId,
    /// Bytes of the guest's linear memory.
    pub(crate) memory_len: u64,
    /// Bytes of the header.
    pub(crate) header_len: u32,
    /// Bytes of the packed pages.
    pub(crate) pages_len: u32,
    links: u32,
    predecessor: [u8; 32],
    nonce: [u8; NONCE],
}

/// Why a snapshot was not written or not read, split by what the reader must do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum SnapshotError {
    /// Too short for a head, or another magic.
    #[error("not a chrysalid snapshot")]
    NotASnapshot,
    /// Another version of the layout.
    #[error("snapshot has format {found}, this engine reads format {expected}")]
    OtherVersion {
        /// The snapshot's.
        found: u16,
        /// The engine's.
        expected: u16,
    },
    /// Made by another guest build or over another ABI.
    #[error("snapshot is of guest {found}, this engine runs guest {expected}")]
    UnknownGuest {
        /// The snapshot's.
        found: Identity,
        /// The engine's.
        expected: Identity,
    },
    /// Sealed with a key that is not in the ring.
    #[error(
        "snapshot is sealed with key {id}, which this engine does not have; \
         share the key itself through CHRYSALID_KEY, CHRYSALID_KEY_FILE or the engine's builder"
    )]
    UnknownKey {
        /// The id in the head.
        id: KeyId,
    },
    /// The tag does not verify.
    #[error("snapshot was changed after it was sealed, its tag does not verify")]
    BadSeal,
    /// What is given is not the chain of images that is wanted; says what is.
    #[error("{0}")]
    BrokenChain(String),
    /// The bytes contradict themselves; says where.
    #[error("snapshot is corrupt: {0}")]
    Corrupt(String),
    /// More bytes than the reader allows or the layout can express.
    #[error("snapshot needs {found} bytes, over the limit of {bound}")]
    TooLarge {
        /// Bytes wanted.
        found: u64,
        /// Bytes allowed.
        bound: u64,
    },
    /// The engine has no key to seal with.
    #[error("no key to seal a snapshot with, give one to the engine's builder")]
    NoKey,
    /// Not the snapshot's fault: the system or the caller.
    #[error("snapshot not possible: {0}")]
    Failed(&'static str),
}

/// Seals `contents` for engines of the same `identity`.
pub(crate) fn write(identity: &Identity, key: &Key, contents: &Contents) -> Result<Vec<u8>, SnapshotError> {
    write_with_nonce(identity, key, contents, seal::fresh_nonce()?)
}

fn write_with_nonce(
    identity: &Identity,
    key: &Key,
    contents: &Contents,
    nonce: [u8; NONCE],
) -> Result<Vec<u8>, SnapshotError> {
    if !contents.memory_len.is_multiple_of(MEMORY_UNIT) {
        return Err(SnapshotError::Failed("memory length is not a multiple of 65536"));
    }
    let fields = ClearFields {
        format: FORMAT,
        guest: identity.guest,
        abi: identity.abi,
        key: key.id(),
        memory_len: contents.memory_len,
        header_len: length_field(&contents.header)?,
        pages_len: length_field(&contents.pages)?,
        links: contents.follows.map_or(0, |follows| follows.links),
        predecessor: contents.follows.map_or(NO_IMAGE, |follows| follows.image),
        nonce,
    };
    let mut bytes = fields.to_head();
    let body = [contents.header.as_slice(), contents.pages.as_slice()].concat();
    let sealed = seal::seal(key, &nonce, &bytes, body)?;
    bytes.extend_from_slice(&sealed);
    Ok(bytes)
}

fn length_field(part: &[u8]) -> Result<u32, SnapshotError> {
    u32::try_from(part.len()).map_err(|_| SnapshotError::TooLarge {
        found: u64::try_from(part.len()).unwrap_or(u64::MAX),
        bound: u64::from(u32::MAX),
    })
}

/// Opens a snapshot of this `identity` with a key of the ring. `max_memory` bounds the guest's
/// linear memory, in bytes.
pub(crate) fn read(
    bytes: &[u8],
    identity: &Identity,
    keys: &KeyRing,
    max_memory: u64,
) -> Result<Contents, SnapshotError> {
    let (fields, head, sealed) = split(bytes)?;
    fields.check_identity(identity)?;
    fields.check_lengths(sealed.len())?;
    fields.check_memory(max_memory)?;
    let follows = fields.follows()?;
    let key = keys.lookup(fields.key).ok_or(SnapshotError::UnknownKey { id: fields.key })?;
    let mut body = seal::open(key, &fields.nonce, head, sealed)?;
    let header_len = usize::try_from(fields.header_len).ok().filter(|header_len| *header_len <= body.len());
    let header_len = header_len.ok_or_else(|| SnapshotError::corrupt("header length is over the body's"))?;
    // In their place, since they may be as long as the heap.
    let header = body.drain(..header_len).collect();
    Ok(Contents { header, memory_len: fields.memory_len, follows, pages: body })
}

/// The id of a snapshot, by which a link names it: a digest of its head and its tag, which vouches for the rest.
pub(crate) fn id(bytes: &[u8]) -> Result<[u8; 32], SnapshotError> {
    let (fields, head, sealed) = split(bytes)?;
    fields.check_lengths(sealed.len())?;
    let tag = sealed.last_chunk::<TAG>().ok_or(SnapshotError::NotASnapshot)?;
    Ok(Sha256::new().chain_update(ID_DOMAIN).chain_update(head).chain_update(tag).finalize().into())
}

/// The clear head, for reading about a snapshot without its key.
pub(crate) fn clear_fields(bytes: &[u8]) -> Result<ClearFields, SnapshotError> {
    let (fields, _, sealed) = split(bytes)?;
    fields.check_lengths(sealed.len())?;
    fields.follows()?;
    Ok(fields)
}

/// The head's fields, the head itself and what follows it. Another version may have another head,
/// so the version comes first.
fn split(bytes: &[u8]) -> Result<(ClearFields, &[u8], &[u8]), SnapshotError> {
    let mut rest = bytes;
    if take(&mut rest) != Some(MAGIC) {
        return Err(SnapshotError::NotASnapshot);
    }
    let found = take(&mut rest).map(u16::from_le_bytes).ok_or(SnapshotError::NotASnapshot)?;
    if found != FORMAT {
        return Err(SnapshotError::OtherVersion { found, expected: FORMAT });
    }
    let fields = ClearFields::after_format(rest).ok_or(SnapshotError::NotASnapshot)?;
    let (head, sealed) = bytes.split_at_checked(HEAD).ok_or(SnapshotError::NotASnapshot)?;
    Ok((fields, head, sealed))
}

/// Takes the first `N` bytes, or leaves `bytes` as it is when there are fewer.
pub(super) fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}

impl ClearFields {
    fn to_head(&self) -> Vec<u8> {
        let mut head = Vec::with_capacity(HEAD);
        head.extend_from_slice(&MAGIC);
        head.extend_from_slice(&self.format.to_le_bytes());
        head.extend_from_slice(&self.guest);
        head.extend_from_slice(&self.abi.to_le_bytes());
        head.extend_from_slice(&self.key.0);
        head.extend_from_slice(&self.memory_len.to_le_bytes());
        head.extend_from_slice(&self.header_len.to_le_bytes());
        head.extend_from_slice(&self.pages_len.to_le_bytes());
        head.extend_from_slice(&self.links.to_le_bytes());
        head.extend_from_slice(&self.predecessor);
        head.extend_from_slice(&self.nonce);
        head
    }

    fn after_format(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        Some(Self {
            format: FORMAT,
            guest: take(bytes)?,
            abi: u32::from_le_bytes(take(bytes)?),
            key: KeyId(take(bytes)?),
            memory_len: u64::from_le_bytes(take(bytes)?),
            header_len: u32::from_le_bytes(take(bytes)?),
            pages_len: u32::from_le_bytes(take(bytes)?),
            links: u32::from_le_bytes(take(bytes)?),
            predecessor: take(bytes)?,
            nonce: take(bytes)?,
        })
    }

    /// The image that it is a difference from; none for a full image.
    pub(crate) fn follows(&self) -> Result<Option<Follows>, SnapshotError> {
        let links = self.links;
        if links > MAX_LINKS {
            return Err(SnapshotError::corrupt(format!("number of links {links} is over {MAX_LINKS}")));
        }
        if (links == 0) != (self.predecessor == NO_IMAGE) {
            return Err(SnapshotError::corrupt(format!(
                "number of links {links} contradicts the image that it follows"
            )));
        }
        Ok((links > 0).then_some(Follows { image: self.predecessor, links }))
    }

    fn check_identity(&self, expected: &Identity) -> Result<(), SnapshotError> {
        let found = Identity { guest: self.guest, abi: self.abi };
        if found != *expected {
            return Err(SnapshotError::UnknownGuest { found, expected: *expected });
        }
        Ok(())
    }

    fn check_lengths(&self, sealed_len: usize) -> Result<(), SnapshotError> {
        let (header, pages) = (self.header_len, self.pages_len);
        let stated = u64::from(header).saturating_add(u64::from(pages));
        let found = sealed_len.checked_sub(TAG).and_then(|body| u64::try_from(body).ok());
        if found != Some(stated) {
            return Err(SnapshotError::corrupt(format!(
                "header length {header}, pages length {pages} and a tag of {TAG} \
                 do not add up to the {sealed_len} bytes after the head"
            )));
        }
        Ok(())
    }

    fn check_memory(&self, max_memory: u64) -> Result<(), SnapshotError> {
        let found = self.memory_len;
        if !found.is_multiple_of(MEMORY_UNIT) {
            return Err(SnapshotError::corrupt(format!("memory length {found} is not a multiple of {MEMORY_UNIT}")));
        }
        if found > max_memory {
            return Err(SnapshotError::TooLarge { found, bound: max_memory });
        }
        Ok(())
    }
}

impl SnapshotError {
    /// A contradiction in the bytes; `problem` names the field, its value and the bound.
    pub(crate) fn corrupt(problem: impl Into<String>) -> Self {
        Self::Corrupt(problem.into())
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.guest.iter().take(8) {
            write!(formatter, "{byte:02x}")?;
        }
        write!(formatter, " with abi {}", self.abi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDENTITY: Identity = Identity { guest: [0xab; 32], abi: 7 };
    const MAX_MEMORY: u64 = 64 << 20;

    fn key() -> Key {
        Key::from_bytes([3; 32])
    }

    fn ring() -> KeyRing {
        KeyRing { current: Some(key()), old: Vec::new() }
    }

    fn contents() -> Contents {
        Contents {
            header: b"header".to_vec(),
            memory_len: 2 * MEMORY_UNIT,
            follows: None,
            pages: b"some pages".to_vec(),
        }
    }

    fn link() -> Contents {
        Contents { follows: Some(Follows { image: [0xcd; 32], links: 3 }), ..contents() }
    }

    fn sample() -> Vec<u8> {
        write(&IDENTITY, &key(), &contents()).unwrap()
    }

    fn read_sample(bytes: &[u8]) -> Result<Contents, SnapshotError> {
        read(bytes, &IDENTITY, &ring(), MAX_MEMORY)
    }

    fn is_corrupt(error: &SnapshotError, field: &str) -> bool {
        matches!(error, SnapshotError::Corrupt(problem) if problem.starts_with(field))
    }

    #[test]
    fn reading_gives_back_what_was_written() {
        assert_eq!(read_sample(&sample()), Ok(contents()));
        let empty = Contents { header: Vec::new(), memory_len: 0, follows: None, pages: Vec::new() };
        let bytes = write(&IDENTITY, &key(), &empty).unwrap();
        assert_eq!(bytes.len(), HEAD + TAG);
        assert_eq!(read_sample(&bytes), Ok(empty));
        assert_eq!(read_sample(&write(&IDENTITY, &key(), &link()).unwrap()), Ok(link()));
    }

    fn golden(contents: &Contents, number: u8, links: [u8; 4], predecessor: u8, sealed: [[u8; 16]; 2]) {
        let bytes = write_with_nonce(&IDENTITY, &key(), contents, [number; NONCE]).unwrap();
        let mut expected = b"\x89CHRY\r\n\x1a\x05\0".to_vec();
        expected.extend([0xab; 32]);
        expected.extend([7, 0, 0, 0]);
        expected.extend([0xfa, 0xa3, 0xad, 0x92, 0xb6, 0xe5, 0x82, 0xe9]);
        expected.extend([0, 0, 2, 0, 0, 0, 0, 0]);
        expected.extend([6, 0, 0, 0]);
        expected.extend([10, 0, 0, 0]);
        expected.extend(links);
        expected.extend([predecessor; 32]);
        expected.extend([number; 24]);
        expected.extend(sealed.as_flattened());
        assert_eq!(bytes, expected, "{:02x?}", &bytes[HEAD..]);
        assert_eq!(read_sample(&bytes).as_ref(), Ok(contents));
    }

    #[test]
    fn golden_bytes_of_format_5() {
        let full = [
            [0x13, 0xdc, 0x99, 0x58, 0x31, 0xf9, 0x75, 0x18, 0xf4, 0x62, 0x72, 0xc9, 0xb6, 0x8e, 0x4d, 0x1e],
            [0xc2, 0xa4, 0x3f, 0x52, 0x17, 0x14, 0x55, 0x5a, 0x88, 0x9d, 0x6f, 0x07, 0x12, 0xa4, 0x1a, 0x6c],
        ];
        golden(&contents(), 9, [0; 4], 0, full);
        let linked = [
            [0xa5, 0x47, 0xd4, 0x88, 0xbc, 0x58, 0x81, 0xab, 0x6f, 0xd3, 0xa4, 0xe1, 0xba, 0x5a, 0x33, 0x15],
            [0xca, 0x73, 0x6f, 0x86, 0xfb, 0xa4, 0x2b, 0x36, 0x4d, 0x10, 0x19, 0x90, 0x20, 0x8e, 0xbc, 0x09],
        ];
        golden(&link(), 10, [3, 0, 0, 0], 0xcd, linked);
    }

    #[test]
    fn an_id_is_of_the_head_and_the_tag() {
        let bytes = write_with_nonce(&IDENTITY, &key(), &link(), [10; NONCE]).unwrap();
        let digest = Sha256::digest([b"chrysalid image id 1\0", &bytes[..HEAD], &bytes[HEAD + 16..]].concat());
        assert_eq!(id(&bytes), Ok(digest.into()));
        assert_eq!(id(&bytes[..HEAD - 1]), Err(SnapshotError::NotASnapshot));
        assert!(is_corrupt(&id(&bytes[..HEAD]).unwrap_err(), "header length"));
    }

    #[test]
    fn links_and_the_image_that_is_followed_agree() {
        let good = write(&IDENTITY, &key(), &link()).unwrap();
        let with_links = |links: u32| {
            let mut bytes = good.clone();
            bytes[70..74].copy_from_slice(&links.to_le_bytes());
            bytes
        };
        assert_eq!(read_sample(&with_links(64)), Err(SnapshotError::BadSeal));
        for (links, reason) in [
            (0, "number of links 0 contradicts the image that it follows"),
            (65, "number of links 65 is over 64"),
            (u32::MAX, "number of links 4294967295 is over 64"),
        ] {
            let expected = SnapshotError::corrupt(reason);
            assert_eq!(clear_fields(&with_links(links)), Err(expected.clone()));
            assert_eq!(read_sample(&with_links(links)), Err(expected));
        }
        let mut bytes = good.clone();
        bytes[74..106].fill(0);
        assert!(is_corrupt(&read_sample(&bytes).unwrap_err(), "number of links 3 contradicts"));
    }

    #[test]
    fn two_snapshots_of_the_same_contents_share_only_the_head() {
        let (first, second) = (sample(), sample());
        assert_eq!(first[..HEAD - NONCE], second[..HEAD - NONCE]);
        assert_ne!(first[HEAD - NONCE..HEAD], second[HEAD - NONCE..HEAD]);
        assert_ne!(first[HEAD..], second[HEAD..]);
        assert!(!first.windows(6).any(|window| window == b"header"));
    }

    #[test]
    fn the_clear_fields_need_no_key() {
        let fields = clear_fields(&sample()).unwrap();
        assert_eq!(
            fields,
            ClearFields {
                format: 5,
                guest: IDENTITY.guest,
                abi: 7,
                key: key().id(),
                memory_len: 131_072,
                header_len: 6,
                pages_len: 10,
                links: 0,
                predecessor: NO_IMAGE,
                nonce: fields.nonce,
            }
        );
    }

    #[test]
    fn a_flipped_bit_anywhere_is_an_error_of_its_field() {
        let good = sample();
        for bit in 0..good.len() * 8 {
            let position = bit / 8;
            let mut bytes = good.clone();
            bytes[position] ^= 1 << (bit % 8);
            let error = read_sample(&bytes).unwrap_err();
            let expected = match position {
                0..8 => matches!(error, SnapshotError::NotASnapshot),
                8..10 => matches!(error, SnapshotError::OtherVersion { expected: 5, .. }),
                10..46 => matches!(error, SnapshotError::UnknownGuest { expected: IDENTITY, .. }),
                46..54 => matches!(error, SnapshotError::UnknownKey { .. }),
                54..56 => is_corrupt(&error, "memory length"),
                // 2^16 to 2^25 are plausible lengths under the limit of 2^26, so only the seal
                // tells.
                56..62 if (16..=25).contains(&(bit - 54 * 8)) => error == SnapshotError::BadSeal,
                56..62 => matches!(error, SnapshotError::TooLarge { bound: MAX_MEMORY, .. }),
                62..70 => is_corrupt(&error, "header length"),
                70..106 => is_corrupt(&error, "number of links"),
                _ => error == SnapshotError::BadSeal,
            };
            assert!(expected, "bit {bit} of byte {position}: {error:?}");
        }
    }

    #[test]
    fn a_truncation_anywhere_is_an_error() {
        let good = sample();
        for length in 0..good.len() {
            let error = read_sample(&good[..length]).unwrap_err();
            let clear = clear_fields(&good[..length]).unwrap_err();
            assert_eq!(error, clear, "length {length}");
            if length < HEAD {
                assert_eq!(error, SnapshotError::NotASnapshot, "length {length}");
            } else {
                let after = length - HEAD;
                assert_eq!(
                    error.to_string(),
                    format!(
                        "snapshot is corrupt: header length 6, pages length 10 and a tag of 16 \
                         do not add up to the {after} bytes after the head"
                    )
                );
            }
        }
    }

    #[test]
    fn bytes_after_the_end_are_an_error() {
        let mut bytes = sample();
        bytes.push(0);
        assert!(matches!(read_sample(&bytes), Err(SnapshotError::Corrupt(_))));
    }

    #[test]
    fn moving_a_byte_from_header_to_pages_breaks_the_seal() {
        let mut bytes = sample();
        bytes[62] -= 1;
        bytes[66] += 1;
        assert_eq!(read_sample(&bytes), Err(SnapshotError::BadSeal));
    }

    #[test]
    fn the_cheapest_check_speaks_first() {
        let mut bytes = sample();
        *bytes.last_mut().unwrap() ^= 1;
        assert_eq!(read_sample(&bytes), Err(SnapshotError::BadSeal));
        bytes[46] ^= 1;
        assert!(matches!(read_sample(&bytes), Err(SnapshotError::UnknownKey { .. })));
        bytes[70] ^= 1;
        assert!(is_corrupt(&read_sample(&bytes).unwrap_err(), "number of links"));
        bytes[61] ^= 1;
        assert!(matches!(read_sample(&bytes), Err(SnapshotError::TooLarge { .. })));
        bytes[54] ^= 1;
        assert!(is_corrupt(&read_sample(&bytes).unwrap_err(), "memory length"));
        bytes[62] ^= 1;
        assert!(is_corrupt(&read_sample(&bytes).unwrap_err(), "header length"));
        bytes[10] ^= 1;
        assert!(matches!(read_sample(&bytes), Err(SnapshotError::UnknownGuest { .. })));
        bytes[8] ^= 2;
        assert_eq!(read_sample(&bytes), Err(SnapshotError::OtherVersion { found: 7, expected: 5 }));
        bytes[0] ^= 1;
        assert_eq!(read_sample(&bytes), Err(SnapshotError::NotASnapshot));
    }

    #[test]
    fn memory_may_fill_the_limit_but_not_pass_it() {
        let bytes = sample();
        let read_within = |bound| read(&bytes, &IDENTITY, &ring(), bound);
        assert_eq!(read_within(131_072), Ok(contents()));
        assert_eq!(read_within(131_071), Err(SnapshotError::TooLarge { found: 131_072, bound: 131_071 }));
    }

    #[test]
    fn an_old_key_still_reads_and_no_key_does_not() {
        let bytes = sample();
        let other = || Some(Key::from_bytes([4; 32]));
        let rotated = KeyRing { current: other(), old: vec![key()] };
        assert_eq!(read(&bytes, &IDENTITY, &rotated, MAX_MEMORY), Ok(contents()));
        let unknown = Err(SnapshotError::UnknownKey { id: key().id() });
        for ring in [KeyRing { current: other(), old: Vec::new() }, KeyRing::default()] {
            assert_eq!(read(&bytes, &IDENTITY, &ring, MAX_MEMORY), unknown);
        }
    }

    #[test]
    fn a_memory_of_part_of_a_unit_is_not_written() {
        let contents = Contents { memory_len: 65_535, ..contents() };
        assert_eq!(
            write(&IDENTITY, &key(), &contents),
            Err(SnapshotError::Failed("memory length is not a multiple of 65536"))
        );
    }

    #[test]
    fn messages_name_both_sides() {
        let found = Identity { guest: [0x12; 32], abi: 2 };
        let messages = [
            SnapshotError::OtherVersion { found: 2, expected: 1 }.to_string(),
            SnapshotError::UnknownGuest { found, expected: IDENTITY }.to_string(),
            SnapshotError::UnknownKey { id: KeyId([1; 8]) }.to_string(),
            SnapshotError::TooLarge { found: 3, bound: 2 }.to_string(),
        ];
        assert_eq!(
            messages,
            [
                "snapshot has format 2, this engine reads format 1",
                "snapshot is of guest 1212121212121212 with abi 2, \
                 this engine runs guest abababababababab with abi 7",
                "snapshot is sealed with key 0101010101010101, \
                 which this engine does not have; share the key itself \
                 through CHRYSALID_KEY, CHRYSALID_KEY_FILE or the engine's builder",
                "snapshot needs 3 bytes, over the limit of 2",
            ]
        );
    }
}
