//! The key by which an effect is done once, however often its call is attempted.

use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use crate::call::CallId;
use crate::key::hex;

/// Longer arguments are hashed at once; they would be copied otherwise.
const KEPT: usize = 4096;

/// A hash over session, call and argument, made when it is first asked for: most tools never do. A fork has another session
/// id, so it never repeats a key.
#[derive(Clone, Debug)]
pub(crate) struct IdempotencyKey {
    session: [u8; 16],
    call: CallId,
    argument: Argument,
    hex: OnceLock<String>,
}

#[derive(Clone, Debug)]
enum Argument {
    Bytes(Box<[u8]>),
    Digest([u8; 32]),
}

impl IdempotencyKey {
    /// Of a call with this argument, in its canonical form.
    pub(crate) fn new(session: [u8; 16], call: CallId, argument: &[u8]) -> Self {
        let argument = if argument.len() > KEPT {
            Argument::Digest(Sha256::digest(argument).into())
        } else {
            Argument::Bytes(argument.into())
        };
        Self { session, call, argument, hex: OnceLock::new() }
    }

    /// 64 hex characters.
    pub(crate) fn as_str(&self) -> &str {
        self.hex.get_or_init(|| {
            let digest = match &self.argument {
                Argument::Bytes(bytes) => Sha256::digest(bytes).into(),
                Argument::Digest(digest) => *digest,
            };
            let mut hash = Sha256::new();
            hash.update(b"chrysalid idempotency key");
            hash.update(self.session);
            hash.update(self.call.program.to_le_bytes());
            hash.update(self.call.number.to_le_bytes());
            hash.update(digest);
            hex(&hash.finalize())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{CallId, IdempotencyKey, KEPT};

    #[test]
    fn a_key_is_of_session_call_and_argument() {
        let id = |program, number| CallId { program, number };
        let key = |session: u8, call, argument: &[u8]| IdempotencyKey::new([session; 16], call, argument);
        let first = key(1, id(1, 1), b"a");
        // What was handed out before is the same in every release.
        assert_eq!(first.as_str(), "7fa5f45a5d22e6751d673a4388e86963f2e50245aaae3a2a8e9e077c32f65432");
        assert_eq!(first.as_str(), first.clone().as_str());
        for other in [key(2, id(1, 1), b"a"), key(1, id(2, 1), b"a"), key(1, id(1, 2), b"a"), key(1, id(1, 1), b"b")] {
            assert_ne!(first.as_str(), other.as_str());
        }
    }

    #[test]
    fn how_an_argument_is_kept_makes_no_difference() {
        let long = vec![7; KEPT + 1];
        let call = CallId { program: 3, number: 4 };
        let mut kept = IdempotencyKey::new([0; 16], call, &long);
        kept.argument = super::Argument::Bytes(long.clone().into());
        assert_eq!(IdempotencyKey::new([0; 16], call, &long).as_str(), kept.as_str());
    }
}
