//! Calls: to begin, waiting, and on record.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use chrysalid::policy::Reason;
use pyo3::prelude::*;

use crate::value::to_python;

/// A call that may run now. Whoever steps the session begins it, and settles it by its id.
#[pyclass(frozen, module = "chrysalid")]
pub(crate) struct Call(pub(crate) chrysalid::Call);

#[pymethods]
impl Call {
    /// Its id, such as `1.2`: the second call of the first program.
    #[getter]
    fn id(&self) -> String {
        self.0.id().to_string()
    }

    /// Name of its tool; `$import` for a module that is fetched.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Its argument, as checked by schema and policy.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.0.argument())
    }

    /// The same for every attempt at this call, and for no other: 64 hexadecimal characters.
    #[getter]
    fn idempotency_key(&self) -> &str {
        self.0.idempotency_key()
    }

    /// Whether its result is no longer wanted.
    #[getter]
    fn cancelled(&self) -> bool {
        self.0.cancel_signal().is_cancelled()
    }

    fn __repr__(&self) -> String {
        format!("Call({} {})", self.0.id(), self.0.name())
    }
}

/// A call that waits for a person or for something outside: all that whoever decides should see.
#[pyclass(frozen, module = "chrysalid")]
pub(crate) struct PendingCall(pub(crate) chrysalid::PendingCall);

#[pymethods]
impl PendingCall {
    /// Its id.
    #[getter]
    fn id(&self) -> String {
        self.0.id.to_string()
    }

    /// Name of its tool.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// How the program reaches it, such as `tools.sendMail`.
    #[getter]
    fn path(&self) -> &str {
        &self.0.path
    }

    /// Its argument, exactly as it would run.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.argument)
    }

    /// Why a person is asked.
    #[getter]
    fn reasons(&self) -> Vec<String> {
        self.0.reasons.iter().map(Reason::to_string).collect()
    }

    /// `waiting` for a person, `outside` for an answer from elsewhere, or `unknown`: begun, and whether it was done is not
    /// known.
    #[getter]
    fn status(&self) -> &'static str {
        self.0.status.name()
    }

    /// What a decision about it can be bound to: session, call, tool and argument, in hexadecimal.
    #[getter]
    fn token(&self) -> String {
        hex(&self.0.token)
    }

    /// SHA-256 over its argument, in hexadecimal.
    #[getter]
    fn digest(&self) -> String {
        hex(&self.0.digest)
    }

    /// Decisions that are accepted: `approve`, `edit`, `reject`, `respond`.
    #[getter]
    fn allowed(&self) -> Vec<&'static str> {
        self.0.allowed.iter().map(|kind| kind.name()).collect()
    }

    /// Roles that whoever decides must have, every one.
    #[getter]
    fn roles(&self) -> Vec<String> {
        self.0.roles.clone()
    }

    /// What it does: `private`, `untrusted`, `acts`.
    #[getter]
    fn effects(&self) -> Vec<&'static str> {
        self.0.effects.names().collect()
    }

    /// Line of the program in which it was made, from 1, if that is known.
    #[getter]
    fn line(&self) -> Option<u32> {
        self.0.place.as_ref().map(|place| place.line)
    }

    /// Column, from 1, in code points.
    #[getter]
    fn column(&self) -> Option<u32> {
        self.0.place.as_ref().map(|place| place.column)
    }

    /// Version of the policy that asked, if there is one.
    #[getter]
    fn policy(&self) -> Option<&str> {
        self.0.policy.as_deref()
    }

    /// When the request was made, in seconds since 1970.
    #[getter]
    fn requested_at(&self) -> f64 {
        seconds_since_1970(self.0.requested_at)
    }

    /// When a decision is no longer carried out, in seconds since 1970.
    #[getter]
    fn expires_at(&self) -> Option<f64> {
        self.0.expires_at.map(seconds_since_1970)
    }

    /// Whether an answer is stored, and takes effect at the next step.
    #[getter]
    fn decided(&self) -> bool {
        self.0.decided
    }

    fn __repr__(&self) -> String {
        format!("PendingCall({} {}, {})", self.0.id, self.0.name, self.0.status.name())
    }
}

/// One line of the record of a session's calls.
#[pyclass(frozen, module = "chrysalid")]
pub(crate) struct CallRecord(pub(crate) chrysalid::CallRecord);

#[pymethods]
impl CallRecord {
    /// Its id.
    #[getter]
    fn id(&self) -> String {
        self.0.id.to_string()
    }

    /// Name of its tool.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Where it stands: `queued`, `waiting`, `outside`, `started`, `completed`, `failed`, `denied`, `rejected`, `abandoned`
    /// or `unknown`.
    #[getter]
    fn status(&self) -> &'static str {
        self.0.status.name()
    }

    /// How long it ran, in seconds, once it has ended.
    #[getter]
    fn duration(&self) -> Option<f64> {
        self.0.duration.map(|duration| duration.as_secs_f64())
    }

    /// Line of the program in which it was made, from 1, if that is known.
    #[getter]
    fn line(&self) -> Option<u32> {
        self.0.place.as_ref().map(|place| place.line)
    }

    /// The tool that the program called, where a person put another one in its place.
    #[getter]
    fn called_as(&self) -> Option<&str> {
        self.0.called_as.as_deref()
    }

    /// The arguments that a person put in place of the program's.
    #[getter]
    fn edited<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.edited.as_ref().map(|edited| to_python(py, edited)).transpose()
    }

    /// What a person decided: `approve`, `edit`, `reject` or `respond`.
    #[getter]
    fn decision(&self) -> Option<&'static str> {
        self.0.decided.as_ref().map(|decided| decided.decision.name())
    }

    /// Who decided, as the host said.
    #[getter]
    fn decided_by(&self) -> Option<&str> {
        self.0.decided.as_ref()?.by.as_deref()
    }

    fn __repr__(&self) -> String {
        format!("CallRecord({} {}, {})", self.0.id, self.0.name, self.0.status.name())
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a text does not fail.
        _ = write!(text, "{byte:02x}");
        text
    })
}

pub(crate) fn seconds_since_1970(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
