//! Snapshots: a session as sealed bytes, and back. The container is in `snapshot/format.rs`; this file says what goes
//! into it and what [`crate::Engine::inspect`] tells.

pub(crate) mod compression;
pub(crate) mod format;
pub(crate) mod pages;
pub(crate) mod seal;

use std::io::Read;
use std::sync::Arc;
use std::time::SystemTime;

use crate::call::{CallId, CallStatus};
use crate::clock::from_millis;
use crate::engine::Engine;
use crate::engine::guest::GuestBuild;
use crate::error::{Error, ErrorKind, Result};
use crate::session::state::State;
use crate::session::{Instance, Making};
pub(crate) use format::Identity;
use format::SnapshotError;
use format::{Contents, PAGE};

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

/// A snapshot that was opened: the host's state and the guest's pages.
pub(crate) struct Image {
    pub(crate) guest: Arc<GuestBuild>,
    pub(crate) state: State,
    pub(crate) memory: PackedMemory,
}

pub(crate) struct PackedMemory {
    length: u64,
    pages: Vec<u8>,
}

impl PackedMemory {
    /// Writes the pages into a guest that starts from the baseline.
    pub(crate) fn write_into(&self, baseline: &[u8], instance: &mut Instance) -> Result<()> {
        let length = usize::try_from(self.length).map_err(|_| Error::new(ErrorKind::Corrupt, "memory length"))?;
        instance.grow_to(length)?;
        let memory = instance.memory_mut();
        pages::unpack(&self.pages, baseline, self.length, |page, contents| {
            let start = page as usize * PAGE;
            let place =
                memory.get_mut(start..start + PAGE).ok_or_else(|| SnapshotError::corrupt("page outside of memory"))?;
            place.copy_from_slice(contents);
            Ok(())
        })?;
        Ok(())
    }
}

pub(crate) fn seal(making: &Making, state: &State, memory: &[u8], changed: Vec<u32>) -> Result<Vec<u8>> {
    let engine = &making.engine;
    let key = engine.options().keys.current.as_ref().ok_or(SnapshotError::NoKey)?;
    let contents = Contents {
        header: header(state)?,
        memory_len: memory.len() as u64,
        pages: pages::pack(memory, &making.baseline()?, changed.into_iter())?,
    };
    Ok(format::write(&making.guest.identity(), key, &contents)?)
}

pub(crate) fn header(state: &State) -> Result<Vec<u8>> {
    let header = postcard::to_allocvec(state).map_err(|error| Error::internal(format!("header: {error}")))?;
    compression::compress(&header).map_err(|error| Error::internal(format!("header: {error}")))
}

pub(crate) fn open(engine: &Engine, bytes: &[u8], max_memory: u64) -> Result<Image> {
    // Which guest it asks for decides nothing else: all checks are made with that guest's identity.
    let wanted = format::clear_fields(bytes).ok().and_then(|clear| engine.guest_with(&clear.guest));
    let guest = wanted.unwrap_or(engine.own_guest()).clone();
    let contents = format::read(bytes, &guest.identity(), &engine.options().keys, max_memory)?;
    let state = open_header(&contents.header)?;
    Ok(Image { guest, state, memory: PackedMemory { length: contents.memory_len, pages: contents.pages } })
}

pub(crate) fn open_header(header: &[u8]) -> Result<State> {
    let corrupt = |what: String| Error::new(ErrorKind::Corrupt, format!("snapshot header: {what}"));
    let plain = decompressed(header).map_err(|error| corrupt(error.to_string()))?;
    postcard::from_bytes(&plain).map_err(|error| corrupt(error.to_string()))
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
    Ok(Inspection {
        size: bytes.len(),
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
        calls: state.calls.iter().map(|(number, call)| (call.id(number), call.name.clone(), call.status)).collect(),
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
            SnapshotError::Corrupt(_) => ErrorKind::Corrupt,
            SnapshotError::TooLarge { .. } => ErrorKind::TooLarge,
            SnapshotError::NoKey => ErrorKind::NoKey,
            SnapshotError::Failed(_) => ErrorKind::Internal,
        };
        Self::new(kind, error.to_string())
    }
}
