//! Snapshots from anywhere: forged with the right key, changed after they were sealed, or no snapshots at all.

use super::bytes::Choices;
use crate::key::{Key, KeyRing};
use crate::snapshot::format::{self, Contents, Follows, Identity, MAX_LINKS, PAGE, SnapshotError};
use crate::snapshot::pages;

const IDENTITY: Identity = Identity { guest: [0xab; 32], abi: 2 };
const UNIT: usize = 65_536;
const BASELINE_PAGES: usize = 16;
const MAX_MEMORY: usize = 4 * UNIT;

/// The bytes are read as they are, as the parts of a snapshot that is sealed with the engine's key, and as a change to one.
pub fn snapshot_decoding(bytes: &[u8]) {
    let keys = KeyRing { current: Some(Key::from_bytes([7; 32])), old: Vec::new() };
    drop(format::clear_fields(bytes));
    drop(format::id(bytes));
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
    links_are_bounded(&packed, memory_len.max(BASELINE_PAGES * PAGE));
    let follows = Follows { image: [change.1; 32], links: change.0 % MAX_LINKS + 1 };
    let follows = (change.1 != 0 && change.0.is_multiple_of(3)).then_some(follows);
    let contents = Contents { header, memory_len: memory_len as u64, follows, pages: packed };
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

fn baseline() -> Vec<u8> {
    (0_u8..251).cycle().take(BASELINE_PAGES * PAGE).collect()
}

/// A list read as that of a link, over memory that is not the baseline's.
fn links_are_bounded(packed: &[u8], memory_len: usize) {
    let baseline = baseline();
    let mut before: Vec<u8> = baseline.iter().map(|byte| byte ^ 0x55).collect();
    before.resize(memory_len, 1);
    let mut memory = before.clone();
    match pages::unpack_link(packed, &baseline, &mut memory) {
        Ok(()) => {
            let page = |number: u32| before.as_chunks::<PAGE>().0.get(usize::try_from(number).unwrap_or(usize::MAX));
            let named = 0..u32::try_from(memory_len / PAGE).expect("a small memory");
            let again = pages::pack_link(&memory, &baseline, named, page).expect("memory can be packed");
            let mut copy = before.clone();
            pages::unpack_link(&again, &baseline, &mut copy).expect("what was packed can be unpacked");
            assert!(copy == memory, "pages of a link changed on their way");
        }
        Err(SnapshotError::Corrupt(_)) => {}
        Err(error) => panic!("the reader's own fault: {error}"),
    }
}

fn pages_are_bounded(packed: &[u8], memory_len: usize) {
    let baseline = baseline();
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
