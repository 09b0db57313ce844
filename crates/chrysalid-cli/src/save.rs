//! Where a run is kept: nowhere, in a new file, or in the file that it was resumed from.

use std::path::{Path, PathBuf};

use crate::claim::{Draft, Ended, Forwarded, Image, Record, Target};
use crate::exit::Refusal;

/// Places for the next pause or the end.
#[derive(Default)]
pub(crate) struct Keeping {
    /// Replaces the file that the run was claimed in.
    own: Option<Draft>,
    /// Becomes the file that the user named.
    named: Option<Draft>,
}

impl Keeping {
    /// Nowhere: a pause ends the run.
    pub(crate) fn nowhere() -> Self {
        Self::default()
    }

    /// A pause becomes this file.
    pub(crate) fn named(path: &Path) -> Result<Self, Refusal> {
        Ok(Self { own: None, named: Some(Draft::reserve(path, Target::Named)?) })
    }

    /// A pause or the end replaces the claimed file; with `elsewhere`, a pause goes there.
    pub(crate) fn claimed(path: &Path, elsewhere: Option<&Path>) -> Result<Self, Refusal> {
        let named = elsewhere.map(|elsewhere| Draft::reserve(elsewhere, Target::Named)).transpose()?;
        Ok(Self { own: Some(Draft::reserve(path, Target::Own)?), named })
    }

    /// Whether a pause is kept at all.
    pub(crate) fn keeps_pauses(&self) -> bool {
        self.own.is_some() || self.named.is_some()
    }

    /// Keeps a pause; the file that it is in, if any.
    pub(crate) fn paused(self, run: &str, image: Image) -> Result<Option<PathBuf>, Refusal> {
        let (at, own) = match (self.named, self.own) {
            (Some(named), own) => (named, own),
            (None, Some(own)) => (own, None),
            (None, None) => return Ok(None),
        };
        let shown = at.shown().to_owned();
        // First the new file, then the word in the old one: a crash between them loses nothing.
        at.publish(&[Record::Image(image)])?;
        if let Some(own) = own {
            let to = std::path::absolute(&shown).unwrap_or_else(|_| shown.clone());
            let forwarded = Forwarded { run: run.to_owned(), to: to.display().to_string() };
            own.publish(&[Record::Forwarded(forwarded)])?;
        }
        Ok(Some(shown))
    }

    /// Writes the end into the claimed file, if there is one.
    pub(crate) fn ended(self, run: &str, status: &str) -> Result<(), Refusal> {
        if let Some(own) = self.own {
            own.publish(&[Record::Ended(Ended { run: run.to_owned(), status: status.to_owned() })])?;
        }
        Ok(())
    }
}
