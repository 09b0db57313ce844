//! The engine as this process has it: limits and key of the command line, no pool.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chrysalid::{Engine, EventSink, Key, KeyPlaces, Limits, Modules, SessionOptions};

use crate::arguments::HostArguments;
use crate::exit::Refusal;
use crate::guests;
use crate::modules;

/// The most memory of a session unless `--memory` asks for more, as in the library.
const MAX_MEMORY: usize = 256 << 20;
/// A timer later than this pauses the program instead of keeping the process.
pub(crate) const PARK_AFTER: Duration = Duration::from_secs(30);

/// What the key is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyUse {
    /// Nothing will be sealed or opened.
    None,
    /// Opens what is there; makes no key.
    Open,
    /// Seals, with a new key if there is none yet.
    Seal,
}

impl HostArguments {
    /// The limits that the options and the defaults give.
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        limits.memory = self.memory.unwrap_or(limits.memory);
        limits.cpu_time = self.cpu_time.unwrap_or(limits.cpu_time);
        limits.wall_time = self.wall_time.or(limits.wall_time);
        limits
    }

    /// The modules that programs may import.
    pub(crate) fn load_modules(&self) -> Result<Modules, Refusal> {
        modules::load(self.modules.as_deref(), self.limits().source_size)
    }

    pub(crate) fn engine(&self, key_use: KeyUse) -> Result<Engine, Refusal> {
        engine(self.limits(), find_key(self.key_file.as_deref(), key_use)?, None)
    }

    /// The engine that can restore this snapshot, also one of an earlier release.
    pub(crate) fn engine_for(&self, snapshot: &[u8]) -> Result<Engine, Refusal> {
        let key = find_key(self.key_file.as_deref(), KeyUse::Open)?;
        guests::engine_for(snapshot, |older| engine(self.limits(), key.clone(), older))
    }
}

pub(crate) fn engine(limits: Limits, key: Option<Key>, older_guest: Option<Vec<u8>>) -> Result<Engine, Refusal> {
    let max_memory = limits.memory.max(MAX_MEMORY);
    let builder = Engine::builder().pool_slots(0).max_memory(max_memory).limits(limits);
    let builder = match key {
        Some(key) => builder.key(key),
        None => builder,
    };
    let builder = match older_guest {
        Some(guest) => builder.older_guest(guest),
        None => builder,
    };
    Ok(builder.build()?)
}

/// The key of the option's file, else of the places where the library looks.
pub(crate) fn find_key(file: Option<&Path>, key_use: KeyUse) -> Result<Option<Key>, Refusal> {
    let places = match file {
        None => KeyPlaces::from_process(),
        Some(file) => KeyPlaces::from_variables(|name| (name == "CHRYSALID_KEY_FILE").then(|| file.into())),
    };
    match key_use {
        KeyUse::None => Ok(None),
        KeyUse::Open => Ok(places.find()?),
        KeyUse::Seal => places.find_or_make()?.map(Some).ok_or_else(|| {
            Refusal::usage(
                "no key to save with, and no home folder to make one in: set CHRYSALID_KEY or give --key-file",
            )
        }),
    }
}

pub(crate) fn session_options(events: Arc<dyn EventSink>, modules: Modules) -> SessionOptions {
    let mut options = SessionOptions::default();
    options.modules = modules;
    options.park_after = Some(PARK_AFTER);
    options.events = Some(events);
    options
}
