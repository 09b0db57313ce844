//! The engine: what the sessions of a process share.

use std::path::PathBuf;
use std::time::Duration;

use chrysalid::{Checkpoint, Clock, ErrorKind, KeyError, Ledger, Modules, Random, Restore, SessionOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{raise, raise_kind};
use crate::event::EventLog;
use crate::limits::{Limits, seconds};
use crate::policy::{Key, Policy};
use crate::session::Session;
use crate::tool::Toolset;

/// What sessions share: compiled guest, limits, policy, keys.
#[pyclass(frozen, module = "chrysalid._native")]
pub(crate) struct Engine {
    inner: chrysalid::Engine,
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (*, limits=None, policy=None, key=None, old_keys=None, checkpoint=true, pool_slots=0,
        max_memory=None, cache_folder=None, no_cache=false, precompiled=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        limits: Option<&Bound<'_, Limits>>,
        policy: Option<&Bound<'_, Policy>>,
        key: Option<&Bound<'_, Key>>,
        old_keys: Option<Vec<PyRef<'_, Key>>>,
        checkpoint: bool,
        pool_slots: u32,
        max_memory: Option<usize>,
        cache_folder: Option<PathBuf>,
        no_cache: bool,
        precompiled: Option<PathBuf>,
    ) -> PyResult<Self> {
        let mut builder = chrysalid::Engine::builder().pool_slots(pool_slots);
        if let Some(limits) = limits {
            builder = builder.limits(limits.get().limits.clone());
        }
        if let Some(policy) = policy {
            builder = builder.rules(policy.get().rules.clone());
        }
        let key = match key {
            Some(key) => Some(key.get().key.clone()),
            None => key_of_environment(py)?,
        };
        if let Some(key) = key {
            builder = builder.key(key);
        }
        for key in old_keys.into_iter().flatten() {
            builder = builder.old_key(key.key.clone());
        }
        if !checkpoint {
            builder = builder.checkpoint(Checkpoint::Never);
        }
        if let Some(bytes) = max_memory {
            builder = builder.max_memory(bytes);
        }
        if let Some(folder) = cache_folder {
            builder = builder.cache_folder(folder);
        }
        if no_cache {
            builder = builder.no_cache();
        }
        if let Some(file) = precompiled {
            builder = builder.precompiled(file);
        }
        let inner = py.detach(|| builder.build()).map_err(|error| raise(py, &error))?;
        Ok(Self { inner })
    }

    /// A fresh session.
    #[pyo3(signature = (tools, *, limits=None, clock=None, seed=None, context=None, park_after=None,
        approve_program=false, depth=0, modules=None, ledger=None, events=false))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn session(
        &self,
        py: Python<'_>,
        tools: &Bound<'_, Toolset>,
        limits: Option<&Bound<'_, Limits>>,
        clock: Option<f64>,
        seed: Option<u64>,
        context: Option<Vec<u8>>,
        park_after: Option<f64>,
        approve_program: bool,
        depth: u32,
        modules: Option<Vec<String>>,
        ledger: Option<&str>,
        events: bool,
    ) -> PyResult<Session> {
        let mut options = options(limits, clock, seed, context, park_after, approve_program, depth, modules, ledger)?;
        let log = EventLog::of(events, &mut options);
        let capabilities = &tools.get().capabilities;
        let session = py.detach(|| self.inner.session_with(capabilities, options));
        session.map(|session| Session::new(session, log)).map_err(|error| raise(py, &error))
    }

    /// A session from a snapshot.
    #[pyo3(signature = (data, tools, *, fork=false, limits=None, clock=None, seed=None, context=None, park_after=None,
        approve_program=false, depth=0, modules=None, ledger=None, events=false))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn restore(
        &self,
        py: Python<'_>,
        data: &[u8],
        tools: &Bound<'_, Toolset>,
        fork: bool,
        limits: Option<&Bound<'_, Limits>>,
        clock: Option<f64>,
        seed: Option<u64>,
        context: Option<Vec<u8>>,
        park_after: Option<f64>,
        approve_program: bool,
        depth: u32,
        modules: Option<Vec<String>>,
        ledger: Option<&str>,
        events: bool,
    ) -> PyResult<Session> {
        let mut options = options(limits, clock, seed, context, park_after, approve_program, depth, modules, ledger)?;
        let log = EventLog::of(events, &mut options);
        let how = if fork { Restore::Fork } else { Restore::Resume };
        let capabilities = &tools.get().capabilities;
        let session = py.detach(|| self.inner.restore_with(data, capabilities, how, options));
        session.map(|session| Session::new(session, log)).map_err(|error| raise(py, &error))
    }

    /// What a snapshot tells about itself.
    fn inspect(&self, py: Python<'_>, data: &[u8]) -> PyResult<Inspection> {
        self.inner.inspect(data).map(Inspection).map_err(|error| raise(py, &error))
    }

    /// The guest that its snapshots belong to, as WebAssembly: what a later release needs to go on with them.
    fn guest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.inner.guest())
    }

    fn __repr__(&self) -> String {
        format!("Engine(memory={})", self.inner.limits().memory)
    }
}

/// Where no key file can be made, an engine works on without one: `snapshot` then says that there is no key.
fn key_of_environment(py: Python<'_>) -> PyResult<Option<chrysalid::Key>> {
    match chrysalid::Key::from_environment() {
        Err(KeyError::File { action: "make", .. }) => Ok(None),
        found => found.map_err(|error| raise_kind(py, ErrorKind::NoKey, error.to_string())),
    }
}

#[expect(clippy::too_many_arguments, reason = "the keyword arguments that `session` and `restore` share")]
fn options(
    limits: Option<&Bound<'_, Limits>>,
    clock: Option<f64>,
    seed: Option<u64>,
    context: Option<Vec<u8>>,
    park_after: Option<f64>,
    approve_program: bool,
    depth: u32,
    modules: Option<Vec<String>>,
    ledger: Option<&str>,
) -> PyResult<SessionOptions> {
    let mut options = SessionOptions::default();
    options.limits = limits.map(|limits| limits.get().limits.clone());
    if let Some(seconds_since_1970) = seconds("clock", clock)? {
        options.clock = Clock::Fixed(std::time::UNIX_EPOCH + seconds_since_1970);
    }
    if let Some(seed) = seed {
        options.random = Random::Seed(seed);
    }
    options.context = context.unwrap_or_default();
    options.park_after = seconds("park_after", park_after)?.or(options.park_after);
    options.approve_program = approve_program;
    options.depth = depth;
    if let Some(names) = modules {
        // Never polled: Python's drivers find the source and settle the call.
        options.modules = Modules::resolver(names, |_| std::future::pending());
    }
    options.ledger = ledger
        .map(serde_json::from_str::<Ledger>)
        .transpose()
        .map_err(|error| PyValueError::new_err(format!("ledger: {error}")))?;
    Ok(options)
}

/// What a snapshot tells about itself: with its key all but values, without it the clear fields.
#[pyclass(frozen, module = "chrysalid")]
pub(crate) struct Inspection(chrysalid::Inspection);

#[pymethods]
impl Inspection {
    /// Size of the snapshot, in bytes.
    #[getter]
    fn size(&self) -> usize {
        self.0.size
    }

    /// Id of the key that sealed it.
    #[getter]
    fn key(&self) -> &str {
        &self.0.key
    }

    /// Whether this engine has the guest build that it belongs to.
    #[getter]
    fn guest_is_known(&self) -> bool {
        self.0.guest_is_known
    }

    /// Whether a program waits; `None` when the key is not here.
    #[getter]
    fn paused(&self) -> Option<bool> {
        self.0.sealed.as_ref().map(|sealed| sealed.paused)
    }

    /// Effects met; `None` when the key is not here.
    #[getter]
    fn taint(&self) -> Option<Vec<&'static str>> {
        self.0.sealed.as_ref().map(|sealed| sealed.taint.effects().names().collect())
    }

    fn __repr__(&self) -> String {
        let paused = self.paused().map_or("None", |paused| if paused { "True" } else { "False" });
        format!("Inspection(size={}, key={:?}, paused={paused})", self.0.size, self.0.key)
    }
}

/// Seconds as a time that is given to a step; the system's time if there is none.
pub(crate) fn moment(seconds_since_1970: Option<f64>) -> PyResult<std::time::SystemTime> {
    let given: Option<Duration> = seconds("now", seconds_since_1970)?;
    Ok(given.map_or_else(std::time::SystemTime::now, |since| std::time::UNIX_EPOCH + since))
}
