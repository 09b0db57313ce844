//! The engine as this process has it: limits and key of the command line, no pool.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use chrysalid::{
    Capabilities, Engine, EventSink, Key, KeyPlaces, Limits, Modules, Reviewer, Rules, Session, SessionOptions,
    WhenSpent,
};

use crate::arguments::{GivenArguments, HostArguments, WhoArguments};
use crate::audit::Trail;
use crate::exit::Refusal;
use crate::guests;
use crate::modules;
use crate::policy;

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
        limits.session.calls = self.session_calls.or(limits.session.calls);
        if self.ask_when_spent {
            limits.when_spent = WhenSpent::Ask;
        }
        limits
    }

    /// The modules that programs may import.
    pub(crate) fn load_modules(&self) -> Result<Modules, Refusal> {
        modules::load(self.modules.as_deref(), self.limits().source_size)
    }

    pub(crate) fn engine(&self, key_use: KeyUse) -> Result<Engine, Refusal> {
        engine(self.limits(), self.rules()?, find_key(self.key_file.as_deref(), key_use)?, None)
    }

    /// The rules of the policy, if there is one.
    pub(crate) fn rules(&self) -> Result<Rules, Refusal> {
        self.policy.as_deref().map_or_else(|| Ok(Rules::default()), policy::read)
    }

    /// That the rule of two is off because no tool says what it does, unless the policy says something of it.
    pub(crate) fn rule_of_two_note(&self, capabilities: &Capabilities) -> Result<Option<String>, Refusal> {
        let unlabelled = !capabilities.is_empty() && !capabilities.declare_effects();
        let is_open = unlabelled && self.rules()?.rule_of_two().is_none();
        Ok(is_open.then(|| "no tool declares effects, so the rule of two is off".to_owned()))
    }

    /// The engine that can restore this snapshot, also one of an earlier release.
    pub(crate) fn engine_for(&self, snapshot: &[u8]) -> Result<Engine, Refusal> {
        let key = find_key(self.key_file.as_deref(), KeyUse::Open)?;
        let rules = self.rules()?;
        guests::engine_for(snapshot, |older| engine(self.limits(), rules.clone(), key.clone(), older))
    }
}

pub(crate) fn engine(
    limits: Limits,
    rules: Rules,
    key: Option<Key>,
    older_guest: Option<Vec<u8>>,
) -> Result<Engine, Refusal> {
    let max_memory = limits.memory.max(MAX_MEMORY);
    let builder = Engine::builder().pool_slots(0).max_memory(max_memory).limits(limits).rules(rules);
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

impl WhoArguments {
    /// Whoever runs the command vouches for name and roles.
    pub(crate) fn reviewer(&self) -> Reviewer {
        let reviewer = self.name.as_ref().map_or_else(Reviewer::new, Reviewer::named);
        self.roles.iter().fold(reviewer, Reviewer::role)
    }
}

impl GivenArguments {
    /// Opens the audit trail, if there is to be one.
    pub(crate) fn open_audit(&self, options: &mut SessionOptions) -> Result<(), Refusal> {
        if let Some(path) = &self.audit {
            options.audit = Some(Arc::new(Trail::open(path)?));
        }
        Ok(())
    }

    /// Gives the session what was allowed beforehand.
    pub(crate) fn give_grants(&self, session: &mut Session) -> Result<(), Refusal> {
        for grant in &self.grants {
            session.grant(grant.clone(), &self.who.reviewer(), SystemTime::now())?;
        }
        Ok(())
    }
}
