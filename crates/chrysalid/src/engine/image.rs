//! The guest as a compiled module whose memory already holds the initialised engine: the baseline image.
//!
//! Every machine makes the same baseline from the same guest: the guest is initialised once with constant answers for
//! clock and random, and its memory is written back into the module, so that each session starts from it by
//! copy-on-write. Baseline and compiled module are cached on disk. The cache is trusted as the executable itself is:
//! its folder must belong to this user and be closed to others, files are written whole and renamed, and each is
//! checked against the hash in its own head before it is loaded.

use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use wasmtime::{Engine, Instance, Linker, Module, Store, StoreLimits, StoreLimitsBuilder, Val};
use wasmtime_wizer::{InstanceState, SnapshotVal, ValType, Wizer};

use super::abi;
use crate::error::{Error, ErrorKind, Result};
use crate::key::hex;
use crate::session::{check_exports, dead_stack};
use crate::snapshot::format::PAGE;

/// What the guest's clock shows while the baseline is made: 2000-01-01, in milliseconds since 1970.
const BASELINE_TIME: f64 = 946_684_800_000.0;
/// Ticks that a guest may run in each store in which it is loaded, 10 s. Ours takes some milliseconds.
const INITIALISING_TICKS: u64 = 2_000;
/// Elements of the guest's table.
const MAX_TABLE: usize = 1 << 16;

pub(crate) struct Image {
    pub(crate) module: Module,
    /// Linear memory as every session starts with it.
    pub(crate) memory: Arc<[u8]>,
    /// Address of the board.
    pub(crate) board: u32,
    /// Where the guest's stack pointer rests.
    pub(crate) stack_pointer: i32,
}

/// How a guest is loaded: its own code runs under the same bounds whether it is ours or not.
pub(crate) struct Loader<'a> {
    pub(crate) engine: &'a Engine,
    /// The most memory that a session of the engine may have.
    pub(crate) max_memory: usize,
}

/// Where a compiled module may be.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    /// A file that came with the program.
    pub(crate) shipped: Option<&'a Path>,
    /// The folder of the cache.
    pub(crate) cache: Option<&'a Path>,
}

impl Loader<'_> {
    /// Loads the image from where it is kept, or makes it. The epoch must be moving.
    pub(crate) fn load(&self, guest: &[u8], guest_hash: &[u8; 32], places: Places<'_>) -> Result<Image> {
        if let Some(module) = places.shipped.and_then(|file| shipped(file, guest_hash, self.engine)) {
            return self.measure(module);
        }
        let cache = places.cache.and_then(|folder| Cache::open(folder, self.engine, guest_hash));
        let module = match cache.as_ref().and_then(|cache| cache.read(self.engine)) {
            Some(module) => module,
            None => self.compile(guest, cache.as_ref())?,
        };
        self.measure(module)
    }

    /// The module for [`Places::shipped`]. The epoch must be moving.
    pub(crate) fn precompile(&self, guest: &[u8], guest_hash: &[u8; 32]) -> Result<Vec<u8>> {
        let module = self.compile(guest, None)?.serialize().map_err(|error| guest_error(&error))?;
        Ok([shipped_head(guest_hash, &module).as_slice(), &module].concat())
    }

    fn compile(&self, guest: &[u8], cache: Option<&Cache>) -> Result<Module> {
        let wasm = self.initialise(guest).map_err(|error| guest_error(&error))?;
        let module = Module::new(self.engine, &wasm).map_err(|error| guest_error(&error))?;
        if let Some(cache) = cache {
            // A cache that cannot be written costs time, nothing else.
            let _ = module.serialize().map(|bytes| cache.write(&bytes));
        }
        Ok(module)
    }

    /// A store in which guest code is stopped when it takes too long, or asks for more memory than any session has.
    fn store(&self) -> Store<StoreLimits> {
        let limits = StoreLimitsBuilder::new()
            .memory_size(self.max_memory)
            .table_elements(MAX_TABLE)
            .instances(1)
            .memories(1)
            .tables(1)
            .build();
        let mut store = Store::new(self.engine, limits);
        store.limiter(|limits| limits);
        store.set_epoch_deadline(INITIALISING_TICKS);
        #[cfg(feature = "counting")]
        crate::counting::fill(&mut store);
        store
    }

    /// Runs the guest's initialisation and writes its memory back into the module.
    fn initialise(&self, guest: &[u8]) -> wasmtime::Result<Vec<u8>> {
        // Wizer takes forms of modules that this engine does not, and some that it panics over.
        Module::validate(self.engine, guest)?;
        let mut wizer = Wizer::new();
        wizer.init_func(abi::EXPORT_INIT);
        let (context, instrumented) = wizer.instrument(guest)?;
        let module = Module::new(self.engine, &instrumented)?;
        let mut store = self.store();
        let linker = constant_imports(self.engine)?;
        block_on(async {
            let instance = linker.instantiate_async(&mut store, &module).await?;
            instance.get_typed_func::<(), ()>(&mut store, "_initialize")?.call_async(&mut store, ()).await?;
            let init = instance.get_typed_func::<(), i32>(&mut store, abi::EXPORT_INIT)?;
            let status = init.call_async(&mut store, ()).await?;
            if status != abi::STATUS_OK {
                return Err(wasmtime::Error::msg(format!("initialisation ended with status {status}")));
            }
            wizer.snapshot(&context, &mut State { store: &mut store, instance }).await
        })
    }

    /// Reads from one instance what is the same in all: the memory, the board's address, the resting stack pointer.
    fn measure(&self, module: Module) -> Result<Image> {
        let mut store = self.store();
        let linker = constant_imports(self.engine).map_err(|error| guest_error(&error))?;
        let instance = block_on(linker.instantiate_async(&mut store, &module)).map_err(|error| guest_error(&error))?;
        let version = instance.get_typed_func::<(), u32>(&mut store, abi::EXPORT_VERSION);
        let version = version.and_then(|version| block_on(version.call_async(&mut store, ())));
        let version = version.map_err(|error| guest_error(&error))?;
        if version != abi::VERSION {
            return Err(Error::new(
                ErrorKind::Guest,
                format!("guest: it speaks version {version} of the ABI, this engine speaks {}", abi::VERSION),
            ));
        }
        check_exports(&mut store, &instance).map_err(|error| guest_error(&error))?;
        let board = exported_i32(&mut store, &instance, abi::EXPORT_BOARD)?.cast_unsigned();
        let stack_pointer = exported_i32(&mut store, &instance, abi::EXPORT_STACK_POINTER)?;
        let memory = instance
            .get_memory(&mut store, abi::EXPORT_MEMORY)
            .ok_or_else(|| Error::new(ErrorKind::Guest, "guest: no memory"))?;
        let memory = copied(memory.data(&store), stack_pointer);
        if board as usize + abi::BOARD_SIZE > memory.len() {
            return Err(Error::new(ErrorKind::Guest, format!("guest: board at {board} is outside of memory")));
        }
        Ok(Image { module, memory, board, stack_pointer })
    }
}

/// The baseline's memory. Dead pages of the stack count as zero and are not read: a page that was read is mapped, and a slot of
/// the pool would keep it for its next session, whose own it would seem to be.
fn copied(memory: &[u8], stack_pointer: i32) -> Arc<[u8]> {
    let dead = dead_stack(stack_pointer);
    let mut copy = vec![0; memory.len()];
    for part in [0..dead.start * PAGE, dead.end * PAGE..memory.len()] {
        if let (Some(to), Some(from)) = (copy.get_mut(part.clone()), memory.get(part)) {
            to.copy_from_slice(from);
        }
    }
    copy.into()
}

fn exported_i32(store: &mut Store<StoreLimits>, instance: &Instance, name: &str) -> Result<i32> {
    instance
        .get_global(&mut *store, name)
        .and_then(|global| global.get(&mut *store).i32())
        .ok_or_else(|| Error::new(ErrorKind::Guest, format!("guest: no i32 global {name:?}")))
}

fn guest_error(error: &wasmtime::Error) -> Error {
    Error::new(ErrorKind::Guest, format!("guest: {error:#}"))
}

fn constant_imports(engine: &Engine) -> wasmtime::Result<Linker<StoreLimits>> {
    let mut linker = Linker::new(engine);
    let stopped = |_: u32, _: u32, _: u32, _: u32, _: u32, _: u32, _: u32, _: u32| abi::CALL_STOPPED;
    linker.func_wrap(abi::IMPORT_MODULE, abi::IMPORT_CALL, stopped)?;
    linker.func_wrap(abi::IMPORT_MODULE, abi::IMPORT_LOG, |_: u32, _: u32, _: u32| ())?;
    linker.func_wrap(abi::IMPORT_MODULE, abi::IMPORT_NOW, |_: u32| BASELINE_TIME)?;
    linker.func_wrap(abi::IMPORT_MODULE, abi::IMPORT_RANDOM, |_: u32, _: u32| ())?;
    Ok(linker)
}

struct State<'a> {
    store: &'a mut Store<StoreLimits>,
    instance: Instance,
}

impl InstanceState for State<'_> {
    async fn global_get(&mut self, name: &str, _: ValType) -> SnapshotVal {
        match self.instance.get_global(&mut *self.store, name).map(|global| global.get(&mut *self.store)) {
            Some(Val::I32(value)) => SnapshotVal::I32(value),
            Some(Val::I64(value)) => SnapshotVal::I64(value),
            Some(Val::F32(bits)) => SnapshotVal::F32(bits),
            Some(Val::F64(bits)) => SnapshotVal::F64(bits),
            _ => SnapshotVal::I32(0),
        }
    }

    async fn memory_contents(&mut self, name: &str, contents: impl FnOnce(&[u8]) + Send) {
        if let Some(memory) = self.instance.get_memory(&mut *self.store, name) {
            contents(memory.data(&self.store));
        }
    }
}

/// Drives a future that never waits for anything outside: guest code that traps at its deadline.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

/// One compiled module on disk: `sha256 of the rest (32 bytes) | module`.
struct Cache {
    path: PathBuf,
}

impl Cache {
    /// The place for this guest, wasmtime and configuration, if the folder can be trusted.
    fn open(folder: &Path, engine: &Engine, guest_hash: &[u8; 32]) -> Option<Self> {
        create_private(folder).ok()?;
        let mut hasher = HashWriter(Sha256::new());
        guest_hash.hash(&mut hasher);
        env!("CARGO_PKG_VERSION").hash(&mut hasher);
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let digest: [u8; 32] = hasher.0.finalize().into();
        let name = hex(digest.first_chunk::<16>().map_or(&[], |half| half.as_slice()));
        Some(Self { path: folder.join(format!("guest-{name}.cwasm")) })
    }

    fn read(&self, engine: &Engine) -> Option<Module> {
        let mut file = fs::File::open(&self.path).ok()?;
        is_private(&file.metadata().ok()?).then_some(())?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        let (head, module) = bytes.split_first_chunk::<32>()?;
        (<[u8; 32]>::from(Sha256::digest(module)) == *head).then_some(())?;
        trusted(engine, module)
    }

    fn write(&self, module: &[u8]) -> std::io::Result<()> {
        let temporary = self.path.with_extension(format!("{}.tmp", std::process::id()));
        let mut file = private_options().open(&temporary)?;
        let written = file
            .write_all(&Sha256::digest(module))
            .and_then(|()| file.write_all(module))
            .and_then(|()| fs::rename(&temporary, &self.path));
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written
    }
}

/// The module in a file that came with the program: `sha256 of guest hash and module (32 bytes) | module`.
fn shipped(file: &Path, guest_hash: &[u8; 32], engine: &Engine) -> Option<Module> {
    let bytes = fs::read(file).ok()?;
    let (head, module) = bytes.split_first_chunk::<32>()?;
    (shipped_head(guest_hash, module) == *head).then_some(())?;
    trusted(engine, module)
}

fn shipped_head(guest_hash: &[u8; 32], module: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(guest_hash).chain_update(module).finalize().into()
}

#[expect(
    unsafe_code,
    reason = "the bytes are `Module::serialize`'s own and unchanged by their hash: from a cache that is this user's and closed to \
              others, or from a file that the program's author vouches for"
)]
fn trusted(engine: &Engine, module: &[u8]) -> Option<Module> {
    // SAFETY: as the reason says; wasmtime checks its own version, its configuration and the CPU.
    unsafe { Module::deserialize(engine, module) }.ok()
}

struct HashWriter(Sha256);

impl Hasher for HashWriter {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

/// Where compiled modules go by default: `chrysalid` in the user's cache folder.
pub(crate) fn default_cache() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| std::env::home_dir().map(|home| home.join(".cache")))?;
    Some(base.join("chrysalid"))
}

#[cfg(unix)]
fn create_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;

    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    if is_private(&fs::metadata(folder)?) { Ok(()) } else { Err(std::io::ErrorKind::PermissionDenied.into()) }
}

#[cfg(unix)]
fn is_private(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0
}

#[cfg(unix)]
fn private_options() -> fs::OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;

    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options
}

#[cfg(not(unix))]
fn create_private(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(not(unix))]
fn is_private(_: &fs::Metadata) -> bool {
    true
}

#[cfg(not(unix))]
fn private_options() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    options
}
