//! The seal of a snapshot: XChaCha20-Poly1305, with the clear head as associated data.
//!
//! A nonce of 24 bytes may be drawn at random for every snapshot of a key's life, so nobody has to
//! keep a counter. The layout around the seal belongs to `format`.

use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};

use super::format::SnapshotError;
use crate::key::Key;

/// Bytes of a nonce.
pub(crate) const NONCE: usize = 24;
/// Bytes of the tag at the end of a sealed body.
pub(crate) const TAG: usize = 16;

/// A nonce from the system's randomness.
pub(crate) fn fresh_nonce() -> Result<[u8; NONCE], SnapshotError> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(|_| SnapshotError::Failed("the system gave no random bytes"))?;
    Ok(nonce)
}

/// Encrypts `body` in its place and appends the tag, which also vouches for `head`.
pub(crate) fn seal(key: &Key, nonce: &[u8; NONCE], head: &[u8], mut body: Vec<u8>) -> Result<Vec<u8>, SnapshotError> {
    body.reserve_exact(TAG);
    cipher(key)
        .encrypt_in_place(&XNonce::from(*nonce), head, &mut body)
        .map_err(|_| SnapshotError::Failed("body is too long to seal"))?;
    Ok(body)
}

/// The body that was sealed under this key, nonce and head, or [`SnapshotError::BadSeal`].
pub(crate) fn open(key: &Key, nonce: &[u8; NONCE], head: &[u8], sealed: &[u8]) -> Result<Vec<u8>, SnapshotError> {
    let mut body = sealed.to_vec();
    cipher(key).decrypt_in_place(&XNonce::from(*nonce), head, &mut body).map_err(|_| SnapshotError::BadSeal)?;
    Ok(body)
}

fn cipher(key: &Key) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(key.secret().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE_OF_ONES: [u8; NONCE] = [1; NONCE];

    fn key() -> Key {
        Key::from_bytes([5; 32])
    }

    #[test]
    fn opening_gives_back_what_was_sealed() {
        for body in [Vec::new(), vec![7; 1], vec![8; 10_000]] {
            let sealed = seal(&key(), &NONCE_OF_ONES, b"head", body.clone()).unwrap();
            assert_eq!(sealed.len(), body.len() + TAG);
            assert_eq!(open(&key(), &NONCE_OF_ONES, b"head", &sealed), Ok(body));
        }
    }

    /// The vector of draft-irtf-cfrg-xchacha-03, appendix A.3.1.
    #[test]
    fn the_cipher_is_the_one_of_the_draft() {
        let key = Key::from_bytes(std::array::from_fn(|index| 0x80 + u8::try_from(index).unwrap()));
        let nonce = std::array::from_fn(|index| 0x40 + u8::try_from(index).unwrap());
        let head = [0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7];
        let text = "Ladies and Gentlemen of the class of '99: If I could offer you only one \
                    tip for the future, sunscreen would be it.";
        let sealed = seal(&key, &nonce, &head, text.into()).unwrap();
        assert_eq!(sealed[..8], [0xbd, 0x6d, 0x17, 0x9d, 0x3e, 0x83, 0xd4, 0x3b]);
        assert_eq!(
            sealed[text.len()..],
            [0xc0, 0x87, 0x59, 0x24, 0xc1, 0xc7, 0x98, 0x79, 0x47, 0xde, 0xaf, 0xd8, 0x78, 0x0a, 0xcf, 0x49]
        );
    }

    #[test]
    fn another_key_nonce_head_or_length_does_not_open() {
        let sealed = seal(&key(), &NONCE_OF_ONES, b"head", b"body".to_vec()).unwrap();
        let refused = Err(SnapshotError::BadSeal);
        assert_eq!(open(&Key::from_bytes([6; 32]), &NONCE_OF_ONES, b"head", &sealed), refused);
        assert_eq!(open(&key(), &[2; NONCE], b"head", &sealed), refused);
        assert_eq!(open(&key(), &NONCE_OF_ONES, b"heae", &sealed), refused);
        assert_eq!(open(&key(), &NONCE_OF_ONES, b"hea", &sealed), refused);
        for length in 0..sealed.len() {
            assert_eq!(open(&key(), &NONCE_OF_ONES, b"head", &sealed[..length]), refused);
        }
    }

    #[test]
    fn nonces_differ() {
        assert_ne!(fresh_nonce(), fresh_nonce());
    }
}
