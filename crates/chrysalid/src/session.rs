//! A session: one JavaScript heap and its bookkeeping, living over many programs.
//!
//! The step machine comes first: [`Session::step`] runs the guest until it needs something and says what; everything
//! async in this crate is a thin loop over it (`session/run.rs`). Policy is asked inside `step`, so no driver can go
//! around it.

mod admit;
mod approve;
mod budget;
mod calls;
mod chain;
mod decide;
mod driver;
mod finish;
mod grants;
mod handles;
mod held;
mod imports;
mod instance;
mod interrupt;
mod lookup;
mod memory;
mod messages;
mod meter;
mod modules;
mod open;
mod place;
mod random;
mod rule;
mod run;
mod run_budget;
mod shared;
mod start;
pub(crate) mod state;
mod trail;
mod wall;
mod whole_program;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use chrysalid_policy::Rules;
use sha2::{Digest, Sha256};

use crate::audit::AuditSink;
use crate::call::{CallId, CallRecord, CallResult, CallStatus, CancelSignal, PendingCall};
use crate::capability::Capabilities;
pub(crate) use crate::capability::Narrow;
use crate::clock::{Clock, Random, from_millis};
use crate::defence::{Defence, stands};
use crate::error::{Error, ErrorKind, Result};
use crate::event::EventSink;
use crate::limits::Limits;
use crate::module::Modules;
use crate::outcome::Failure;
use crate::program::Positions;
use crate::value::wire::{self, Bounds};
use budget::Budgets;
pub use budget::Ledger;
use chain::Chain;
pub use grants::GrantRecord;
use imports::Request;
pub(crate) use imports::{HostState, link};
use instance::Guest;
pub(crate) use instance::{Instance, Making, check_exports};
pub use interrupt::Interrupt;
pub(crate) use memory::dead_stack;
use meter::Meter;
pub use run_budget::RunBudget;
use run_budget::{Member, Slot};
pub use shared::SharedSession;
use state::{State, StoredCall};

/// Options of one session. Everything that is not set comes from the engine.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct SessionOptions {
    /// Limits in place of the engine's.
    pub limits: Option<Limits>,
    /// What the program's clock shows. Default the host's time.
    pub clock: Clock,
    /// Where random numbers come from. Default the host.
    pub random: Random,
    /// Bound to snapshots by its digest: tenant, run, policy, whatever must not be mixed up. Default empty.
    pub context: Vec<u8>,
    /// Timers later than this do not keep a driver waiting: the program pauses. Default 30 s.
    pub park_after: Option<Duration>,
    /// What programs may import. Default nothing. Not part of a snapshot: a session that is restored is given it again,
    /// for what is not in its heap yet.
    pub modules: Modules,
    /// Whether a person is asked about each program before any of it runs, with its source and its [`Plan`](crate::Plan).
    /// The call that waits is named `$program`. A program that was begun with it keeps asking, whatever a restore says.
    /// Default no.
    pub approve_program: bool,
    /// What the run is known to have met and used, joined with what a snapshot says. Default nothing.
    pub ledger: Option<Ledger>,
    /// The budget that this session shares with others. Default none.
    pub run: Option<RunBudget>,
    /// How many subagents deep this session is. Default 0.
    pub depth: u32,
    /// Gets a line for each decision before it is carried out; without one nothing is written. A call whose line cannot be
    /// kept is denied. Default none.
    pub audit: Option<Arc<dyn AuditSink>>,
    /// Most links behind a full image, from 0 to 64: snapshots that hold only what changed since the one before, for a session
    /// that is saved again and again. [`Session::snapshot`] gives a link while there are fewer and it is smaller than a full image,
    /// and [`Engine::restore_chain`](crate::Engine::restore_chain) takes the images since the full one. The session keeps a copy
    /// of its last image's pages in memory. Default 0: every snapshot is a full image.
    pub chain: u32,
    /// Told of calls, console lines and pauses as they happen.
    pub events: Option<Arc<dyn EventSink>>,
}

impl std::fmt::Debug for SessionOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionOptions")
            .field("limits", &self.limits)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

/// One JavaScript heap with its programs, calls and record.
///
/// ```
/// use std::time::SystemTime;
/// use chrysalid::{Capabilities, Engine, Step};
///
/// let engine = Engine::builder().pool_slots(0).build()?;
/// let mut session = engine.session(&Capabilities::none())?;
/// session.start("const squares = [1, 2, 3].map(n => n * n); squares.join()")?;
/// let ended = loop {
///     match session.step(SystemTime::now())? {
///         Step::Ended(ended) => break ended,
///         Step::Busy => {} // its slice is over: other sessions of this thread may have their turn
///         step => unreachable!("a pure program asks for nothing: {step:?}"),
///     }
/// };
/// assert_eq!(ended.result.unwrap().as_str(), Some("1,4,9"));
/// # Ok::<(), chrysalid::Error>(())
/// ```
pub struct Session {
    /// Engine, guest and what else a guest of this session is made with.
    making: Making,
    capabilities: Capabilities,
    /// The engine's rules for these capabilities.
    rules: Arc<Rules>,
    options: SessionOptions,
    limits: Limits,
    budgets: Budgets,
    guest: Guest,
    pooled: bool,
    meter: Arc<Meter>,
    state: State,
    /// What the guest must be told before it runs anything.
    setup: Setup,
    /// Where the heap goes back to after a trap.
    base: Base,
    /// Its last image, where snapshots may be links.
    chain: Chain,
    /// What the guest asked for and nobody has looked at.
    requests: VecDeque<Request>,
    /// Bytes that they take.
    requests_held: usize,
    /// Answers of the resolver that came while the guest was away.
    module_results: Vec<(u32, CallResult)>,
    /// Why the guest cannot go on, until what it asked for before is taken down.
    fault: Option<wasmtime::Error>,
    /// The calls that run here.
    running: HashMap<u32, Running>,
    /// Its part in the run.
    member: Option<Member>,
    /// What the entry that is away, or has just come back, was for.
    doing: Doing,
    /// Ran outside of pauses since this time, in milliseconds since 1970.
    awake_since: Option<f64>,
    done: SinceRun,
    last_place: Option<place::KnownPlace>,
    /// Handles that are gone from the guest and in the last program's value.
    shown_handles: Vec<u32>,
    /// Whether the audit trail knows of this process.
    trail: Trail,
    /// Whether the monotonic clock has its origin.
    clock_set: bool,
    /// Where the text that the guest has stands in the one that was given, for the program with this number.
    positions: Option<(u32, Positions)>,
}

/// What a call has while it runs here.
struct Running {
    cancel: CancelSignal,
    /// Its place among the calls of the run, which is free when this is dropped.
    _slot: Option<Slot>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Setup {
    configure: bool,
    /// Digest of the names that the guest's `tools` was made from.
    tools: [u8; 32],
}

/// Whether the audit trail says that a process has this session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trail {
    Unopened,
    Opened,
}

enum Base {
    /// The empty heap.
    Baseline,
    /// A copy from before the program began.
    Copy(Arc<memory::Copy>),
    /// Nothing: the program was restored half-way.
    Nothing,
}

#[derive(Debug)]
enum Doing {
    Nothing,
    Running,
    Loose,
    Collecting,
    Outcome(u32),
    Finishing(Box<std::result::Result<crate::value::Value, Failure>>),
    /// Asks which handles are gone.
    Freeing(Box<std::result::Result<crate::value::Value, Failure>>),
}

/// What needs not be done again before the guest has run.
#[derive(Clone, Copy, Default)]
struct SinceRun {
    /// It was asked which calls are loose.
    loose_known: bool,
    /// Garbage was looked for.
    collected: bool,
}

impl Session {
    /// Its id. A fork has another one.
    #[must_use]
    pub fn id(&self) -> [u8; 16] {
        self.state.session
    }

    /// Whether no program runs or waits, and another may start.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.state.program.is_none() && !self.is_lost()
    }

    /// Whether its heap is gone.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        matches!(self.guest, Guest::Gone)
    }

    /// Its limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// CPU time of the program that runs, or else of the latest one: of the guest, and of the host in its steps. What
    /// [`Limits::cpu_time`] bounds.
    #[must_use]
    pub fn cpu_time(&self) -> Duration {
        self.meter.used()
    }

    /// The capabilities that it has.
    #[must_use]
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Gives it another set. A call that was made before keeps what was checked then, but runs only if its capability is
    /// in the set; functions in older closures stay bound to their name.
    pub fn set_capabilities(&mut self, capabilities: &Capabilities) {
        self.capabilities = capabilities.clone();
        self.rules = Arc::new(self.making.engine.rules(capabilities));
    }

    /// Effects that it has met, and which call brought each.
    #[must_use]
    pub fn taint(&self) -> &chrysalid_policy::Taint {
        &self.state.taint
    }

    /// The guest build that its snapshots belong to, as WebAssembly: see [`crate::EngineBuilder::older_guest`].
    #[must_use]
    pub fn guest(&self) -> &[u8] {
        self.making.guest.wasm()
    }

    /// Fuel that its guest has used since it was made: see [`crate::counting`].
    #[cfg(feature = "counting")]
    #[doc(hidden)]
    pub fn fuel(&mut self) -> Option<u64> {
        self.guest.here()?.fuel()
    }

    /// Source of the program that runs or waits.
    #[must_use]
    pub fn program_source(&self) -> Option<&str> {
        self.state.program.as_ref().map(|program| &*program.source)
    }

    /// A handle that stops the program from any thread.
    #[must_use]
    pub fn interrupt_handle(&self) -> Interrupt {
        Interrupt(self.meter.clone())
    }

    /// Calls that wait for a person or something outside, in the order they were made.
    #[must_use]
    pub fn pending(&self) -> Vec<PendingCall> {
        self.state
            .calls
            .open()
            .filter(|(_, call)| call.is_pending())
            .filter_map(|(number, _)| self.pending_call(number))
            .collect()
    }

    /// What an approval of an open call is bound to.
    fn token(&self, number: u32) -> Option<[u8; 32]> {
        let call = self.state.calls.get(number)?;
        let argument = &call.open.as_ref()?.argument;
        Some(crate::decision::token(&self.state.session, call.id(number), &call.name, argument))
    }

    fn pending_call(&self, number: u32) -> Option<PendingCall> {
        let call = self.state.calls.get(number)?;
        let open = call.open.as_ref()?;
        let mut reasons = open.ask.reasons.clone();
        reasons.extend(self.changed_definition(&call.name, &open.definition));
        let source = self.state.program.as_ref().map_or("", |program| &*program.source);
        Some(PendingCall {
            id: call.id(number),
            name: call.name.as_str().to_owned(),
            path: self.capabilities.catalogue().expression(&call.name).unwrap_or_else(|| call.name.as_str().to_owned()),
            place: call.place.clone(),
            token: self.token(number)?,
            program: Sha256::digest(source).into(),
            met: self.state.taint.provenance().to_vec(),
            policy: self.policy_version(),
            roles: open.ask.roles.clone(),
            // What was approved in time stays so, and may wait for an answer as long as it takes.
            expires_at: open.ask.expires_millis.filter(|_| call.status == CallStatus::Waiting).map(from_millis),
            argument: wire::decode(&open.argument, &self.argument_bounds()).ok()?,
            digest: open.digest(),
            status: call.status,
            reasons,
            effects: open.effects,
            allowed: call.allowed(),
            requested_at: from_millis(open.requested_millis),
            decided: open.decision.is_some(),
        })
    }

    /// A reason for whoever decides when the capability is not what it was when the call was made.
    fn changed_definition(&self, name: &str, definition: &[u8; 16]) -> Option<chrysalid_policy::Reason> {
        // What the host itself asks has no definition.
        (self.capabilities.get(name)?.definition() != *definition).then_some(chrysalid_policy::Reason::Changed)
    }

    /// The record of the session's calls, in the order they were made. When a program begins, those that ended before the
    /// latest 4,096 are forgotten; [`Ended::calls`](crate::Ended::calls) always has all of its program.
    #[must_use]
    pub fn calls(&self) -> Vec<CallRecord> {
        self.state.calls.iter().map(|(number, call)| self.record(number, call)).collect()
    }

    fn record(&self, number: u32, call: &StoredCall) -> CallRecord {
        CallRecord {
            id: call.id(number),
            name: call.name.as_str().to_owned(),
            status: call.status,
            duration: call.took_millis.map(|millis| Duration::from_millis(u64::from(millis))),
            edited: call.edited().and_then(|bytes| wire::decode(bytes, &self.argument_bounds()).ok()),
            called_as: call.changed.as_ref().and_then(|changed| changed.called_as.clone()),
            place: call.place.clone(),
            digest: call.open.as_ref().map(|open| open.digest()),
            decided: call.decided.clone(),
            grant: call.grant,
        }
    }

    fn bounds(&self, bytes: usize) -> Bounds {
        let depth = if stands(Defence::ValueDepth) { self.limits.value_depth } else { u32::MAX };
        let nodes = if stands(Defence::ValueNodes) { self.limits.value_nodes } else { u32::MAX };
        Bounds { bytes, depth, nodes }
    }

    fn argument_bounds(&self) -> Bounds {
        self.bounds(if stands(Defence::ArgumentSize) { self.limits.argument_size } else { usize::MAX })
    }

    /// The number of a call of this session, if the id is one that was handed out.
    fn number(&self, id: CallId) -> Result<u32> {
        match self.state.calls.get(id.number) {
            Some(call) if call.program == id.program || !stands(Defence::KnownCalls) => Ok(id.number),
            _ => Err(Error::new(ErrorKind::UnknownCall, format!("no call {id} in this session"))),
        }
    }

    fn names_of(&self, mut wanted: impl FnMut(CallStatus) -> bool) -> String {
        let names: Vec<String> = self
            .state
            .calls
            .open()
            .filter(|(_, call)| wanted(call.status))
            .map(|(number, call)| format!("{} {}", call.id(number), call.name))
            .collect();
        names.join(", ")
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("programs", &self.state.programs)
            .field("idle", &self.is_idle())
            .field("lost", &self.is_lost())
            .finish_non_exhaustive()
    }
}
