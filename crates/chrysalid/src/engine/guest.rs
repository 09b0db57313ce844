//! One build of the guest inside an engine: its bytes, its identity, and the runtimes that run it.
//!
//! An image belongs to one guest build. An engine has its own, in the pool and on demand, and may be given older ones,
//! on demand only, so that what was paused before an upgrade can go on.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};
use wasmtime::{InstancePre, Linker};

use super::image::{Image, Loader, Places};
use super::ticker::Ticker;
use super::{EngineBuilder, abi, config};
use crate::error::{Error, ErrorKind, Result};
use crate::session::{HostState, link};
use crate::snapshot::Identity;

/// The guest that this build carries.
static OWN: &[u8] = include_bytes!(env!("CHRYSALID_GUEST_WASM"));

/// The target that this crate was built for, as wasmtime names it.
const BASELINE_TARGET: &str = env!("CHRYSALID_TARGET");

/// One wasmtime engine with a guest in it.
pub(crate) struct Runtime {
    ticker: Ticker,
    pub(crate) engine: wasmtime::Engine,
    pub(crate) pre: InstancePre<HostState>,
    pub(crate) image: Image,
}

impl Runtime {
    fn new(options: &EngineBuilder, guest: &GuestBuild, pooled: bool) -> Result<Self> {
        let guest_error = |error: wasmtime::Error| Error::new(ErrorKind::Guest, format!("wasmtime: {error:#}"));
        let engine = wasmtime::Engine::new(&config(options, pooled)).map_err(guest_error)?;
        let ticker = Ticker::new(engine.weak());
        let image = {
            // Initialising is guest code, and is bounded by the epoch.
            let _ticking = ticker.hold();
            let loader = Loader { engine: &engine, max_memory: options.max_memory };
            let places = Places { shipped: options.precompiled.as_deref(), cache: options.cache.as_deref() };
            loader.load(&guest.wasm, &guest.hash, places)?
        };
        let mut linker = Linker::new(&engine);
        link(&mut linker).map_err(guest_error)?;
        let pre = linker.instantiate_pre(&image.module).map_err(guest_error)?;
        Ok(Self { ticker, engine, pre, image })
    }

    pub(crate) fn ticker(&self) -> &Ticker {
        &self.ticker
    }
}

pub(crate) struct GuestBuild {
    wasm: Cow<'static, [u8]>,
    hash: [u8; 32],
    pooled: Option<Runtime>,
    on_demand: OnceLock<Result<Runtime, String>>,
}

impl GuestBuild {
    /// The guest that this build carries, ready to run.
    pub(super) fn own(options: &EngineBuilder) -> Result<Arc<Self>> {
        let wasm = options.own_guest.clone().map_or(Cow::Borrowed(OWN), Cow::Owned);
        let mut guest = Self::idle(wasm);
        // A pool that cannot be reserved is not an error: sessions are made on demand.
        guest.pooled = if options.pool_slots > 0 { Runtime::new(options, &guest, true).ok() } else { None };
        if guest.pooled.is_none() {
            guest.runtime(options, false)?;
        }
        Ok(Arc::new(guest))
    }

    /// An older guest; loaded when an image needs it.
    pub(super) fn older(wasm: Vec<u8>) -> Arc<Self> {
        Arc::new(Self::idle(Cow::Owned(wasm)))
    }

    /// The guest of these options, compiled for the baseline of this machine's architecture.
    pub(super) fn precompile(options: &EngineBuilder) -> Result<Vec<u8>> {
        let wasm = options.own_guest.clone().map_or(Cow::Borrowed(OWN), Cow::Owned);
        let guest = Self::idle(wasm);
        let guest_error = |error: wasmtime::Error| Error::new(ErrorKind::Guest, format!("wasmtime: {error:#}"));
        let mut config = config(options, false);
        // Naming the target leaves out what only this machine's CPU has.
        config.target(BASELINE_TARGET).map_err(guest_error)?;
        let engine = wasmtime::Engine::new(&config).map_err(guest_error)?;
        let ticker = Ticker::new(engine.weak());
        let _ticking = ticker.hold();
        Loader { engine: &engine, max_memory: options.max_memory }.precompile(&guest.wasm, &guest.hash)
    }

    /// A guest that is not loaded. What is borrowed is [`OWN`].
    fn idle(wasm: Cow<'static, [u8]>) -> Self {
        let hash = match wasm {
            Cow::Borrowed(_) => own_hash(),
            Cow::Owned(_) => Sha256::digest(&wasm).into(),
        };
        Self { wasm, hash, pooled: None, on_demand: OnceLock::new() }
    }

    /// The runtime for a session: the pooled one if there is one and it is wanted.
    pub(crate) fn runtime(&self, options: &EngineBuilder, pooled: bool) -> Result<&Runtime> {
        if let (true, Some(runtime)) = (pooled, &self.pooled) {
            return Ok(runtime);
        }
        self.on_demand
            .get_or_init(|| Runtime::new(options, self, false).map_err(|error| error.to_string()))
            .as_ref()
            .map_err(|message| Error::new(ErrorKind::Guest, message.clone()))
    }

    pub(crate) fn has_pool(&self) -> bool {
        self.pooled.is_some()
    }

    /// The image that is loaded, whichever runtime has it.
    pub(crate) fn image(&self, options: &EngineBuilder) -> Result<&Image> {
        Ok(&self.runtime(options, true)?.image)
    }

    pub(crate) fn identity(&self) -> Identity {
        Identity { guest: self.hash, abi: abi::VERSION }
    }

    pub(crate) fn wasm(&self) -> &[u8] {
        &self.wasm
    }
}

/// SHA-256 of [`OWN`], as the build told it: hashing it takes a millisecond of each cold start.
fn own_hash() -> [u8; 32] {
    let mut hash = [0; 32];
    for (byte, digits) in hash.iter_mut().zip(env!("CHRYSALID_GUEST_SHA256").as_bytes().chunks(2)) {
        *byte = std::str::from_utf8(digits).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or_default();
    }
    hash
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::{OWN, own_hash};
    use crate::testing::step;
    use crate::{
        Approval, Capabilities, Capability, Decision, Engine, ErrorKind, Key, Restore, Step, ToolError, Value,
    };

    #[test]
    fn the_build_knows_the_hash_of_its_guest() {
        assert_eq!(own_hash(), <[u8; 32]>::from(Sha256::digest(OWN)));
    }

    /// The same guest under another hash: with a custom section at its end.
    fn older() -> Vec<u8> {
        [OWN, &[0, 5, 4, b'n', b'o', b't', b'e']].concat()
    }

    fn engine() -> crate::EngineBuilder {
        Engine::builder().pool_slots(0).key(Key::from_bytes([1; 32]))
    }

    fn tools() -> Capabilities {
        let gate = Capability::new("gate", |(): ()| async { Ok::<_, ToolError>(()) }).approval(Approval::Ask);
        Capabilities::new([gate]).unwrap()
    }

    #[test]
    fn a_snapshot_of_an_older_guest_goes_on_where_that_guest_is_kept() {
        let before = engine().guest(older()).build().unwrap();
        let mut session = before.session(&tools()).unwrap();
        session.start("let n = 40; n += await tools.gate(); n").unwrap();
        let Step::Paused(pause) = step(&mut session) else { panic!("not paused") };
        let snapshot = session.snapshot().unwrap();

        let without = engine().build().unwrap().restore(&snapshot, &tools(), Restore::Resume).unwrap_err();
        assert_eq!(without.kind(), ErrorKind::UnknownGuest);

        let after = engine().older_guest(before.guest()).build().unwrap();
        let mut session = after.restore(&snapshot, &tools(), Restore::Resume).unwrap();
        session.decide(pause.pending[0].id, Decision::Respond(Value::from(2))).unwrap();
        let Step::Ended(ended) = step(&mut session) else { panic!("not ended") };
        assert_eq!(ended.result, Ok(Value::from(42)));
        // New sessions are of the engine's own guest, and snapshots go on to be of the one they were made with.
        assert!(before.restore(&session.snapshot().unwrap(), &tools(), Restore::Resume).is_ok());
    }

    #[test]
    fn a_compiled_guest_that_ships_with_the_program_is_used_in_place_of_a_compiler() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("guest.cwasm");
        let compiled = Engine::builder().precompile().unwrap();
        std::fs::write(&file, &compiled).unwrap();
        let cache = folder.path().join("cache");
        let built = |file: &std::path::Path| engine().precompiled(file).cache_folder(&cache).build().unwrap();

        let engine = built(&file);
        assert!(!cache.exists(), "nothing was compiled");
        let mut session = engine.session(&Capabilities::none()).unwrap();
        session.start("6 * 7").unwrap();
        let Step::Ended(ended) = step(&mut session) else { panic!("not ended") };
        assert_eq!(ended.result, Ok(Value::from(42)));

        // What is absent, damaged or of another guest counts for nothing.
        for bytes in [&compiled[..compiled.len() / 2], &[compiled.as_slice(), b"x"].concat(), b""] {
            std::fs::write(&file, bytes).unwrap();
            built(&file);
            assert!(cache.exists(), "compiled");
            std::fs::remove_dir_all(&cache).unwrap();
        }
        built(&folder.path().join("absent"));
        assert!(cache.exists(), "compiled");
    }

    #[test]
    fn bytes_that_are_no_guest_are_an_error() {
        let error = engine().guest(b"\0asm\x01\0\0\0".as_slice()).no_cache().build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Guest);
    }
}
