//! How a session begins: fresh, or from a snapshot. And how it becomes one.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use chrysalid_policy::{Effects, Request};
use sha2::{Digest, Sha256};

use super::chain::{Chain, Last, own_pages};
use super::imports::MEMORY_SLACK;
use super::instance::{Guest, Instance, Making};
use super::memory::{Copy, changed};
use super::state::{PROGRAM_CALL, REVEAL_CALL, State};
use super::{Base, Budgets, Doing, RunBudget, Session, SessionOptions, Setup, SinceRun, Trail};
use crate::call::CallStatus;
use crate::capability::Capabilities;
use crate::clock::Random;
use crate::defence::{Defence, stands};
use crate::engine::{Checkpoint, Engine, abi};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
#[cfg(feature = "fuzzing")]
use crate::snapshot::format::PAGE;
use crate::snapshot::{self, MAX_LINKS, Restore, image_id};
use crate::value::wire;

/// What a session is put together from.
struct Parts {
    capabilities: Capabilities,
    options: SessionOptions,
    limits: Limits,
    making: Making,
    instance: (Box<Instance>, bool),
    state: State,
    setup: Setup,
    base: Base,
    chain: Chain,
}

impl Session {
    pub(crate) fn fresh(engine: &Engine, capabilities: Capabilities, options: SessionOptions) -> Result<Self> {
        let limits = limits_of(engine, &options)?;
        let making = Making::new(engine, engine.own_guest(), &limits, &options);
        let instance = Instance::new(&making)?;
        let state = State::new(new_id()?, context_digest(&options));
        let setup = Setup { configure: true, tools: Capabilities::none().names_digest() };
        let chain = Chain::new(options.chain);
        Ok(Self::assemble(Parts {
            capabilities,
            options,
            limits,
            making,
            instance,
            state,
            setup,
            base: Base::Baseline,
            chain,
        }))
    }

    pub(crate) fn restored(
        engine: &Engine,
        images: &[&[u8]],
        capabilities: Capabilities,
        restore: Restore,
        options: SessionOptions,
    ) -> Result<Self> {
        let limits = limits_of(engine, &options)?;
        let image = snapshot::open(engine, images, (limits.memory + MEMORY_SLACK) as u64)?;
        let mut state = image.state;
        if state.context != context_digest(&options) && stands(Defence::ContextBound) {
            return Err(Error::new(ErrorKind::OtherContext, "the snapshot is bound to another context"));
        }
        if restore == Restore::Fork {
            state.lineage.push(state.session);
            state.session = new_id()?;
            // What a person gave, they gave to one run.
            state.grants.clear();
            state.chain = crate::audit::Chain::default();
        }
        state.join_ledger(&options);
        let mut making = Making::new(engine, &image.guest, &limits, &options);
        making.random.1 = state.random_position;
        if !stands(Defence::FreshRandom) {
            making.random.0 = Random::Seed(0);
        }
        making.meter.set_last(state.last_millis);
        let baseline = &image.guest.image(engine.options())?.memory;
        let (mut instance, pooled) = Instance::new(&making)?;
        let (links, full) = (image.memory.links(), image.memory.full_pages());
        image.memory.write_into(baseline, &mut instance)?;
        let copy = || {
            let pages = changed(instance.memory(), baseline, making.stack_pointer()?).pages;
            Ok::<_, Error>(own_pages(instance.memory(), baseline, pages))
        };
        let mut chain = Chain::new(options.chain);
        // A fork does not need the images of another session.
        if let (true, Restore::Resume, Some(last)) = (chain.is_wanted(), restore, images.last()) {
            chain.go_on_behind(Last { id: image_id(last)?, links, full, pages: copy()? });
        }
        let base = match (state.program.is_some(), engine.options().checkpoint) {
            (true, _) => Base::Nothing,
            // Nothing runs before the next program, whose start makes the copy.
            (false, Checkpoint::EveryProgram) => Base::Baseline,
            (false, Checkpoint::Never) => Base::Copy(chain.last_pages().map_or_else(copy, Ok)?),
        };
        let (instance, setup) = ((instance, pooled), Setup { configure: true, tools: UNKNOWN_TOOLS });
        let parts = Parts { capabilities, options, limits, making, instance, state, setup, base, chain };
        let mut session = Self::assemble(parts);
        session.resume_calls()?;
        Ok(session)
    }

    fn assemble(parts: Parts) -> Self {
        let (instance, pooled) = parts.instance;
        let mut session = Self {
            rules: Arc::new(parts.making.engine.rules(&parts.capabilities)),
            capabilities: parts.capabilities,
            member: parts.options.run.as_ref().map(RunBudget::member),
            options: parts.options,
            budgets: Budgets::of(&parts.limits, &parts.state.extra),
            limits: parts.limits,
            guest: Guest::Here(instance),
            pooled,
            meter: parts.making.meter.clone(),
            making: parts.making,
            state: parts.state,
            setup: parts.setup,
            base: parts.base,
            chain: parts.chain,
            requests: VecDeque::new(),
            requests_held: 0,
            module_results: Vec::new(),
            fault: None,
            running: HashMap::new(),
            doing: Doing::Nothing,
            awake_since: None,
            done: SinceRun { collected: true, ..SinceRun::default() },
            last_place: None,
            shown_handles: Vec::new(),
            trail: Trail::Unopened,
            clock_set: false,
            positions: None,
        };
        session.prepare_instance();
        if let Some(program) = &session.state.program {
            session.meter.begin_program(session.limits.cpu_time, Duration::from_nanos(program.cpu_nanos));
        }
        session
    }

    /// Tells a new instance's imports what they may hold, and where numbering goes on.
    pub(super) fn prepare_instance(&mut self) {
        let (last_call, console) = (self.state.last_call, self.limits.console_size);
        if let Some(instance) = self.guest.here() {
            let state = instance.state();
            state.last_number = last_call;
            state.may_log = console;
        }
    }

    /// Checks that calls which still may run can, and marks those that were running as unknown.
    fn resume_calls(&mut self) -> Result<()> {
        let numbers: Vec<u32> = self.state.calls.open().map(|(number, _)| number).collect();
        for number in numbers {
            let of_the_host = [abi::MODULE_CALL, PROGRAM_CALL, REVEAL_CALL];
            if self.state.calls.get(number).is_some_and(|call| of_the_host.contains(&call.name.as_str())) {
                continue;
            }
            self.check_stored_call(number)?;
            let name = self.state.calls.get(number).map(|call| call.name.as_str()).unwrap_or_default();
            let effects = self.capabilities.get(name).map(|capability| self.effects_of(capability));
            let effects = effects.map(|effects| self.refined_now(number, effects)).unwrap_or_default();
            let Some(call) = self.state.calls.get_mut(number) else {
                continue;
            };
            if call.status == CallStatus::Started {
                call.status = CallStatus::Unknown;
            }
            let Some(open) = &mut call.open else { continue };
            open.effects |= effects;
            // What was let through under other labels brings what it brings now.
            let joins = if call.status == CallStatus::Waiting { Effects::NONE } else { open.joins() };
            let name = call.name.as_str().to_owned();
            self.join_taint(joins, &self.told(number, &name));
        }
        self.requeue_fetches();
        Ok(())
    }

    /// The effects that the rules give a call that was made before.
    fn refined_now(&self, number: u32, effects: Effects) -> Effects {
        let Some(call) = self.state.calls.get(number) else { return effects };
        let Some(open) = &call.open else { return effects };
        let given = open.given.as_ref().unwrap_or(&open.argument);
        let Ok(argument) = wire::decode(given, &self.argument_bounds()) else { return effects };
        let request = Request { name: &call.name, argument: &argument, effects, carried: open.carried, ask: false };
        self.rules.effects(&request) | open.carried
    }

    fn check_stored_call(&self, number: u32) -> Result<()> {
        let Some((call, open)) = self.state.calls.get(number).and_then(|call| Some((call, call.open.as_ref()?))) else {
            return Ok(());
        };
        let id = call.id(number);
        let capability = self.capabilities.get(&call.name).ok_or_else(|| {
            Error::new(
                ErrorKind::MissingCapability,
                format!("call {id} waits for the capability {:?}, which is not here", call.name),
            )
        })?;
        let Some(schema) = capability.schema().filter(|_| stands(Defence::StoredCallsChecked)) else {
            return Ok(());
        };
        let argument = wire::decode(&open.argument, &self.argument_bounds())
            .map_err(|error| Error::new(ErrorKind::Corrupt, format!("arguments of call {id}: {error}")))?;
        schema.check(&argument, self.limits.argument_size).map_err(|complaint| {
            Error::new(
                ErrorKind::StaleArguments,
                format!("arguments of call {id} do not fit the schema of {:?} any more: {complaint}", call.name),
            )
        })
    }

    /// The session as sealed bytes. Runs no guest code.
    ///
    /// With [`SessionOptions::chain`] they may be a link, which is restored only with the images before it: keep each that this
    /// gives, or call [`Session::end_chain`]. [`crate::Inspection::follows`] tells a link from a full image.
    ///
    /// # Errors
    /// [`ErrorKind::NoKey`] when the engine has no key, [`ErrorKind::Busy`] in the middle of a job: step until the step
    /// is not [`crate::Step::Busy`], or try again; [`ErrorKind::SessionLost`]; [`ErrorKind::TooLarge`] over
    /// [`crate::Limits::snapshot_size`], or with more than 1,048,576 calls that have ended.
    pub fn snapshot(&mut self) -> Result<Vec<u8>> {
        let stack_pointer = self.making.stack_pointer()?;
        let baseline = self.making.baseline()?;
        self.note_for_snapshot();
        if !self.requests.is_empty() {
            return Err(Error::new(ErrorKind::Busy, "calls of the program have not been read yet"));
        }
        let instance = at_rest(&mut self.guest, stack_pointer)?;
        self.state.random_position = instance.state().random.position();
        let pages = changed(instance.memory(), &baseline, stack_pointer).pages;
        let packed = self.chain.pack(instance.memory(), &baseline, &pages)?;
        let packing = (packed.follows, packed.pages.len());
        let bytes = snapshot::seal(&self.making, &self.state, instance.memory().len(), packed)?;
        if let Some(bound) = self.limits.snapshot_size.filter(|bound| bytes.len() > *bound) {
            let message = format!("snapshot of {} bytes is more than {bound}", bytes.len());
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        if self.chain.is_wanted() {
            self.chain.took(&bytes, packing, own_pages(instance.memory(), &baseline, pages))?;
        }
        Ok(bytes)
    }

    /// Makes the next snapshot a full image, whatever [`SessionOptions::chain`] says: where the last one could not be kept, and
    /// no other may follow it, or where one is wanted that needs no others.
    pub fn end_chain(&mut self) {
        self.chain.end();
    }

    /// The guest's memory with the dead part of its stack as the baseline has it.
    #[cfg(feature = "fuzzing")]
    pub(crate) fn memory_at_rest(&mut self) -> Result<Vec<u8>> {
        let stack_pointer = self.making.stack_pointer()?;
        let baseline = self.making.baseline()?;
        let mut memory = at_rest(&mut self.guest, stack_pointer)?.memory().to_vec();
        let dead = super::dead_stack(stack_pointer);
        let dead = dead.start * PAGE..dead.end * PAGE;
        if let (Some(memory), Some(baseline)) = (memory.get_mut(dead.clone()), baseline.get(dead)) {
            memory.copy_from_slice(baseline);
        }
        Ok(memory)
    }

    /// Brings the state up to what a snapshot must say.
    fn note_for_snapshot(&mut self) {
        self.state.last_millis = self.meter.last_host_millis();
        self.state.elapsed_millis =
            if self.clock_set { self.meter.elapsed_millis() } else { self.state.elapsed_millis };
        if let Some(program) = &mut self.state.program {
            program.cpu_nanos = u64::try_from(self.meter.used().as_nanos()).unwrap_or(u64::MAX);
        }
        if let Some(run) = &self.options.run {
            self.state.run_spent = run.spent();
        }
        self.state.policy = self.policy_version();
        let declared = self.capabilities.iter();
        self.state.capabilities =
            declared.map(|capability| (capability.name().to_owned(), capability.declared_effects())).collect();
    }

    /// Copies the heap before a program begins, and moves a session whose stacks grew deep into a fresh store.
    pub(super) fn checkpoint(&mut self) -> Result<()> {
        if self.making.engine.options().checkpoint == Checkpoint::Never
            || self.state.programs == 0 && self.is_at_baseline()
        {
            return Ok(());
        }
        let stack_pointer = self.making.stack_pointer()?;
        let baseline = self.making.baseline()?;
        let Some(instance) = self.guest.here() else {
            return Ok(());
        };
        let changed = changed(instance.memory(), &baseline, stack_pointer);
        // The old copy goes first.
        self.base = Base::Nothing;
        let same = self.chain.same_pages(instance.memory(), &baseline, &changed.pages);
        let copy = same.unwrap_or_else(|| Arc::new(Copy::of(instance.memory(), changed.pages)));
        if changed.was_deep {
            let drawn = instance.state().random.position();
            // The old one goes first, so that its slot can be had.
            self.guest = Guest::Gone;
            let (mut fresh, pooled) = self.remake(drawn)?;
            copy.write_into(&mut fresh)?;
            self.guest = Guest::Here(fresh);
            self.pooled = pooled;
            self.prepare_instance();
        }
        self.base = Base::Copy(copy);
        Ok(())
    }

    /// A new guest in place of the old one, whose random numbers go on.
    fn remake(&mut self, drawn: u64) -> Result<(Box<Instance>, bool)> {
        self.making.random.1 = drawn;
        Instance::new(&self.making)
    }

    fn is_at_baseline(&self) -> bool {
        matches!(self.base, Base::Baseline)
    }

    /// After a trap: back to the last checkpoint, in a fresh store.
    pub(super) fn recover(&mut self) -> Result<()> {
        let drawn = self.guest.here().map_or(0, |instance| instance.state().random.position());
        if !stands(Defence::TrapReset) {
            return Ok(());
        }
        self.guest = Guest::Gone;
        if matches!(self.base, Base::Nothing) {
            return Ok(());
        }
        let (mut instance, pooled) = self.remake(drawn)?;
        if let Base::Copy(copy) = &self.base {
            copy.write_into(&mut instance)?;
        }
        self.guest = Guest::Here(instance);
        self.pooled = pooled;
        self.setup = Setup { configure: true, tools: UNKNOWN_TOOLS };
        self.prepare_instance();
        Ok(())
    }
}

impl State {
    /// Takes in what is known beside the snapshot: an older image lowers nothing that was met or spent since.
    fn join_ledger(&mut self, options: &SessionOptions) {
        if let Some(ledger) = &options.ledger {
            self.taint.join_all(&ledger.taint);
            self.spent.join(&ledger.spent);
            self.declassified_bits = self.declassified_bits.max(ledger.declassified_bits);
            self.last_grant = self.last_grant.max(ledger.last_grant);
            for stored in self.grants.iter_mut().filter(|stored| stored.number <= ledger.last_grant) {
                stored.left = stored.left.min(ledger.grants.get(&stored.number).copied().unwrap_or(0));
            }
        }
        if let Some(run) = &options.run {
            run.join(&self.run_spent);
        }
    }
}

/// Digest of no set of names: the guest is told in any case.
const UNKNOWN_TOOLS: [u8; 32] = [0xff; 32];

/// The guest, if no frame of it is live.
fn at_rest(guest: &mut Guest, stack_pointer: i32) -> Result<&mut Instance> {
    let instance = match guest {
        Guest::Here(instance) => instance,
        Guest::Away(_) => return Err(Error::new(ErrorKind::Busy, "the guest is in the middle of a job")),
        Guest::Gone => return Err(lost()),
    };
    if !instance.is_at_rest(stack_pointer) {
        return Err(Error::internal("the guest's stack pointer is not at rest"));
    }
    Ok(instance)
}

pub(super) fn lost() -> Error {
    Error::new(ErrorKind::SessionLost, "the session's heap is gone; its record of calls can still be read")
}

fn limits_of(engine: &Engine, options: &SessionOptions) -> Result<Limits> {
    let limits = options.limits.clone().unwrap_or_else(|| engine.limits().clone());
    limits.check(engine.options().max_memory)?;
    if options.chain > MAX_LINKS {
        let message = format!("chain of {} links is more than {MAX_LINKS}", options.chain);
        return Err(Error::new(ErrorKind::Config, message));
    }
    Ok(limits)
}

fn context_digest(options: &SessionOptions) -> [u8; 32] {
    Sha256::digest(&options.context).into()
}

fn new_id() -> Result<[u8; 16]> {
    let mut id = [0; 16];
    getrandom::fill(&mut id)
        .map_err(|error| Error::new(ErrorKind::Io, format!("no random numbers from the system: {error}")))?;
    Ok(id)
}
