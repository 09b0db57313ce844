//! Bounds of sessions, as keyword arguments.

use std::time::Duration;

use chrysalid::WhenSpent;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What programs may use. Every bound that is not given keeps its default; sizes are bytes, times are seconds.
#[pyclass(frozen, module = "chrysalid")]
pub(crate) struct Limits {
    pub(crate) limits: chrysalid::Limits,
}

#[pymethods]
impl Limits {
    #[new]
    #[pyo3(signature = (*, memory=None, cpu_time=None, wall_time=None, calls=None, calls_in_flight=None,
        argument_size=None, call_result_size=None, value_depth=None, value_nodes=None, console_size=None,
        result_size=None, source_size=None, pending_approvals=None, host_memory=None, snapshot_size=None,
        session_calls=None, session_bytes=None, session_spawns=None, session_wall_time=None, spawns=None, depth=None,
        when_spent=None, declassified_bits=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        memory: Option<usize>,
        cpu_time: Option<f64>,
        wall_time: Option<f64>,
        calls: Option<u32>,
        calls_in_flight: Option<u32>,
        argument_size: Option<usize>,
        call_result_size: Option<usize>,
        value_depth: Option<u32>,
        value_nodes: Option<u32>,
        console_size: Option<usize>,
        result_size: Option<usize>,
        source_size: Option<usize>,
        pending_approvals: Option<u32>,
        host_memory: Option<usize>,
        snapshot_size: Option<usize>,
        session_calls: Option<u32>,
        session_bytes: Option<u64>,
        session_spawns: Option<u32>,
        session_wall_time: Option<f64>,
        spawns: Option<u32>,
        depth: Option<u32>,
        when_spent: Option<&str>,
        declassified_bits: Option<u32>,
    ) -> PyResult<Self> {
        let mut limits = chrysalid::Limits::default();
        set(&mut limits.memory, memory);
        set(&mut limits.cpu_time, seconds("cpu_time", cpu_time)?);
        limits.wall_time = seconds("wall_time", wall_time)?;
        set(&mut limits.calls, calls);
        set(&mut limits.calls_in_flight, calls_in_flight);
        set(&mut limits.argument_size, argument_size);
        set(&mut limits.call_result_size, call_result_size);
        set(&mut limits.value_depth, value_depth);
        set(&mut limits.value_nodes, value_nodes);
        set(&mut limits.console_size, console_size);
        set(&mut limits.result_size, result_size);
        set(&mut limits.source_size, source_size);
        set(&mut limits.pending_approvals, pending_approvals);
        set(&mut limits.host_memory, host_memory);
        limits.snapshot_size = snapshot_size;
        limits.session.calls = session_calls;
        limits.session.bytes = session_bytes;
        limits.session.spawns = session_spawns;
        limits.session.depth = depth;
        limits.session_wall_time = seconds("session_wall_time", session_wall_time)?;
        limits.spawns = spawns;
        set(&mut limits.declassified_bits, declassified_bits);
        limits.when_spent = match when_spent {
            None | Some("fail") => WhenSpent::Fail,
            Some("ask") => WhenSpent::Ask,
            Some(other) => {
                return Err(PyValueError::new_err(format!("when_spent is \"fail\" or \"ask\", not {other:?}")));
            }
        };
        Ok(Self { limits })
    }

    /// Linear memory of the guest, in bytes.
    #[getter]
    fn memory(&self) -> usize {
        self.limits.memory
    }

    /// CPU time of a program, in seconds.
    #[getter]
    fn cpu_time(&self) -> f64 {
        self.limits.cpu_time.as_secs_f64()
    }

    /// Wall clock of a program outside pauses, in seconds; `None` is no bound.
    #[getter]
    fn wall_time(&self) -> Option<f64> {
        self.limits.wall_time.map(|time| time.as_secs_f64())
    }

    /// Calls per program.
    #[getter]
    fn calls(&self) -> u32 {
        self.limits.calls
    }

    /// Calls that run at one time; the rest queue.
    #[getter]
    fn calls_in_flight(&self) -> u32 {
        self.limits.calls_in_flight
    }

    /// Arguments of one call, in bytes.
    #[getter]
    fn argument_size(&self) -> usize {
        self.limits.argument_size
    }

    /// Result of one call, in bytes.
    #[getter]
    fn call_result_size(&self) -> usize {
        self.limits.call_result_size
    }

    /// Levels of nesting of a value.
    #[getter]
    fn value_depth(&self) -> u32 {
        self.limits.value_depth
    }

    /// Parts of a value.
    #[getter]
    fn value_nodes(&self) -> u32 {
        self.limits.value_nodes
    }

    /// Console output of a program, in bytes.
    #[getter]
    fn console_size(&self) -> usize {
        self.limits.console_size
    }

    /// Value of a program, in bytes.
    #[getter]
    fn result_size(&self) -> usize {
        self.limits.result_size
    }

    /// Source text of a program, in bytes.
    #[getter]
    fn source_size(&self) -> usize {
        self.limits.source_size
    }

    /// Calls that wait for a person at one time.
    #[getter]
    fn pending_approvals(&self) -> u32 {
        self.limits.pending_approvals
    }

    /// What the host keeps on behalf of a session, in bytes.
    #[getter]
    fn host_memory(&self) -> usize {
        self.limits.host_memory
    }

    /// A snapshot, in bytes; `None` is no bound of its own.
    #[getter]
    fn snapshot_size(&self) -> Option<usize> {
        self.limits.snapshot_size
    }

    /// Calls of the session.
    #[getter]
    fn session_calls(&self) -> Option<u32> {
        self.limits.session.calls
    }

    /// Arguments and results of the session's calls, in bytes.
    #[getter]
    fn session_bytes(&self) -> Option<u64> {
        self.limits.session.bytes
    }

    /// Subagents of the session.
    #[getter]
    fn session_spawns(&self) -> Option<u32> {
        self.limits.session.spawns
    }

    /// Wall clock of all programs of the session together, in seconds.
    #[getter]
    fn session_wall_time(&self) -> Option<f64> {
        self.limits.session_wall_time.map(|time| time.as_secs_f64())
    }

    /// Subagents of a program.
    #[getter]
    fn spawns(&self) -> Option<u32> {
        self.limits.spawns
    }

    /// How deep subagents may be nested.
    #[getter]
    fn depth(&self) -> Option<u32> {
        self.limits.session.depth
    }

    /// Bits that declassified results may tell in one session.
    #[getter]
    fn declassified_bits(&self) -> u32 {
        self.limits.declassified_bits
    }

    /// What a call gets when a budget is spent: `fail` or `ask`.
    #[getter]
    fn when_spent(&self) -> &'static str {
        match self.limits.when_spent {
            WhenSpent::Ask => "ask",
            _ => "fail",
        }
    }

    /// Only what is not the default.
    fn __repr__(&self) -> String {
        let default = Self { limits: chrysalid::Limits::default() };
        let bounds = self.bounds().into_iter().zip(default.bounds());
        let changed =
            bounds.filter(|(bound, usual)| bound != usual).map(|((name, value), _)| format!("{name}={value}"));
        format!("Limits({})", changed.collect::<Vec<_>>().join(", "))
    }
}

impl Limits {
    /// Every bound, as Python writes it.
    fn bounds(&self) -> Vec<(&'static str, String)> {
        fn of<T: ToString>(bound: Option<T>) -> String {
            bound.map_or_else(|| "None".to_owned(), |bound| bound.to_string())
        }
        vec![
            ("memory", self.memory().to_string()),
            ("cpu_time", self.cpu_time().to_string()),
            ("wall_time", of(self.wall_time())),
            ("calls", self.calls().to_string()),
            ("calls_in_flight", self.calls_in_flight().to_string()),
            ("argument_size", self.argument_size().to_string()),
            ("call_result_size", self.call_result_size().to_string()),
            ("value_depth", self.value_depth().to_string()),
            ("value_nodes", self.value_nodes().to_string()),
            ("console_size", self.console_size().to_string()),
            ("result_size", self.result_size().to_string()),
            ("source_size", self.source_size().to_string()),
            ("pending_approvals", self.pending_approvals().to_string()),
            ("host_memory", self.host_memory().to_string()),
            ("snapshot_size", of(self.snapshot_size())),
            ("session_calls", of(self.session_calls())),
            ("session_bytes", of(self.session_bytes())),
            ("session_spawns", of(self.session_spawns())),
            ("session_wall_time", of(self.session_wall_time())),
            ("spawns", of(self.spawns())),
            ("depth", of(self.depth())),
            ("declassified_bits", self.declassified_bits().to_string()),
            ("when_spent", format!("{:?}", self.when_spent())),
        ]
    }
}

fn set<T>(place: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *place = given;
    }
}

/// A time in seconds that Python gave.
pub(crate) fn seconds(name: &str, given: Option<f64>) -> PyResult<Option<Duration>> {
    given
        .map(|seconds| {
            Duration::try_from_secs_f64(seconds).map_err(|_| {
                PyValueError::new_err(format!("{name} of {seconds} seconds is no time that can be waited"))
            })
        })
        .transpose()
}
