//! The keys that seal snapshots: their text forms, their public ids, and the ring an engine reads
//! with.
//!
//! A key is 32 random bytes. It never leaves this module but through [`Key::to_text`] and the
//! cipher; errors and `Debug` show its id at most. Where command line and bindings look for one is
//! `places`.

mod places;

use std::fmt;
use std::io;
use std::path::PathBuf;

use sha2::{Digest, Sha256};
use thiserror::Error;
use zeroize::Zeroizing;

pub use places::KeyPlaces;

const KEY: usize = 32;
/// Sets the hash of a key's id apart from any other hash of the same bytes.
const ID_DOMAIN: &[u8] = b"chrysalid key id 1\0";

/// A secret that seals snapshots and opens them again.
///
/// Its bytes are overwritten with zeros when the last owner drops it.
///
/// ```
/// use chrysalid::Key;
///
/// # fn main() -> Result<(), chrysalid::KeyError> {
/// let key = Key::generate()?;
/// let same = Key::from_text(&key.to_text())?;
/// assert_eq!(same.id(), key.id());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Key {
    // Boxed, so that moving a key leaves no copy of it behind.
    secret: Box<Zeroizing<[u8; KEY]>>,
    id: KeyId,
}

/// The public name of a [`Key`], written in the clear into every snapshot it seals.
///
/// The first 8 bytes of a SHA-256 over the key, shown as 16 hexadecimal characters. It tells
/// nothing about the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId(pub [u8; 8]);

/// Why there is no key.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text is none of the forms of a key; a passphrase is refused, because it can be guessed.
    #[error(
        "{place} is not a key: expected 64 hexadecimal characters or the base64 of 32 bytes, found \
         {characters} characters (a passphrase is no key: make one with `openssl rand -hex 32`)"
    )]
    NotAKey {
        /// Where the text came from.
        place: String,
        /// How long it is, without white space around it.
        characters: usize,
    },
    /// Somebody but the owner can reach the key file.
    #[error(
        "key file {} has mode {mode:04o}, so others can reach it: set its mode to 0600",
        .path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The key file cannot be read or made.
    #[error("cannot {action} key file {}: {reason}", .path.display())]
    File {
        /// `read` or `make`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// The system gave no random bytes to make a key from.
    #[error("the system gave no random bytes for a key: {reason}")]
    NoRandomness {
        /// What the system said.
        reason: String,
    },
}

impl Key {
    /// A new key from the system's randomness.
    ///
    /// # Errors
    ///
    /// [`KeyError::NoRandomness`], when the system has none.
    pub fn generate() -> Result<Self, KeyError> {
        let mut secret = Box::new(Zeroizing::new([0; KEY]));
        fill_with_randomness(secret.as_mut_slice())?;
        Ok(Self::from_secret(secret))
    }

    /// The key of these bytes, for those whose keys come from a key service. They must be random,
    /// not derived from a passphrase.
    #[must_use]
    pub fn from_bytes(bytes: [u8; KEY]) -> Self {
        Self::from_secret(Box::new(Zeroizing::new(bytes)))
    }

    /// Reads 64 hexadecimal characters, or base64 of 32 bytes with its `=` (either alphabet). White
    /// space around is ignored.
    ///
    /// # Errors
    ///
    /// [`KeyError::NotAKey`] for anything else, a passphrase included.
    pub fn from_text(text: &str) -> Result<Self, KeyError> {
        Self::from_text_of("the text", text)
    }

    fn from_text_of(place: &str, text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        let secret = bytes_of_hex(text)
            .or_else(|| bytes_of_base64(text))
            .ok_or_else(|| KeyError::NotAKey { place: place.to_owned(), characters: text.chars().count() })?;
        Ok(Self::from_secret(secret))
    }

    /// The key of the process's environment: what [`KeyPlaces::find_or_make`] gives for it.
    ///
    /// `None` only where no user's directory is known either.
    ///
    /// # Errors
    ///
    /// Those of [`KeyPlaces::find_or_make`].
    pub fn from_environment() -> Result<Option<Self>, KeyError> {
        KeyPlaces::from_process().find_or_make()
    }

    /// The key as 64 hexadecimal characters: a secret, for the owner to keep or to share with
    /// another machine.
    #[must_use]
    pub fn to_text(&self) -> String {
        hex(self.secret.as_slice())
    }

    /// The key's public name.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.id
    }

    pub(crate) fn secret(&self) -> &[u8; KEY] {
        &self.secret
    }

    fn from_secret(secret: Box<Zeroizing<[u8; KEY]>>) -> Self {
        let digest = Sha256::new().chain_update(ID_DOMAIN).chain_update(secret.as_slice()).finalize();
        let mut id = [0; 8];
        for (to, from) in id.iter_mut().zip(digest) {
            *to = from;
        }
        Self { secret, id: KeyId(id) }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Key({})", self.id)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex(&self.0))
    }
}

fn fill_with_randomness(bytes: &mut [u8]) -> Result<(), KeyError> {
    getrandom::fill(bytes).map_err(|error| KeyError::NoRandomness { reason: error.to_string() })
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    // Its full length at once: a string that grew would leave parts of a secret in freed memory.
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for half in [byte >> 4, byte & 15] {
            text.push(char::from(if half < 10 { b'0' + half } else { b'a' + (half - 10) }));
        }
    }
    text
}

fn bytes_of_hex(text: &str) -> Option<Box<Zeroizing<[u8; KEY]>>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != KEY || !rest.is_empty() {
        return None;
    }
    let mut secret = Box::new(Zeroizing::new([0; KEY]));
    for (byte, [high, low]) in secret.iter_mut().zip(pairs) {
        let value = char::from(*high).to_digit(16)? << 4 | char::from(*low).to_digit(16)?;
        *byte = u8::try_from(value).ok()?;
    }
    Some(secret)
}

/// The `=` is asked for: without it, 43 letters of somebody's passphrase would count as a key.
fn bytes_of_base64(text: &str) -> Option<Box<Zeroizing<[u8; KEY]>>> {
    let symbols = text.strip_suffix('=')?.as_bytes();
    if symbols.len() != 43 {
        return None;
    }
    let mut secret = Box::new(Zeroizing::new([0; KEY]));
    let mut bytes = secret.iter_mut();
    let (mut bits, mut held) = (0_u32, 0_u32);
    for symbol in symbols {
        bits = bits << 6 | base64_value(*symbol)?;
        held += 6;
        if held >= 8 {
            held -= 8;
            *bytes.next()? = u8::try_from(bits >> held).ok()?;
            bits &= (1 << held) - 1;
        }
    }
    (bits == 0).then_some(secret)
}

fn base64_value(symbol: u8) -> Option<u32> {
    let value = match symbol {
        b'A'..=b'Z' => symbol - b'A',
        b'a'..=b'z' => symbol - b'a' + 26,
        b'0'..=b'9' => symbol - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

/// The key an engine seals with, and those it can open besides.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyRing {
    /// Seals, and opens its own.
    pub(crate) current: Option<Key>,
    /// Only open: the keys of before.
    pub(crate) old: Vec<Key>,
}

impl KeyRing {
    /// The key of this id.
    pub(crate) fn lookup(&self, id: KeyId) -> Option<&Key> {
        self.current.iter().chain(&self.old).find(|key| key.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

    fn counting() -> Key {
        Key::from_bytes(std::array::from_fn(|index| u8::try_from(index).unwrap()))
    }

    #[test]
    fn every_text_form_gives_the_same_key() {
        let forms = [
            HEX.to_owned(),
            HEX.to_uppercase(),
            format!(" {HEX}\n"),
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".into(),
        ];
        for form in forms {
            assert_eq!(Key::from_text(&form).unwrap().secret(), counting().secret(), "{form}");
        }
        assert_eq!(counting().to_text(), HEX);
    }

    #[test]
    fn both_alphabets_of_base64_are_read() {
        let expected = [0xff; 32];
        for symbol in ["/", "_"] {
            let text = format!("{}8=", symbol.repeat(42));
            assert_eq!(Key::from_text(&text).unwrap().secret(), &expected);
        }
        let text = format!("{}8=", "-+".repeat(21));
        assert_eq!(Key::from_text(&text).unwrap().secret()[..3], [0xfb, 0xef, 0xbe]);
    }

    #[test]
    fn what_is_not_a_key_is_refused_with_its_length_only() {
        let not_keys = [
            "",
            "correct horse battery staple",
            HEX.split_at(1).1,
            &HEX.replace('a', "g"),
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
            // The last symbol holds bits that no byte of the key has.
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9=",
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh==",
            &"é".repeat(32),
        ];
        for text in not_keys {
            let error = Key::from_text(text).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "the text is not a key: expected 64 hexadecimal characters or the base64 of \
                     32 bytes, found {} characters (a passphrase is no key: \
                     make one with `openssl rand -hex 32`)",
                    text.chars().count()
                )
            );
        }
    }

    #[test]
    fn the_id_is_a_hash_under_its_own_domain() {
        assert_eq!(counting().id().to_string(), "6f982645d47e1ddb");
        assert_ne!(Key::from_bytes([1; 32]).id(), Key::from_bytes([2; 32]).id());
    }

    #[test]
    fn debug_shows_the_id_only() {
        let key = counting();
        assert_eq!(format!("{key:?}"), format!("Key({})", key.id()));
    }

    #[test]
    fn generated_keys_differ() {
        assert_ne!(Key::generate().unwrap().id(), Key::generate().unwrap().id());
    }

    #[test]
    fn the_ring_finds_current_and_old_keys_by_id() {
        let (current, old) = (Key::from_bytes([1; 32]), Key::from_bytes([2; 32]));
        let ring = KeyRing { current: Some(current.clone()), old: vec![old.clone()] };
        assert_eq!(ring.lookup(current.id()).unwrap().id(), current.id());
        assert_eq!(ring.lookup(old.id()).unwrap().id(), old.id());
        assert!(ring.lookup(Key::from_bytes([3; 32]).id()).is_none());
    }
}
