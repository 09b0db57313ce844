//! A session as a step machine. One thread at a time: another one waits for the end of the step that is under way, and gets
//! `SessionBusy` where it would step itself, or where the step has called it. Only `interrupt` comes in between.

use chrysalid::{Budget, Decision, Error, ErrorKind, Grant, Interrupt, Reviewer, Taint, ToolError, Verdict};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::call::{CallRecord, PendingCall, hex};
use crate::engine::moment;
use crate::error::{raise, raise_kind};
use crate::event::EventLog;
use crate::gate::{Gate, Inside, Visit};
use crate::outcome::Step;
use crate::tool::{Toolset, effects_of};
use crate::value::{of_python, of_python_named, to_python};

/// One JavaScript heap with its programs, calls and record.
#[pyclass(frozen, module = "chrysalid._native")]
pub(crate) struct Session {
    inner: Gate<chrysalid::Session>,
    interrupt: Interrupt,
    events: Option<EventLog>,
    id: [u8; 16],
}

impl Session {
    pub(crate) fn new(session: chrysalid::Session, events: Option<EventLog>) -> Self {
        Self { interrupt: session.interrupt_handle(), events, id: session.id(), inner: Gate::new(session) }
    }

    fn wait(&self, visit: Visit) -> chrysalid::Result<Inside<'_, chrysalid::Session>> {
        self.inner.wait(visit).ok_or_else(|| {
            Error::new(ErrorKind::SessionBusy, "another thread, or a tool's predicate, is in this session")
        })
    }

    /// Does something inside, after whoever is there. The GIL is held, unless it has to wait.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut chrysalid::Session) -> chrysalid::Result<T> + Send,
    ) -> PyResult<T> {
        let done = match self.inner.enter() {
            Some(mut session) => act(&mut session),
            None => py.detach(|| self.wait(Visit::Look).and_then(|mut session| act(&mut session))),
        };
        done.map_err(|error| raise(py, &error))
    }

    fn decide(&self, py: Python<'_>, call: &str, decision: Decision, terms: &Terms) -> PyResult<()> {
        let id = call.parse().map_err(|error| raise(py, &error))?;
        let mut verdict = Verdict::new(id, decision).by(terms.reviewer());
        if let Some(token) = &terms.token {
            verdict = verdict.token(token_of(token)?);
        }
        self.with(py, |session| session.decide_with(verdict))
    }
}

/// What every decision may carry.
struct Terms {
    token: Option<String>,
    by: Option<String>,
    roles: Vec<String>,
}

impl Terms {
    fn new(token: Option<String>, by: Option<String>, roles: Option<Vec<String>>) -> Self {
        Self { token, by, roles: roles.unwrap_or_default() }
    }

    fn reviewer(&self) -> Reviewer {
        let named = self.by.as_ref().map_or_else(Reviewer::new, Reviewer::named);
        self.roles.iter().fold(named, Reviewer::role)
    }
}

fn token_of(text: &str) -> PyResult<[u8; 32]> {
    let refused = || PyValueError::new_err(format!("token {text:?} is not 64 hexadecimal characters"));
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return Err(refused());
    }
    let mut token = [0; 32];
    for (to, pair) in token.iter_mut().zip(digits.chunks_exact(2)) {
        let pair = std::str::from_utf8(pair).map_err(|_| refused())?;
        *to = u8::from_str_radix(pair, 16).map_err(|_| refused())?;
    }
    Ok(token)
}

#[pymethods]
impl Session {
    /// Its id, in hexadecimal. A fork has another one.
    #[getter]
    fn id(&self) -> String {
        hex(&self.id)
    }

    /// Whether no program runs or waits, and another may start.
    #[getter]
    fn is_idle(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |session| Ok(session.is_idle()))
    }

    /// Whether its heap is gone.
    #[getter]
    fn is_lost(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |session| Ok(session.is_lost()))
    }

    /// Effects that it has met: `private`, `untrusted`, `acts`.
    #[getter]
    fn taint(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        self.with(py, |session| Ok(session.taint().effects().names().collect()))
    }

    /// Which call brought each effect: pairs of both.
    #[getter]
    fn met(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        self.with(py, |session| {
            let brought = session.taint().provenance().iter();
            Ok(brought.map(|brought| (brought.effect.names().collect(), brought.by.clone())).collect())
        })
    }

    /// Calls that wait for a person or something outside.
    #[getter]
    fn pending(&self, py: Python<'_>) -> PyResult<Vec<PendingCall>> {
        self.with(py, |session| Ok(session.pending().into_iter().map(PendingCall).collect()))
    }

    /// The record of the session's calls.
    #[getter]
    fn calls(&self, py: Python<'_>) -> PyResult<Vec<CallRecord>> {
        self.with(py, |session| Ok(session.calls().into_iter().map(CallRecord).collect()))
    }

    /// Source of the program that runs or waits.
    #[getter]
    fn source(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, |session| Ok(session.program_source().map(str::to_owned)))
    }

    /// CPU time of the program that runs, or else of the latest one, in seconds.
    #[getter]
    fn cpu_time(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |session| Ok(session.cpu_time().as_secs_f64()))
    }

    /// What it has met and used so far, as JSON: for `ledger=` of a later restore.
    #[getter]
    fn ledger(&self, py: Python<'_>) -> PyResult<String> {
        let ledger = self.with(py, |session| Ok(session.ledger()))?;
        serde_json::to_string(&ledger).map_err(|error| raise_kind(py, ErrorKind::Internal, error.to_string()))
    }

    /// Begins a program. Nothing of it runs before the next step.
    fn start(&self, py: Python<'_>, code: &str) -> PyResult<()> {
        py.detach(|| self.wait(Visit::Step).and_then(|mut session| session.start(code)))
            .map_err(|error| raise(py, &error))
    }

    /// Runs the guest until it needs something, for one slice at most, with the GIL released.
    #[pyo3(signature = (now=None))]
    fn step(&self, py: Python<'_>, now: Option<f64>) -> PyResult<Step> {
        let now = moment(now)?;
        let step = py.detach(|| self.wait(Visit::Step).and_then(|mut session| session.step(now)));
        let events = self.events.as_ref().map(|events| events.take(py)).transpose()?;
        Step::of(py, step.map_err(|error| raise(py, &error))?, events)
    }

    /// Gives a call that runs, waits outside, or is unknown, its result.
    fn settle(&self, py: Python<'_>, call_id: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let id = call_id.parse().map_err(|error| raise(py, &error))?;
        let value = of_python_named(value, "result")?;
        self.with(py, |session| session.settle(id, Ok(value)))
    }

    /// Fails such a call: the program gets an error with this name and message.
    #[pyo3(signature = (call_id, message, *, name="ToolError", retryable=false))]
    fn fail(&self, py: Python<'_>, call_id: &str, message: &str, name: &str, retryable: bool) -> PyResult<()> {
        let id = call_id.parse().map_err(|error| raise(py, &error))?;
        let mut error = if retryable { ToolError::retryable(message) } else { ToolError::new(message) };
        name.clone_into(&mut error.name);
        self.with(py, |session| session.settle(id, Err(error)))
    }

    /// Says that the tool of a call that runs waits for somebody itself: the program may pause, and `settle` or `fail` answers
    /// later, after a restore as well.
    fn suspend(&self, py: Python<'_>, call_id: &str) -> PyResult<()> {
        let id = call_id.parse().map_err(|error| raise(py, &error))?;
        self.with(py, |session| session.suspend_call(id))
    }

    /// Runs the call as shown. For an unknown call: runs it again.
    #[pyo3(signature = (call_id, *, token=None, by=None, roles=None))]
    fn approve(
        &self,
        py: Python<'_>,
        call_id: &str,
        token: Option<String>,
        by: Option<String>,
        roles: Option<Vec<String>>,
    ) -> PyResult<()> {
        self.decide(py, call_id, Decision::Approve, &Terms::new(token, by, roles))
    }

    /// Does not run the call; the program gets `ToolRejected` with the reason.
    #[pyo3(signature = (call_id, reason=None, *, token=None, by=None, roles=None))]
    fn reject(
        &self,
        py: Python<'_>,
        call_id: &str,
        reason: Option<String>,
        token: Option<String>,
        by: Option<String>,
        roles: Option<Vec<String>>,
    ) -> PyResult<()> {
        self.decide(py, call_id, Decision::Reject(reason), &Terms::new(token, by, roles))
    }

    /// Does not run the call; the program gets this value.
    #[pyo3(signature = (call_id, value, *, token=None, by=None, roles=None))]
    fn respond(
        &self,
        py: Python<'_>,
        call_id: &str,
        value: &Bound<'_, PyAny>,
        token: Option<String>,
        by: Option<String>,
        roles: Option<Vec<String>>,
    ) -> PyResult<()> {
        let decision = Decision::Respond(of_python(value)?);
        self.decide(py, call_id, decision, &Terms::new(token, by, roles))
    }

    /// Runs the call with other arguments, or with another tool, which schema and rules check again.
    #[pyo3(signature = (call_id, arguments, *, name=None, token=None, by=None, roles=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn edit(
        &self,
        py: Python<'_>,
        call_id: &str,
        arguments: &Bound<'_, PyAny>,
        name: Option<String>,
        token: Option<String>,
        by: Option<String>,
        roles: Option<Vec<String>>,
    ) -> PyResult<()> {
        let argument = of_python_named(arguments, "arguments")?;
        let decision = match name {
            Some(name) => Decision::EditCall { name, argument },
            None => Decision::Edit(argument),
        };
        self.decide(py, call_id, decision, &Terms::new(token, by, roles))
    }

    /// Allows some calls beforehand, as `tools = "mail.send", count = 20, lasts = "1h"`; the grant's number.
    #[pyo3(signature = (terms, *, by=None, roles=None))]
    fn grant(&self, py: Python<'_>, terms: &str, by: Option<String>, roles: Option<Vec<String>>) -> PyResult<u32> {
        let grant = Grant::parse(terms).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let reviewer = Terms::new(None, by, roles).reviewer();
        self.with(py, |session| session.grant(grant, &reviewer, std::time::SystemTime::now()))
    }

    /// Adds to the budget of the session.
    #[pyo3(signature = (*, calls=None, bytes=None, spawns=None, by=None))]
    fn raise_budget(
        &self,
        py: Python<'_>,
        calls: Option<u32>,
        bytes: Option<u64>,
        spawns: Option<u32>,
        by: Option<String>,
    ) -> PyResult<()> {
        let more = Budget { calls, bytes, spawns, ..Budget::default() };
        let reviewer = Terms::new(None, by, None).reviewer();
        self.with(py, |session| session.raise_budget(&more, &reviewer))
    }

    /// Joins effects that the host knows the session's content to have, with where they came from.
    #[expect(clippy::needless_pass_by_value, reason = "what Python's lists become")]
    fn meet(&self, py: Python<'_>, effects: Vec<String>, by: &str) -> PyResult<()> {
        let mut taint = Taint::default();
        for effect in effects_of(&effects)?.each() {
            taint.join(effect, by);
        }
        self.with(py, |session| {
            session.meet(&taint);
            Ok(())
        })
    }

    /// Gives it another set of tools.
    fn set_tools(&self, py: Python<'_>, tools: &Bound<'_, Toolset>) -> PyResult<()> {
        let capabilities = &tools.get().capabilities;
        self.with(py, |session| {
            session.set_capabilities(capabilities);
            Ok(())
        })
    }

    /// What a handle stands for; `None` if this session has no such handle.
    fn handle_value<'py>(
        &self,
        py: Python<'py>,
        handle: &Bound<'py, crate::value::Handle>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let handle = &handle.get().0;
        let value = self.with(py, |session| Ok(session.handle_value(handle)))?;
        value.map(|value| to_python(py, &value)).transpose()
    }

    /// Its whole state as bytes, sealed with the engine's key. Runs no code.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.wait(Visit::Look).and_then(|mut session| session.snapshot()));
        bytes.map(|bytes| PyBytes::new(py, &bytes)).map_err(|error| raise(py, &error))
    }

    /// Ends the program as `cancelled` at its next step. From any thread.
    fn interrupt(&self) {
        self.interrupt.interrupt();
    }

    fn __repr__(&self) -> String {
        format!("Session({})", hex(&self.id))
    }
}
