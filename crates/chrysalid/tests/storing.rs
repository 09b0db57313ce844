//! The ways in which a session is stored and restored, for tests that try all of them.

use chrysalid::{Capabilities, Engine, Restore, Result, Session, SessionOptions};
use serde::{Deserialize, Serialize};

/// Where the pages of a snapshot come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Way {
    /// The kernel tells which pages are the guest's own.
    Kernel,
    /// They are found by comparing them with the baseline.
    #[cfg(feature = "fuzzing")]
    Comparing,
    /// A full image and links behind it.
    Chain,
}

impl Way {
    #[cfg(feature = "fuzzing")]
    pub(crate) const ALL: &[Self] = &[Self::Kernel, Self::Comparing, Self::Chain];
    #[cfg(not(feature = "fuzzing"))]
    pub(crate) const ALL: &[Self] = &[Self::Kernel, Self::Chain];

    /// The options of a session that is stored in this way.
    pub(crate) fn options(self, mut options: SessionOptions) -> SessionOptions {
        options.chain = if self == Self::Chain { 3 } else { 0 };
        options
    }
}

/// A session's images, as many as it takes to restore it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Stored {
    way: Way,
    images: Vec<Vec<u8>>,
}

impl Stored {
    pub(crate) fn in_the_way(way: Way) -> Self {
        Self { way, images: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.images.is_empty()
    }

    pub(crate) fn store(&mut self, engine: &Engine, session: &mut Session) -> Result<()> {
        let image = match self.way {
            #[cfg(feature = "fuzzing")]
            Way::Comparing => chrysalid::fuzzing::comparing_pages(|| session.snapshot()),
            _ => session.snapshot(),
        }?;
        if engine.inspect(&image)?.follows.is_none() {
            self.images.clear();
        }
        self.images.push(image);
        Ok(())
    }

    /// The session again, with options that [`Way::options`] gave.
    pub(crate) fn restore(&self, engine: &Engine, tools: &Capabilities, options: SessionOptions) -> Session {
        let images: Vec<&[u8]> = self.images.iter().map(Vec::as_slice).collect();
        engine.restore_chain_with(&images, tools, Restore::Resume, options).unwrap()
    }
}
