//! The random numbers of a session: a keystream of `ChaCha20`, so that one seed and a position say it all.

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use sha2::{Digest, Sha256};

use crate::clock::Random;
use crate::error::{Error, ErrorKind, Result};

pub(crate) struct Stream {
    cipher: ChaCha20,
    /// Bytes drawn so far.
    position: u64,
}

impl Stream {
    /// The stream of this source. One of the host begins anew; a seeded one goes on at the position.
    pub(crate) fn new(source: Random, position: u64) -> Result<Self> {
        let (key, position) = match source {
            Random::Host => {
                let mut key = [0; 32];
                getrandom::fill(&mut key).map_err(|error| {
                    Error::new(ErrorKind::Io, format!("no random numbers from the system: {error}"))
                })?;
                (key, 0)
            }
            Random::Seed(seed) => (
                Sha256::new_with_prefix(b"chrysalid seed").chain_update(seed.to_le_bytes()).finalize().into(),
                position,
            ),
        };
        let mut cipher = ChaCha20::new(&key.into(), &[0; 12].into());
        cipher
            .try_seek(position)
            .map_err(|_| Error::new(ErrorKind::Corrupt, format!("random position {position} is out of range")))?;
        Ok(Self { cipher, position })
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) -> bool {
        bytes.fill(0);
        self.position += bytes.len() as u64;
        self.cipher.try_apply_keystream(bytes).is_ok()
    }

    pub(crate) fn position(&self) -> u64 {
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::{Random, Stream};

    #[test]
    fn a_seeded_stream_goes_on_where_it_was() {
        let mut whole = [0; 64];
        Stream::new(Random::Seed(7), 0).unwrap().fill(&mut whole);
        let mut first = Stream::new(Random::Seed(7), 0).unwrap();
        let (mut head, mut tail) = ([0; 40], [0; 24]);
        first.fill(&mut head);
        Stream::new(Random::Seed(7), first.position()).unwrap().fill(&mut tail);
        assert_eq!([&head[..], &tail[..]].concat(), whole);
    }

    #[test]
    fn two_streams_of_the_host_differ() {
        let (mut a, mut b) = ([0; 32], [0; 32]);
        Stream::new(Random::Host, 0).unwrap().fill(&mut a);
        Stream::new(Random::Host, 0).unwrap().fill(&mut b);
        assert_ne!(a, b);
    }
}
