//! Snapshots that are not what they were: every one is refused with its own kind, and none panics.

use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use std::time::Duration;

use chrysalid::{Capabilities, Decision, Engine, ErrorKind, Key, Restore, Session, Step};

use crate::support::{ENGINE, World, begin, eval, session, with_limits};

const HEAD: usize = 130;
const MEMORY: usize = 54;
const LENGTHS: std::ops::Range<usize> = 62..70;
const LINKS: std::ops::Range<usize> = 70..106;
const NONCE: std::ops::Range<usize> = 106..HEAD;

fn small() -> Vec<u8> {
    let mut session = session();
    eval(&mut session, "let k = 1");
    session.snapshot().unwrap()
}

#[track_caller]
fn refused(bytes: &[u8]) -> (ErrorKind, String) {
    let error = ENGINE.restore(bytes, &Capabilities::none(), Restore::Resume).unwrap_err();
    (error.kind(), error.to_string())
}

#[track_caller]
fn restored(bytes: &[u8]) -> Result<Session, ErrorKind> {
    ENGINE.restore(bytes, &Capabilities::none(), Restore::Resume).map_err(|error| error.kind())
}

fn memory_length(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[MEMORY..MEMORY + 8].try_into().unwrap())
}

#[test]
fn s11_a_flipped_bit_at_every_position() {
    let mut bytes = small();
    let most = (64 << 20) + (1 << 20);
    for bit in 0..bytes.len() * 8 {
        let at = bit / 8;
        bytes[at] ^= 1 << (bit % 8);
        let expected = match at {
            0..8 => ErrorKind::NotASnapshot,
            8..10 => ErrorKind::OtherVersion,
            10..46 => ErrorKind::UnknownGuest,
            46..MEMORY => ErrorKind::UnknownKey,
            MEMORY..62 if !memory_length(&bytes).is_multiple_of(65_536) => ErrorKind::Corrupt,
            MEMORY..62 if memory_length(&bytes) > most => ErrorKind::TooLarge,
            62..106 => ErrorKind::Corrupt,
            _ => ErrorKind::BadSeal,
        };
        assert_eq!(refused(&bytes).0, expected, "bit {bit}");
        bytes[at] ^= 1 << (bit % 8);
    }
    assert!(
        LENGTHS.end == LINKS.start && LINKS.end == NONCE.start && restored(&bytes).is_ok(),
        "the bytes are whole again"
    );
}

#[test]
fn s11_cut_at_every_length() {
    let bytes = small();
    for length in 0..bytes.len() {
        let expected = if length < HEAD { ErrorKind::NotASnapshot } else { ErrorKind::Corrupt };
        assert_eq!(refused(&bytes[..length]).0, expected, "{length} bytes");
    }
    assert_eq!(refused(&[]), (ErrorKind::NotASnapshot, "not a chrysalid snapshot".to_owned()));
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(refused(&longer).0, ErrorKind::Corrupt);
}

#[test]
fn s11_noise() {
    // Numbers of a small generator, so that a failure can be repeated.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    })
    .take(1 << 20)
    .collect();
    assert_eq!(refused(&noise).0, ErrorKind::NotASnapshot);
    let head = small();
    for (kept, expected) in [
        (8, ErrorKind::OtherVersion),
        (10, ErrorKind::UnknownGuest),
        (46, ErrorKind::Corrupt),
        (70, ErrorKind::Corrupt),
    ] {
        assert_eq!(refused(&[&head[..kept], &noise[kept..]].concat()).0, expected, "{kept} bytes of a head");
    }
    let same_length = [&head[..HEAD], &noise[..head.len() - HEAD]].concat();
    assert_eq!(refused(&same_length).0, ErrorKind::BadSeal);
}

#[test]
fn s11_a_memory_of_four_gibibytes() {
    let mut bytes = small();
    for length in [4u64 << 30, 1 << 40, u64::MAX - 65_535, 128 << 20] {
        bytes[MEMORY..MEMORY + 8].copy_from_slice(&length.to_le_bytes());
        let (kind, message) = refused(&bytes);
        assert_eq!(kind, ErrorKind::TooLarge);
        assert_eq!(message, format!("snapshot needs {length} bytes, over the limit of 68157440"));
    }
}

#[test]
fn s11_lengths_that_add_up_to_anything() {
    let mut bytes = small();
    for lengths in [[u32::MAX, u32::MAX], [0, 0], [u32::MAX, 0], [0x8000_0000, 0x8000_0000]] {
        for (at, length) in lengths.into_iter().enumerate() {
            bytes[62 + 4 * at..66 + 4 * at].copy_from_slice(&length.to_le_bytes());
        }
        assert_eq!(refused(&bytes).0, ErrorKind::Corrupt, "{lengths:x?}");
    }
}

#[test]
fn s10_another_format_is_told_apart() {
    let mut bytes = small();
    for (found, message) in [
        (0u16, "snapshot has format 0, this engine reads format 5"),
        (4, "snapshot has format 4, this engine reads format 5"),
    ] {
        bytes[8..10].copy_from_slice(&found.to_le_bytes());
        assert_eq!(refused(&bytes), (ErrorKind::OtherVersion, message.to_owned()));
        assert_eq!(ENGINE.inspect(&bytes).unwrap_err().kind(), ErrorKind::OtherVersion);
    }
}

#[test]
fn s10_another_abi_is_another_guest() {
    let mut bytes = small();
    bytes[42..46].copy_from_slice(&99u32.to_le_bytes());
    let (kind, message) = refused(&bytes);
    assert_eq!(kind, ErrorKind::UnknownGuest);
    assert!(message.contains("with abi 99"), "{message}");
}

#[test]
fn a_key_that_is_not_here() {
    let bytes = small();
    let stranger = Engine::builder().pool_slots(0).key(Key::from_bytes([9; 32])).build().unwrap();
    let error = stranger.restore(&bytes, &Capabilities::none(), Restore::Resume).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownKey);
    let id = crate::support::key().id();
    assert_eq!(
        error.to_string(),
        format!(
            "snapshot is sealed with key {id}, which this engine does not have; \
             share the key itself through CHRYSALID_KEY, CHRYSALID_KEY_FILE or the engine's builder"
        )
    );
    // An id that claims to be ours does not help.
    let mut forged = bytes;
    let mut session = stranger.session(&Capabilities::none()).unwrap();
    forged[46..54].copy_from_slice(&session.snapshot().unwrap()[46..54]);
    let error = stranger.restore(&forged, &Capabilities::none(), Restore::Resume).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadSeal);
    assert_eq!(error.to_string(), "snapshot was changed after it was sealed, its tag does not verify");
}

#[test]
fn parts_of_two_snapshots_do_not_fit() {
    let mut session = session();
    eval(&mut session, "let k = 1");
    let one = session.snapshot().unwrap();
    let two = session.snapshot().unwrap();
    assert_ne!(one, two, "a nonce is used once");
    if one.len() == two.len() {
        assert_eq!(refused(&[&one[..HEAD], &two[HEAD..]].concat()).0, ErrorKind::BadSeal);
    }
}

// ---- a sound seal over a hostile body: a crafted image is only a hostile guest ----

fn open(bytes: &[u8]) -> Vec<u8> {
    let mut body = bytes[HEAD..].to_vec();
    let nonce: [u8; 24] = bytes[NONCE].try_into().unwrap();
    cipher().decrypt_in_place(&XNonce::from(nonce), &bytes[..HEAD], &mut body).unwrap();
    body
}

fn seal(head: &[u8], header: &[u8], pages: &[u8]) -> Vec<u8> {
    let mut bytes = head[..HEAD].to_vec();
    bytes[62..66].copy_from_slice(&u32::try_from(header.len()).unwrap().to_le_bytes());
    bytes[66..70].copy_from_slice(&u32::try_from(pages.len()).unwrap().to_le_bytes());
    let mut body = [header, pages].concat();
    let nonce: [u8; 24] = bytes[NONCE].try_into().unwrap();
    cipher().encrypt_in_place(&XNonce::from(nonce), &bytes, &mut body).unwrap();
    bytes.extend(body);
    bytes
}

fn cipher() -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&[7; 32].into())
}

fn split(bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let header = u32::from_le_bytes(bytes[62..66].try_into().unwrap());
    let body = open(bytes);
    let (header, pages) = body.split_at(usize::try_from(header).unwrap());
    (header.to_vec(), pages.to_vec())
}

#[test]
fn a_sealed_header_of_nonsense_is_corrupt() {
    let bytes = small();
    let (header, pages) = split(&bytes);
    assert!(restored(&seal(&bytes, &header, &pages)).is_ok(), "sealing again changes nothing");
    let plain = zstd::bulk::decompress(&header, 1 << 20).unwrap();
    let packed = |plain: &[u8]| zstd::bulk::compress(plain, 1).unwrap();
    for (what, header) in [
        ("nothing", vec![]),
        ("no zstd", b"header".to_vec()),
        ("empty", packed(&[])),
        ("ones", packed(&[0xff; 4096])),
        ("half", packed(&plain[..plain.len() / 2])),
    ] {
        assert_eq!(restored(&seal(&bytes, &header, &pages)).unwrap_err(), ErrorKind::Corrupt, "{what}");
    }
}

#[test]
fn a_sealed_list_of_pages_of_nonsense_is_corrupt() {
    let bytes = small();
    let (header, _) = split(&bytes);
    let packed = |plain: &[u8]| zstd::bulk::compress(plain, 1).unwrap();
    let page = |gap: &[u8]| [gap, &[0; 8]].concat();
    for (what, pages) in [
        ("no zstd", b"pages".to_vec()),
        ("a page past the end", packed(&page(&[0xff, 0xff, 0xff, 0x7f]))),
        ("a gap past all numbers", packed(&page(&[0xff; 10]))),
        ("a gap without an end", packed(&[0x80; 4])),
        ("a page without its lines", packed(&[0, 1, 0, 0, 0, 0, 0, 0, 0])),
        ("a stride of nothing", packed(&[[2, 0].as_slice(), &[0; 8]].concat())),
        ("a stride that is too long", packed(&[[2, 65].as_slice(), &[0; 8]].concat())),
        ("a page from nothing", packed(&page(&[3]))),
        ("a bomb", packed(&vec![0; 512 << 20])),
    ] {
        assert_eq!(restored(&seal(&bytes, &header, &pages)).map(drop), Err(ErrorKind::Corrupt), "{what}");
    }
}

#[test]
fn a_heap_of_noise_is_only_a_hostile_guest() {
    // The seal is sound and the pages are not: the session ends in whatever way, and the host stays whole.
    let world = World::new();
    let mut session = world.session();
    world
        .run(&mut session, "const a = [1, { b: 'text' }]; const f = x => x + a.length; await tools.gate({q: 1}); f(1)")
        .waits();
    let bytes = session.snapshot().unwrap();
    let (header, pages) = split(&bytes);
    let plain = zstd::bulk::decompress(&pages, 64 << 20).unwrap();
    let mut state = 1u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let (mut refused, mut ended, mut lost) = (0, 0, 0);
    for _ in 0..300 {
        let mut hostile = plain.clone();
        for _ in 0..=random(8) {
            let at = random(hostile.len());
            hostile[at] ^= 1 << random(8);
        }
        let image = seal(&bytes, &header, &zstd::bulk::compress(&hostile, 1).unwrap());
        let options = with_limits(|limits| limits.cpu_time = Duration::from_millis(10));
        let mut session = match ENGINE.restore_with(&image, &world.tools(), Restore::Resume, options) {
            Ok(session) => session,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupt);
                refused += 1;
                continue;
            }
        };
        for call in session.pending() {
            session.decide(call.id, Decision::Approve).unwrap();
        }
        for _ in 0..1000 {
            match session.step(begin()).unwrap() {
                Step::Start(calls) => {
                    for call in calls {
                        session.settle(call.id(), Ok("yes".into())).unwrap();
                    }
                }
                Step::Busy => {}
                Step::Wait { .. } | Step::Paused(_) => break,
                Step::Ended(_) => {
                    ended += 1;
                    break;
                }
            }
        }
        lost += usize::from(session.is_lost());
    }
    assert!(ended > 100, "refused {refused}, ended {ended}, lost {lost}");
}
