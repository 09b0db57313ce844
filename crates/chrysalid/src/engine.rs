//! The engine: what all sessions of a process share. Compiled guest, baseline image, limits, rules, keys.

pub(crate) mod abi;
pub(crate) mod guest;
pub(crate) mod image;
mod modules;
pub(crate) mod ticker;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrysalid_policy::{RuleOfTwo, Rules};
use wasmtime::{Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::capability::Capabilities;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Key, KeyRing};
use crate::limits::{Limits, MAX_MEMORY};
use crate::session::{Session, SessionOptions};
use crate::snapshot::{self, Inspection, Restore};
use guest::GuestBuild;
use modules::ModuleCache;

/// Stack of the guest's own frames, in linear memory.
pub(crate) const GUEST_STACK: u32 = 384 * 1024;
/// Stack of the compiled code: JSON and the parser use about twenty times more of it than of the guest's.
const NATIVE_STACK: usize = 10 << 20;
/// Room on a fiber for the host functions that the guest calls.
const HOST_STACK: usize = 1 << 20;

/// Bytes of a slot's memory that stay with it between sessions. A small session writes some 110 KiB; a page that a larger one wrote
/// before counts as well, and those with low addresses first, where a deep stack was.
const KEPT_RESIDENT: usize = 384 << 10;

/// What sessions share. Cheap to clone, usable from any thread.
///
/// ```no_run
/// let engine = chrysalid::Engine::new()?;
/// let session = engine.session(&chrysalid::Capabilities::none())?;
/// # Ok::<(), chrysalid::Error>(())
/// ```
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    options: EngineBuilder,
    rules: Rules,
    /// The engine's own guest first, then older ones.
    guests: Vec<Arc<GuestBuild>>,
    own: Arc<GuestBuild>,
    modules: ModuleCache,
}

fn config(options: &EngineBuilder, pooled: bool) -> Config {
    let mut config = Config::new();
    config.epoch_interruption(true);
    config.memory_init_cow(true);
    config.max_wasm_stack(NATIVE_STACK);
    config.async_stack_size(NATIVE_STACK + HOST_STACK);
    config.wasm_backtrace_max_frames(None);
    // Snapshots are portable: no result may depend on the machine.
    config.wasm_relaxed_simd(false);
    // A guest has one memory of 32 bits: that is what limits count and snapshots hold.
    config.wasm_multi_memory(false);
    config.wasm_memory64(false);
    config.cranelift_nan_canonicalization(true);
    #[cfg(feature = "counting")]
    config.consume_fuel(options.counting);
    if pooled {
        let mut pool = PoolingAllocationConfig::new();
        pool.total_memories(options.pool_slots);
        pool.total_core_instances(options.pool_slots);
        pool.total_tables(options.pool_slots);
        pool.total_stacks(options.pool_slots);
        pool.max_memory_size(options.max_memory);
        // What a small session writes is put back by copying, which takes less than giving the pages back.
        pool.linear_memory_keep_resident(KEPT_RESIDENT);
        pool.table_keep_resident(KEPT_RESIDENT);
        pool.pagemap_scan(Enabled::Auto);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    }
    config
}

impl Engine {
    /// An engine with default options.
    ///
    /// # Errors
    /// As [`EngineBuilder::build`].
    pub fn new() -> Result<Self> {
        Self::builder().build()
    }

    /// Options for an engine.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// A fresh session with these capabilities.
    ///
    /// # Errors
    /// [`ErrorKind::Guest`] when no memory for it can be had.
    pub fn session(&self, capabilities: &Capabilities) -> Result<Session> {
        self.session_with(capabilities, SessionOptions::default())
    }

    /// A fresh session with these capabilities and options.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] when a limit is out of bounds, [`ErrorKind::Guest`] when no memory for it can be had.
    pub fn session_with(&self, capabilities: &Capabilities, options: SessionOptions) -> Result<Session> {
        Session::fresh(self, capabilities.clone(), options)
    }

    /// A session from a snapshot, with these capabilities.
    ///
    /// # Errors
    /// One kind for each thing that may be wrong with a snapshot; see `docs/snapshot-format.md`. A link by itself is
    /// [`ErrorKind::BrokenChain`].
    pub fn restore(&self, snapshot: &[u8], capabilities: &Capabilities, restore: Restore) -> Result<Session> {
        self.restore_with(snapshot, capabilities, restore, SessionOptions::default())
    }

    /// A session from a snapshot, with these capabilities and options.
    ///
    /// # Errors
    /// As [`Engine::restore`], and [`ErrorKind::OtherContext`] when the options name another context.
    pub fn restore_with(
        &self,
        snapshot: &[u8],
        capabilities: &Capabilities,
        restore: Restore,
        options: SessionOptions,
    ) -> Result<Session> {
        Session::restored(self, &[snapshot], capabilities.clone(), restore, options)
    }

    /// A session from a chain of snapshots, with these capabilities: a full image and the links behind it, oldest first, up to
    /// the one to go on from. Each but the last is read for its pages alone, and they are opened one at a time.
    ///
    /// ```
    /// # use std::time::SystemTime;
    /// use chrysalid::{Capabilities, Engine, Key, Restore, SessionOptions, Step};
    ///
    /// let engine = Engine::builder().pool_slots(0).key(Key::generate()?).build()?;
    /// let mut options = SessionOptions::default();
    /// options.chain = 16;
    /// let mut session = engine.session_with(&Capabilities::none(), options)?;
    /// let mut images: Vec<Vec<u8>> = Vec::new();
    /// for turn in ["let n = 1; n", "n += 1; n"] {
    ///     session.start(turn)?;
    ///     while !matches!(session.step(SystemTime::now())?, Step::Ended(_)) {}
    ///     let image = session.snapshot()?;
    ///     if engine.inspect(&image)?.follows.is_none() {
    ///         images.clear(); // a full image needs none of those before it
    ///     }
    ///     images.push(image);
    /// }
    /// let images: Vec<&[u8]> = images.iter().map(Vec::as_slice).collect();
    /// let session = engine.restore_chain(&images, &Capabilities::none(), Restore::Resume)?;
    /// assert!(session.is_idle());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Engine::restore`], and [`ErrorKind::BrokenChain`] when the images are not one chain, in its order and without a gap:
    /// the message names the image that is wanted, by its [`image_id`](crate::image_id). Of several images, messages say which.
    pub fn restore_chain(&self, images: &[&[u8]], capabilities: &Capabilities, restore: Restore) -> Result<Session> {
        self.restore_chain_with(images, capabilities, restore, SessionOptions::default())
    }

    /// A session from a chain of snapshots, with these capabilities and options.
    ///
    /// # Errors
    /// As [`Engine::restore_chain`], and [`ErrorKind::OtherContext`] when the options name another context.
    pub fn restore_chain_with(
        &self,
        images: &[&[u8]],
        capabilities: &Capabilities,
        restore: Restore,
        options: SessionOptions,
    ) -> Result<Session> {
        Session::restored(self, images, capabilities.clone(), restore, options)
    }

    /// What a snapshot holds: with its key all but values, without it the clear fields.
    ///
    /// # Errors
    /// [`ErrorKind::NotASnapshot`], [`ErrorKind::OtherVersion`], [`ErrorKind::Corrupt`] or [`ErrorKind::BadSeal`].
    pub fn inspect(&self, snapshot: &[u8]) -> Result<Inspection> {
        snapshot::inspect(self, snapshot)
    }

    /// The default limits of its sessions.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.0.options.limits
    }

    /// The guest that new sessions start from, as WebAssembly: what an upgraded engine needs, as
    /// [`EngineBuilder::older_guest`], to go on with snapshots of this one.
    #[must_use]
    pub fn guest(&self) -> &[u8] {
        self.0.own.wasm()
    }

    pub(crate) fn own_guest(&self) -> &Arc<GuestBuild> {
        &self.0.own
    }

    /// The guest with this hash, if this engine has it.
    pub(crate) fn guest_with(&self, hash: &[u8; 32]) -> Option<&Arc<GuestBuild>> {
        self.0.guests.iter().find(|guest| guest.identity().guest == *hash)
    }

    pub(crate) fn modules(&self) -> &ModuleCache {
        &self.0.modules
    }

    pub(crate) fn options(&self) -> &EngineBuilder {
        &self.0.options
    }

    /// The rules for a set of capabilities. Where they do not say, the rule of two holds once effects are declared.
    pub(crate) fn rules(&self, capabilities: &Capabilities) -> Rules {
        self.0.rules.resolve(capabilities.declare_effects())
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("options", &self.0.options).finish_non_exhaustive()
    }
}

/// When a session keeps a copy of its heap to go back to after a trap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Checkpoint {
    /// Before every program. Costs a copy of the session's private pages.
    #[default]
    EveryProgram,
    /// Never: after a trap the session starts from the empty heap.
    Never,
}

/// Options of an [`Engine`].
#[derive(Clone, Debug)]
#[must_use]
pub struct EngineBuilder {
    pub(crate) limits: Limits,
    pub(crate) max_memory: usize,
    pub(crate) pool_slots: u32,
    pub(crate) slice: Duration,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) keys: KeyRing,
    cache: Option<PathBuf>,
    precompiled: Option<PathBuf>,
    rules: Rules,
    own_guest: Option<Vec<u8>>,
    older_guests: Vec<Vec<u8>>,
    #[cfg(feature = "counting")]
    pub(crate) counting: bool,
}

impl Default for EngineBuilder {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            max_memory: 256 << 20,
            pool_slots: 256,
            slice: Duration::from_millis(10),
            checkpoint: Checkpoint::default(),
            keys: KeyRing::default(),
            cache: image::default_cache(),
            precompiled: None,
            rules: Rules::default(),
            own_guest: None,
            older_guests: Vec::new(),
            #[cfg(feature = "counting")]
            counting: false,
        }
    }
}

impl EngineBuilder {
    /// Default limits of its sessions. Default [`Limits::default`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The most memory that any session may have, in bytes. Default 256 MiB.
    pub fn max_memory(mut self, bytes: usize) -> Self {
        self.max_memory = bytes;
        self
    }

    /// Sessions whose memory is reserved beforehand; each reserves 4.2 GB of address space. More are made on demand,
    /// more slowly. Default 256; 0 means all on demand.
    pub fn pool_slots(mut self, slots: u32) -> Self {
        self.pool_slots = slots;
        self
    }

    /// How long a step may keep its thread. Default 10 ms, rounded to ticks of 5 ms; each step makes some headway, with
    /// the shortest slice too.
    pub fn slice(mut self, slice: Duration) -> Self {
        self.slice = slice;
        self
    }

    /// When sessions keep a copy of their heap. Default [`Checkpoint::EveryProgram`].
    pub fn checkpoint(mut self, checkpoint: Checkpoint) -> Self {
        self.checkpoint = checkpoint;
        self
    }

    /// The key that seals snapshots. Default none: no snapshots.
    pub fn key(mut self, key: Key) -> Self {
        self.keys.current = Some(key);
        self
    }

    /// A key that opens older snapshots.
    pub fn old_key(mut self, key: Key) -> Self {
        self.keys.old.push(key);
        self
    }

    /// The rules for calls, as [`Rules::parse`] reads them. Default none but the rule of two.
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// The rule of two, by name. Default: on as soon as one capability of a session declares effects.
    pub fn rule_of_two(mut self, rule: RuleOfTwo) -> Self {
        self.rules = self.rules.and_rule_of_two(rule);
        self
    }

    /// The guest in place of the one that this build carries: a build of the same ABI, such as one under test.
    pub fn guest(mut self, wasm: impl Into<Vec<u8>>) -> Self {
        self.own_guest = Some(wasm.into());
        self
    }

    /// A guest of an earlier release, as [`Engine::guest`] gave it there. Snapshots of it can then be restored; it is
    /// loaded when one is. Keep it for as long as paused runs of that release may go on.
    pub fn older_guest(mut self, wasm: impl Into<Vec<u8>>) -> Self {
        self.older_guests.push(wasm.into());
        self
    }

    /// Where compiled guests are kept. Default `chrysalid` in the user's cache folder.
    pub fn cache_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache = Some(folder.into());
        self
    }

    /// Keeps no compiled guest on disk; the engine then compiles for a second or two.
    pub fn no_cache(mut self) -> Self {
        self.cache = None;
        self
    }

    /// A compiled guest that ships with the program, as [`EngineBuilder::precompile`] made it: the engine then starts in
    /// milliseconds without a cache. A file that is absent, of another guest, or for another version of wasmtime counts for
    /// nothing. Its code runs as this process: whoever names it vouches that it is as safe from others as the program itself.
    pub fn precompiled(mut self, file: impl Into<PathBuf>) -> Self {
        self.precompiled = Some(file.into());
        self
    }

    /// The guest compiled for every machine of this architecture: what [`EngineBuilder::precompiled`] reads.
    ///
    /// # Errors
    /// [`ErrorKind::Guest`] when it cannot be compiled.
    pub fn precompile(self) -> Result<Vec<u8>> {
        GuestBuild::precompile(&self)
    }

    /// Makes the engine.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] when an option is out of bounds, [`ErrorKind::Guest`] when the guest cannot be loaded.
    pub fn build(self) -> Result<Engine> {
        if self.max_memory > MAX_MEMORY {
            return Err(Error::new(
                ErrorKind::Config,
                format!("max memory of {} bytes is more than {MAX_MEMORY}", self.max_memory),
            ));
        }
        self.limits.check(self.max_memory)?;
        let own = GuestBuild::own(&self)?;
        let older = self.older_guests.iter().cloned().map(GuestBuild::older);
        let guests = std::iter::once(own.clone()).chain(older).collect();
        let rules = self.rules.clone();
        Ok(Engine(Arc::new(Inner { options: self, rules, guests, own, modules: ModuleCache::default() })))
    }
}
