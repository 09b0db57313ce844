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

    /// Wall clock of a program outside pauses, in seconds.
    #[getter]
    fn wall_time(&self) -> Option<f64> {
        self.limits.wall_time.map(|time| time.as_secs_f64())
    }

    /// Calls per program.
    #[getter]
    fn calls(&self) -> u32 {
        self.limits.calls
    }

    /// Calls that run at one time.
    #[getter]
    fn calls_in_flight(&self) -> u32 {
        self.limits.calls_in_flight
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.limits)
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
