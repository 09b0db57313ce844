//! The records of a saved file: bytes and back. The table is in `claim.rs`.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrysalid::{CallId, CallStatus, Decision, ReportCall};
use serde::de::value::{Error as StatusError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::drive::hex;

/// First bytes of a saved file; a snapshot begins like it and differs in the sixth.
const MAGIC: [u8; 8] = *b"\x89CHRY:\r\n";
/// First bytes of a snapshot as the library makes it.
const SNAPSHOT_MAGIC: [u8; 8] = *b"\x89CHRY\r\n\x1a";
/// Bytes that tell whether the rest is worth reading.
pub(super) const HEAD: u64 = 8;
const VERSION: u16 = 1;
const CHECK: usize = 8;
const HEAD_CHECK: usize = 4;
/// Stands in place of a time where nothing but a decision goes on.
const NEVER: u64 = u64::MAX;

/// One record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Record {
    Image(Image),
    Claimed(Claim),
    Started(CallStarted),
    Completed(CallEnded),
    Forwarded(Forwarded),
    Ended(Ended),
    Met(Met),
}

/// A pause: the snapshot, and when to go on even if nobody decides.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Image {
    pub(crate) wake_at: Option<SystemTime>,
    pub(crate) snapshot: Vec<u8>,
}

/// Who goes on, and with what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Claim {
    pub(crate) run: String,
    pub(crate) fork: bool,
    pub(crate) decisions: Vec<Decided>,
    /// Where the next image goes, if not into the same file.
    pub(crate) save: Option<String>,
}

/// A decision as the file keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Decided {
    pub(crate) call: String,
    pub(crate) decision: String,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// SHA-256 of the JSON that was given with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value_sha256: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CallStarted {
    pub(crate) call: String,
    pub(crate) name: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CallEnded {
    pub(crate) call: String,
    pub(crate) name: String,
    pub(crate) status: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Forwarded {
    pub(crate) run: String,
    pub(crate) to: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub(crate) run: String,
    pub(crate) status: String,
}

/// An effect that a session met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Met {
    pub(crate) effect: String,
    pub(crate) by: String,
}

/// A claim and the calls that were begun under it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Made {
    pub(crate) claim: Claim,
    pub(crate) calls: Vec<ReportCall>,
    /// What was met under it.
    pub(crate) met: Vec<Met>,
}

/// What a whole file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Contents {
    pub(crate) image: Option<Image>,
    /// Claims of that image; more than one if forks went on after a crash.
    pub(crate) claims: Vec<Made>,
    pub(crate) forwarded: Option<Forwarded>,
    pub(crate) ended: Option<Ended>,
    /// Bytes up to the end of the last whole record.
    pub(crate) length: u64,
    /// Whether the file is a snapshot and nothing else.
    bare: bool,
}

/// Why a file cannot be read.
#[derive(Debug, PartialEq)]
pub(crate) enum ContentsError {
    NotOurs,
    OtherVersion(u16),
    Corrupt(&'static str),
}

impl fmt::Display for ContentsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOurs => f.write_str("not a saved program"),
            Self::OtherVersion(found) => {
                write!(f, "saved in version {found} of the file format, this chrysalid reads version {VERSION}")
            }
            Self::Corrupt(what) => write!(f, "the saved file is corrupt: {what}"),
        }
    }
}

impl Decided {
    /// What is written down of a decision: no value, because these records are not sealed.
    pub(crate) fn new(call: CallId, decision: &Decision, by: Option<&str>) -> Self {
        let (reason, value) = match decision {
            Decision::Approve => (None, None),
            Decision::Reject(reason) => (reason.clone(), None),
            Decision::Respond(value) | Decision::Edit(value) | Decision::EditCall { argument: value, .. } => {
                (None, value.to_json().ok())
            }
        };
        Self {
            call: call.to_string(),
            decision: decision.kind().name().to_owned(),
            by: by.map(str::to_owned),
            reason,
            value_sha256: value.map(|value| hex(&Sha256::digest(value.to_string()))),
        }
    }
}

impl Record {
    fn kind(&self) -> u8 {
        match self {
            Self::Image(_) => 1,
            Self::Claimed(_) => 2,
            Self::Started(_) => 3,
            Self::Completed(_) => 4,
            Self::Forwarded(_) => 5,
            Self::Ended(_) => 6,
            Self::Met(_) => 7,
        }
    }

    /// The record as it stands in the file.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let payload = match self {
            Self::Image(image) => image.encode(),
            Self::Claimed(claim) => json(claim),
            Self::Started(call) => json(call),
            Self::Completed(call) => json(call),
            Self::Forwarded(forwarded) => json(forwarded),
            Self::Ended(ended) => json(ended),
            Self::Met(met) => json(met),
        };
        let [a, b, c, d] = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_le_bytes();
        let head = [self.kind(), a, b, c, d];
        let head_check: [u8; HEAD_CHECK] = check(&[&head]);
        let whole_check: [u8; CHECK] = check(&[&head, &payload]);
        [&head[..], &head_check, &whole_check, &payload].concat()
    }

    fn decode(kind: u8, payload: &[u8]) -> Result<Self, ContentsError> {
        match kind {
            1 => Image::decode(payload).map(Self::Image),
            2 => from_json(payload).map(Self::Claimed),
            3 => from_json(payload).map(Self::Started),
            4 => from_json(payload).map(Self::Completed),
            5 => from_json(payload).map(Self::Forwarded),
            6 => from_json(payload).map(Self::Ended),
            7 => from_json(payload).map(Self::Met),
            _ => Err(ContentsError::Corrupt("it has a record of an unknown kind")),
        }
    }
}

impl Image {
    fn encode(&self) -> Vec<u8> {
        let wake_at = self.wake_at.map_or(NEVER, |at| {
            let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
            u64::try_from(since.as_millis()).unwrap_or(NEVER)
        });
        [&wake_at.to_le_bytes()[..], &self.snapshot].concat()
    }

    fn decode(payload: &[u8]) -> Result<Self, ContentsError> {
        let (wake_at, snapshot) =
            payload.split_first_chunk::<8>().ok_or(ContentsError::Corrupt("its image is too short"))?;
        let wake_at = match u64::from_le_bytes(*wake_at) {
            NEVER => None,
            millis => UNIX_EPOCH.checked_add(Duration::from_millis(millis)),
        };
        Ok(Self { wake_at, snapshot: snapshot.to_vec() })
    }
}

/// Whether a file that begins like this may be a saved one.
pub(super) fn may_be_ours(head: &[u8]) -> bool {
    head == MAGIC || head == SNAPSHOT_MAGIC
}

/// A whole file of these records.
pub(crate) fn encode(records: &[Record]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend(records.iter().flat_map(Record::encode));
    bytes
}

impl Contents {
    /// Reads a whole file.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, ContentsError> {
        if bytes.starts_with(&SNAPSHOT_MAGIC) {
            let image = Some(Image { wake_at: None, snapshot: bytes.to_vec() });
            return Ok(Self { image, length: bytes.len() as u64, bare: true, ..Self::default() });
        }
        let (version, mut rest) =
            bytes.strip_prefix(&MAGIC).and_then(<[u8]>::split_first_chunk::<2>).ok_or(ContentsError::NotOurs)?;
        match u16::from_le_bytes(*version) {
            VERSION => {}
            other => return Err(ContentsError::OtherVersion(other)),
        }
        let mut contents = Self::default();
        while let Some((record, behind)) = split_record(rest)? {
            contents.take(record)?;
            rest = behind;
        }
        contents.length = (bytes.len() - rest.len()) as u64;
        if contents.image.is_none() && contents.forwarded.is_none() && contents.ended.is_none() {
            return Err(ContentsError::Corrupt("it holds no whole image"));
        }
        Ok(contents)
    }

    /// The image of a file that is a snapshot and nothing else.
    pub(super) fn bare_image(&self) -> Option<Image> {
        self.image.clone().filter(|_| self.bare)
    }

    fn take(&mut self, record: Record) -> Result<(), ContentsError> {
        let unclaimed = ContentsError::Corrupt("it tells of a call before it was claimed");
        match record {
            Record::Image(image) => self.image = Some(image),
            Record::Claimed(claim) => self.claims.push(Made { claim, calls: Vec::new(), met: Vec::new() }),
            Record::Started(call) => {
                let calls = &mut self.claims.last_mut().ok_or(unclaimed)?.calls;
                calls.push(ReportCall::new(call.call, call.name, CallStatus::Unknown));
            }
            Record::Met(met) => self.claims.last_mut().ok_or(unclaimed)?.met.push(met),
            Record::Completed(ended) => {
                let calls = &mut self.claims.last_mut().ok_or(unclaimed)?.calls;
                if let Some(call) = calls.iter_mut().find(|call| call.call == ended.call) {
                    call.status = status_named(&ended.status);
                }
            }
            Record::Forwarded(forwarded) => self.forwarded = Some(forwarded),
            Record::Ended(ended) => self.ended = Some(ended),
        }
        Ok(())
    }
}

/// The status that a record names. One that this chrysalid does not know may mean anything.
fn status_named(name: &str) -> CallStatus {
    let name: StrDeserializer<'_, StatusError> = name.into_deserializer();
    CallStatus::deserialize(name).unwrap_or(CallStatus::Unknown)
}

/// The next record and what is behind it; nothing at the end, and nothing for a last record that was not finished.
///
/// Kind and length have a check of their own: without it a changed length would look like a record that was not
/// finished, and hide a claim.
fn split_record(bytes: &[u8]) -> Result<Option<(Record, &[u8])>, ContentsError> {
    const CHANGED: ContentsError = ContentsError::Corrupt("a record of it was changed");
    // A file system may have made room before it wrote: then there are zeros.
    if bytes.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let Some((head, rest)) = bytes.split_first_chunk::<5>() else { return Ok(None) };
    let Some((head_found, rest)) = rest.split_first_chunk::<HEAD_CHECK>() else { return Ok(None) };
    let Some((found, rest)) = rest.split_first_chunk::<CHECK>() else { return Ok(None) };
    if *head_found != check(&[head]) {
        return Err(CHANGED);
    }
    let [kind, length @ ..] = *head;
    let end = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    let Some((payload, behind)) = rest.split_at_checked(end) else { return Ok(None) };
    if *found == check(&[head, payload]) {
        return Ok(Some((Record::decode(kind, payload)?, behind)));
    }
    // Half of a last record, and zeros where the rest should be.
    if behind.iter().all(|byte| *byte == 0) && payload.last() == Some(&0) {
        return Ok(None);
    }
    Err(CHANGED)
}

/// The first bytes of a SHA-256 over the parts.
fn check<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let digest = parts.iter().fold(Sha256::new(), Digest::chain_update).finalize();
    let mut check = [0; N];
    for (to, from) in check.iter_mut().zip(digest) {
        *to = from;
    }
    check
}

fn json(record: &impl Serialize) -> Vec<u8> {
    // Structs of texts and booleans have no way to fail.
    serde_json::to_vec(record).unwrap_or_default()
}

fn from_json<T: DeserializeOwned>(payload: &[u8]) -> Result<T, ContentsError> {
    serde_json::from_slice(payload).map_err(|_| ContentsError::Corrupt("a record of it cannot be read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> Vec<Record> {
        let claim = Claim {
            run: "ab".into(),
            fork: false,
            decisions: vec![Decided {
                call: "1.1".into(),
                decision: "reject".into(),
                by: Some("ann".into()),
                reason: Some("no".into()),
                value_sha256: None,
            }],
            save: None,
        };
        let wake_at = Some(UNIX_EPOCH + Duration::from_millis(1_234));
        vec![
            Record::Image(Image { wake_at, snapshot: vec![7; 300] }),
            Record::Claimed(claim),
            Record::Met(Met { effect: "acts".into(), by: "pay (call 1.2, line 1)".into() }),
            Record::Started(CallStarted { call: "1.2".into(), name: "pay".into() }),
            Record::Completed(CallEnded { call: "1.2".into(), name: "pay".into(), status: "completed".into() }),
        ]
    }

    fn statuses(contents: &Contents) -> Vec<&str> {
        contents.claims.iter().flat_map(|made| &made.calls).map(|call| call.status.name()).collect()
    }

    #[test]
    fn each_moment_of_a_file_reads_as_its_whole_records() {
        let records = records();
        let bytes = encode(&records);
        let mut ends = vec![10];
        for record in &records {
            ends.push(ends.last().unwrap() + record.encode().len());
        }
        assert_eq!(ends[5], bytes.len());
        for cut in 0..=bytes.len() {
            let whole = ends.iter().filter(|end| **end <= cut).count();
            let contents = Contents::decode(&bytes[..cut]);
            match whole {
                0 => assert_eq!(contents, Err(ContentsError::NotOurs), "{cut}"),
                1 => assert_eq!(contents, Err(ContentsError::Corrupt("it holds no whole image")), "{cut}"),
                _ => {
                    let contents = contents.unwrap();
                    assert_eq!(contents.length, ends[whole - 1] as u64, "{cut}");
                    assert_eq!(contents.image.as_ref().map(|image| image.snapshot.len()), Some(300));
                    assert_eq!(contents.claims.len(), usize::from(whole >= 3), "{cut}");
                    let met = contents.claims.iter().map(|made| made.met.len()).sum::<usize>();
                    assert_eq!(met, usize::from(whole >= 4), "{cut}");
                    assert_eq!(statuses(&contents), [&[][..], &["unknown"], &["completed"]][whole.saturating_sub(4)]);
                }
            }
        }
    }

    #[test]
    fn a_last_record_that_was_not_finished_is_ignored() {
        let mut bytes = encode(&records());
        let length = bytes.len();
        bytes.truncate(length - 1);
        bytes.extend([0; 9000]);
        assert_eq!(statuses(&Contents::decode(&bytes).unwrap()), ["unknown"]);
        let mut bytes = encode(&records());
        bytes.extend([0; 9000]);
        let contents = Contents::decode(&bytes).unwrap();
        assert_eq!((contents.length, statuses(&contents)), (length as u64, vec!["completed"]));
    }

    #[test]
    fn a_changed_bit_anywhere_behind_the_magic_is_refused() {
        let bytes = encode(&records());
        for place in 10..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[place] ^= 1 << bit;
                let refused = Err(ContentsError::Corrupt("a record of it was changed"));
                assert_eq!(Contents::decode(&changed), refused, "bit {bit} of byte {place}");
            }
        }
    }

    #[test]
    fn other_files_are_told_apart() {
        assert_eq!(Contents::decode(b"await 1"), Err(ContentsError::NotOurs));
        assert_eq!(Contents::decode(b""), Err(ContentsError::NotOurs));
        let mut newer = encode(&records());
        newer[8] = 2;
        assert_eq!(Contents::decode(&newer), Err(ContentsError::OtherVersion(2)));
        let bare = Contents::decode(b"\x89CHRY\r\n\x1a and so on").unwrap();
        assert_eq!(bare.bare_image().map(|image| image.snapshot.len()), Some(18));
    }
}
