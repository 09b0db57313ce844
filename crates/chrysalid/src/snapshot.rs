//! Snapshots: a session as sealed bytes, and back. The container is in `snapshot/format.rs`; this file says what goes
//! into it and what [`crate::Engine::inspect`] tells.

mod chain;
pub(crate) mod compression;
pub(crate) mod format;
mod list;
pub(crate) mod pages;
pub(crate) mod seal;
mod strides;

use std::io::Read;
use std::sync::Arc;
use std::time::SystemTime;

use crate::call::{CallId, CallStatus};
use crate::clock::from_millis;
use crate::engine::Engine;
use crate::engine::guest::GuestBuild;
use crate::error::{Error, ErrorKind, Result};
use crate::session::Making;
use crate::session::state::State;
pub(crate) use chain::PackedMemory;
pub(crate) use format::Identity;
use format::{Contents, SnapshotError};
pub(crate) use format::{Follows, MAX_LINKS};

/// Largest header that is opened: what the host keeps of a session is bounded by its limits.
const MAX_HEADER: u64 = 1 << 30;
/// Up to this size a header is believed when it tells how large it is.
const SMALL_HEADER: u64 = 1 << 20;

/// What a snapshot is restored for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restore {
    /// To go on. Whoever keeps the bytes sees to it that this happens once.
    Resume,
    /// To go on beside the original: a new session id, and idempotency keys of its own.
    Fork,
}

/// What a snapshot tells about itself.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Inspection {
    /// Size of the snapshot, in bytes.
    pub size: usize,
    /// Its id, as [`image_id`] gives it.
    pub id: [u8; 32],
    /// Id of the image that it is a difference from, which [`crate::Engine::restore_chain`] wants before it. None for a full
    /// image.
    pub follows: Option<[u8; 32]>,
    /// How many links there are behind the full image, up to and with this one: 0 for a full image.
    pub links: u32,
    /// Format version.
    pub format: u16,
    /// SHA-256 of the guest build that it belongs to.
    pub guest: [u8; 32],
    /// Whether this engine has that guest.
    pub guest_is_known: bool,
    /// Id of the key that sealed it, in hex.
    pub key: String,
    /// Linear memory of the guest, in bytes.
    pub memory: u64,
    /// What the header says; absent when the key is not here.
    pub sealed: Option<SealedInspection>,
}

/// What the sealed header of a snapshot says, without values.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SealedInspection {
    /// Id of the session.
    pub session: [u8; 16],
    /// Programs started so far.
    pub programs: u32,
    /// Whether a program waits.
    pub paused: bool,
    /// Latest time the session has seen.
    pub at: SystemTime,
    /// Effects met, with the call that brought each.
    pub taint: chrysalid_policy::Taint,
    /// What the session has met and used, for [`SessionOptions::ledger`](crate::SessionOptions::ledger).
    pub ledger: crate::Ledger,
    /// Version of the rules that it had, if it had any: [`Rules::version`](crate::Rules::version). Rules are not part of a
    /// snapshot, so whoever restores it has to give them again.
    pub policy: Option<String>,
    /// Approvals that a person gave beforehand and that still allow something.
    pub grants: Vec<crate::GrantRecord>,
    /// How many lines its audit trail has, and the hash of the last.
    pub audit_head: (u64, [u8; 32]),
    /// The record of calls: id, capability, status.
    pub calls: Vec<(CallId, String, CallStatus)>,
}

/// The id of a snapshot, which the link behind it names: 32 bytes that no other snapshot has, read without a key.
///
/// ```no_run
/// # let snapshot = Vec::new();
/// let id = chrysalid::image_id(&snapshot)?;
/// # Ok::<(), chrysalid::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::NotASnapshot`], [`ErrorKind::OtherVersion`] or [`ErrorKind::Corrupt`]. Nothing vouches for the id of bytes that
/// were changed: [`crate::Engine::inspect`] with the key checks the seal.
pub fn image_id(snapshot: &[u8]) -> Result<[u8; 32]> {
    Ok(format::id(snapshot)?)
}

/// A snapshot that was opened: the host's state and the guest's pages.
pub(crate) struct Image<'images> {
    pub(crate) guest: Arc<GuestBuild>,
    pub(crate) state: State,
    pub(crate) memory: PackedMemory<'images>,
}

/// Packed pages for [`seal`].
pub(crate) struct PackedPages {
    pub(crate) pages: Vec<u8>,
    /// Absent in a full image.
    pub(crate) follows: Option<Follows>,
}

pub(crate) fn seal(making: &Making, state: &State, memory_len: usize, packed: PackedPages) -> Result<Vec<u8>> {
    let engine = &making.engine;
    let key = engine.options().keys.current.as_ref().ok_or(SnapshotError::NoKey)?;
    let PackedPages { pages, follows } = packed;
    let contents = Contents { header: header(state)?, memory_len: memory_len as u64, follows, pages };
    Ok(format::write(&making.guest.identity(), key, &contents)?)
}

pub(crate) fn header(state: &State) -> Result<Vec<u8>> {
    if let Some((found, bound)) = state.calls.too_many_for_an_image() {
        let message = format!("a snapshot holds {bound} calls that have ended, the session keeps {found}");
        return Err(Error::new(ErrorKind::TooLarge, message));
    }
    let header = postcard::to_allocvec(state).map_err(|error| Error::internal(format!("header: {error}")))?;
    compression::compress(&header).map_err(|error| Error::internal(format!("header: {error}")))
}

/// Opens the last of a chain's images, and looks at the heads of those before it.
pub(crate) fn open<'images>(
    engine: &'images Engine,
    images: &'images [&'images [u8]],
    max_memory: u64,
) -> Result<Image<'images>> {
    chain::check(images)?;
    let (last, earlier) = images.split_last().ok_or_else(|| Error::internal("a chain of no images"))?;
    // Which guest it asks for decides nothing else: all checks are made with that guest's identity.
    let wanted = format::clear_fields(last).ok().and_then(|clear| engine.guest_with(&clear.guest));
    let guest = wanted.unwrap_or(engine.own_guest()).clone();
    let contents = format::read(last, &guest.identity(), &engine.options().keys, max_memory)
        .map_err(|error| chain::placed(images, earlier.len(), error))?;
    if let (Some(follows), true) = (contents.follows, earlier.is_empty()) {
        return Err(chain::alone(&follows).into());
    }
    let state = open_header(&contents.header)?;
    let memory = PackedMemory {
        images,
        identity: guest.identity(),
        keys: &engine.options().keys,
        length: contents.memory_len,
        pages: contents.pages,
    };
    Ok(Image { guest, state, memory })
}

pub(crate) fn open_header(header: &[u8]) -> Result<State> {
    let corrupt = |what: String| Error::new(ErrorKind::Corrupt, format!("snapshot header: {what}"));
    let plain = decompressed(header).map_err(|error| corrupt(error.to_string()))?;
    let state: State = postcard::from_bytes(&plain).map_err(|error| corrupt(error.to_string()))?;
    match state.calls.last() {
        Some(last) if last > state.last_call => {
            Err(corrupt(format!("call {last} is over the last, {}", state.last_call)))
        }
        _ => Ok(state),
    }
}

fn decompressed(header: &[u8]) -> std::io::Result<Vec<u8>> {
    let told = zstd::zstd_safe::get_frame_content_size(header).ok().flatten();
    if let Some(size) = told.filter(|size| *size <= SMALL_HEADER).and_then(|size| usize::try_from(size).ok()) {
        return compression::decompress(header, size);
    }
    let mut plain = Vec::new();
    zstd::stream::read::Decoder::new(header)?.take(MAX_HEADER).read_to_end(&mut plain)?;
    Ok(plain)
}

pub(crate) fn inspect(engine: &Engine, bytes: &[u8]) -> Result<Inspection> {
    let clear = format::clear_fields(bytes)?;
    let known = engine.guest_with(&clear.guest).is_some();
    let sealed =
        match format::read(bytes, &Identity { guest: clear.guest, abi: clear.abi }, &engine.options().keys, u64::MAX) {
            Ok(contents) => Some(tell(&open_header(&contents.header)?)),
            Err(SnapshotError::UnknownKey { .. }) => None,
            Err(error) => return Err(error.into()),
        };
    let follows = clear.follows()?;
    Ok(Inspection {
        size: bytes.len(),
        id: format::id(bytes)?,
        follows: follows.map(|follows| follows.image),
        links: follows.map_or(0, |follows| follows.links),
        format: clear.format,
        guest: clear.guest,
        guest_is_known: known,
        key: clear.key.to_string(),
        memory: clear.memory_len,
        sealed,
    })
}

fn tell(state: &State) -> SealedInspection {
    SealedInspection {
        session: state.session,
        programs: state.programs,
        paused: state.program.is_some(),
        at: from_millis(state.last_millis),
        taint: state.taint.clone(),
        ledger: state.ledger(),
        policy: state.policy.clone(),
        grants: state.grants(),
        audit_head: (state.chain.length, state.chain.head),
        calls: state
            .calls
            .iter()
            .map(|(number, call)| (call.id(number), call.name.as_str().to_owned(), call.status))
            .collect(),
    }
}

impl From<SnapshotError> for Error {
    fn from(error: SnapshotError) -> Self {
        let kind = match &error {
            SnapshotError::NotASnapshot => ErrorKind::NotASnapshot,
            SnapshotError::OtherVersion { .. } => ErrorKind::OtherVersion,
            SnapshotError::UnknownGuest { .. } => ErrorKind::UnknownGuest,
            SnapshotError::UnknownKey { .. } => ErrorKind::UnknownKey,
            SnapshotError::BadSeal => ErrorKind::BadSeal,
            SnapshotError::BrokenChain(_) => ErrorKind::BrokenChain,
            SnapshotError::Corrupt(_) => ErrorKind::Corrupt,
            SnapshotError::TooLarge { .. } => ErrorKind::TooLarge,
            SnapshotError::NoKey => ErrorKind::NoKey,
            SnapshotError::Failed(_) => ErrorKind::Internal,
        };
        Self::new(kind, error.to_string())
    }
}
