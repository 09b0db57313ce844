//! Snapshots from anywhere: forged with the right key, changed after they were sealed, or no snapshots at all.

use super::bytes::Choices;
use crate::key::{Key, KeyRing};
use crate::snapshot::format::{self, Contents, Identity, PAGE, SnapshotError};
use crate::snapshot::pages;

const IDENTITY: Identity = Identity { guest: [0xab; 32], abi: 2 };
const UNIT: usize = 65_536;
const BASELINE_PAGES: usize = 16;
const MAX_MEMORY: usize = 4 * UNIT;

/// The bytes are read as they are, as the parts of a snapshot that is sealed with the engine's key, and as a change to one.
pub fn snapshot_decoding(bytes: &[u8]) {
    let keys = KeyRing { current: Some(Key::from_bytes([7; 32])), old: Vec::new() };
    drop(format::clear_fields(bytes));
    drop(format::read(bytes, &IDENTITY, &keys, MAX_MEMORY as u64));
    let mut choices = Choices::new(bytes);
    let memory_len = choices.below(6) * UNIT;
    let is_list = choices.flag();
    let header = choices.bytes(usize::from(bytes.len() > 300) * 200 + 8).to_vec();
    let change = (choices.number(), choices.byte());
    let rest = choices.bytes(usize::MAX);
    // Half of the inputs are lists of pages, so that the reader of lists is reached at all.
    let packed = if is_list { zstd::bulk::compress(rest, 1).expect("bytes can be compressed") } else { rest.to_vec() };
    pages_are_bounded(&packed, memory_len);
    let contents = Contents { header, memory_len: memory_len as u64, follows: None, pages: packed };
    is_sealed(&contents, &keys, change);
}

fn is_sealed(contents: &Contents, keys: &KeyRing, (place, flips): (u32, u8)) {
    let key = keys.current.as_ref().expect("the ring has a key");
    let mut sealed = format::write(&IDENTITY, key, contents).expect("contents can be sealed");
    let read = format::read(&sealed, &IDENTITY, keys, MAX_MEMORY as u64);
    if contents.memory_len > MAX_MEMORY as u64 {
        let expected = SnapshotError::TooLarge { found: contents.memory_len, bound: MAX_MEMORY as u64 };
        assert_eq!(read, Err(expected));
    } else {
        assert_eq!(read.as_ref(), Ok(contents));
    }
    let place = usize::try_from(place).unwrap_or(0) % sealed.len();
    if flips != 0
        && let Some(byte) = sealed.get_mut(place)
    {
        *byte ^= flips;
        assert!(format::read(&sealed, &IDENTITY, keys, MAX_MEMORY as u64).is_err(), "byte {place}, bits {flips:#x}");
    }
    sealed.truncate(place);
    assert!(format::read(&sealed, &IDENTITY, keys, MAX_MEMORY as u64).is_err(), "cut at {place}");
}

fn pages_are_bounded(packed: &[u8], memory_len: usize) {
    let baseline: Vec<u8> = (0_u8..251).cycle().take(BASELINE_PAGES * PAGE).collect();
    let mut memory = baseline.clone();
    memory.resize(memory_len, 0);
    let mut last = None;
    let result = pages::unpack(packed, &baseline, memory_len as u64, |number, page| {
        assert!(last < Some(number), "pages do not ascend");
        last = Some(number);
        let start = usize::try_from(number).unwrap_or(usize::MAX).saturating_mul(PAGE);
        memory.get_mut(start..start + PAGE).expect("a page lies in memory").copy_from_slice(page);
        Ok(())
    });
    match result {
        Ok(()) => {
            let changed = pages::changed_by_comparing(&memory, &baseline);
            let again = pages::pack(&memory, &baseline, changed.into_iter()).expect("memory can be packed");
            let mut copy = baseline.clone();
            copy.resize(memory_len, 0);
            pages::unpack(&again, &baseline, memory_len as u64, |number, page| {
                let start = usize::try_from(number).unwrap_or(usize::MAX).saturating_mul(PAGE);
                copy.get_mut(start..start + PAGE).expect("a page lies in memory").copy_from_slice(page);
                Ok(())
            })
            .expect("what was packed can be unpacked");
            assert!(copy == memory, "pages changed on their way");
        }
        Err(SnapshotError::Corrupt(_)) => {}
        Err(error) => panic!("the reader's own fault: {error}"),
    }
}
