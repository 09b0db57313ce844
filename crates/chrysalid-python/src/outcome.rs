//! What a step needs, and how a program ended or waits.

use chrysalid::{CallRecord as Record, Ended, Failure, Heap, LogLine as Line, Pause, Report, ReportStyle, Value};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;

use crate::call::{Call, CallRecord, PendingCall, seconds_since_1970};
use crate::error::raise;
use crate::value::to_python;

/// What the machine needs from whoever steps it.
#[pyclass(frozen, get_all, module = "chrysalid")]
pub(crate) struct Step {
    /// `start`: begin `calls`, and step again. `wait`: settle a call, or step at `wake_at`. `busy`: a slice of time is over,
    /// step again. `paused`, `ended`: see `outcome`.
    kind: &'static str,
    /// Calls to begin.
    calls: Vec<Py<Call>>,
    /// When to step again even if nothing happens, in seconds since 1970.
    wake_at: Option<f64>,
    /// How the program ended, or what it waits for.
    outcome: Option<Py<Outcome>>,
    /// What happened since the step before, where the session was made with `events`.
    events: Py<PyList>,
}

impl Step {
    pub(crate) fn of(py: Python<'_>, step: chrysalid::Step, events: Option<Bound<'_, PyList>>) -> PyResult<Self> {
        let events = events.unwrap_or_else(|| PyList::empty(py)).unbind();
        let plain = |kind| Self { kind, calls: Vec::new(), wake_at: None, outcome: None, events };
        Ok(match step {
            chrysalid::Step::Start(calls) => {
                let calls = calls.into_iter().map(|call| Py::new(py, Call(call))).collect::<PyResult<_>>()?;
                Self { calls, ..plain("start") }
            }
            chrysalid::Step::Wait { wake_at } => Self { wake_at: wake_at.map(seconds_since_1970), ..plain("wait") },
            chrysalid::Step::Busy => plain("busy"),
            chrysalid::Step::Paused(pause) => {
                let wake_at = pause.wake_at.map(seconds_since_1970);
                let outcome = Outcome::new(chrysalid::Outcome::Paused(pause));
                Self { wake_at, outcome: Some(Py::new(py, outcome)?), ..plain("paused") }
            }
            chrysalid::Step::Ended(ended) => {
                let outcome = match ended.result {
                    Ok(_) => chrysalid::Outcome::Done(ended),
                    Err(_) => chrysalid::Outcome::Failed(ended),
                };
                Self { outcome: Some(Py::new(py, Outcome::new(outcome))?), ..plain("ended") }
            }
        })
    }
}

/// How a program ended, or what it waits for.
#[pyclass(frozen, module = "chrysalid")]
pub(crate) struct Outcome {
    inner: chrysalid::Outcome,
    value: PyOnceLock<Py<PyAny>>,
}

impl Outcome {
    fn new(inner: chrysalid::Outcome) -> Self {
        Self { inner, value: PyOnceLock::new() }
    }

    fn ended(&self) -> Option<&Ended> {
        match &self.inner {
            chrysalid::Outcome::Done(ended) | chrysalid::Outcome::Failed(ended) => Some(ended),
            chrysalid::Outcome::Paused(_) => None,
        }
    }

    fn pause(&self) -> Option<&Pause> {
        match &self.inner {
            chrysalid::Outcome::Paused(pause) => Some(pause),
            _ => None,
        }
    }

    fn result(&self) -> Option<&Value> {
        self.ended()?.result.as_ref().ok()
    }
}

#[pymethods]
impl Outcome {
    /// `done`, `failed` or `paused`.
    #[getter]
    fn status(&self) -> &'static str {
        match self.inner {
            chrysalid::Outcome::Done(_) => "done",
            chrysalid::Outcome::Failed(_) => "failed",
            chrysalid::Outcome::Paused(_) => "paused",
        }
    }

    /// The program's value; `UNDEFINED` where it has none, is not done, or failed.
    #[getter]
    fn value<'py>(&'py self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let made = self
            .value
            .get_or_try_init(py, || to_python(py, self.result().unwrap_or(&Value::Undefined)).map(Bound::unbind))?;
        Ok(made.bind(py).clone())
    }

    /// The value as a JavaScript literal, bounded; empty where there is none.
    #[getter]
    fn rendered(&self) -> String {
        match self.result() {
            None | Some(Value::Undefined) => String::new(),
            Some(_) => Report::of(&self.inner).rendered.unwrap_or_default(),
        }
    }

    /// Whether the value is data through and through, and not in part a function or something else that does not cross.
    #[getter]
    fn is_data(&self) -> bool {
        self.result().is_some_and(is_data)
    }

    /// Console lines since the program began or was last paused.
    #[getter]
    fn logs(&self) -> Vec<LogLine> {
        let lines = self.ended().map_or_else(|| self.pause().map(|pause| &pause.logs), |ended| Some(&ended.logs));
        lines.into_iter().flatten().cloned().map(LogLine).collect()
    }

    /// How it failed.
    #[getter]
    fn error(&self) -> Option<ProgramError> {
        self.ended()?.result.as_ref().err().cloned().map(ProgramError)
    }

    /// Calls that wait, in the order they were made.
    #[getter]
    fn pending(&self) -> Vec<PendingCall> {
        self.pause().into_iter().flat_map(|pause| pause.pending.iter().cloned()).map(PendingCall).collect()
    }

    /// The calls of the program so far.
    #[getter]
    fn calls(&self) -> Vec<CallRecord> {
        let calls: Option<&Vec<Record>> =
            self.ended().map_or_else(|| self.pause().map(|pause| &pause.calls), |ended| Some(&ended.calls));
        calls.into_iter().flatten().cloned().map(CallRecord).collect()
    }

    /// What the program's author should know.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.ended()
            .map_or_else(|| self.pause().map(|pause| pause.notes.clone()), |ended| Some(ended.notes.clone()))
            .unwrap_or_default()
    }

    /// What became of the heap: `intact`, `reset` or `lost`.
    #[getter]
    fn heap(&self) -> &'static str {
        match self.ended().map(|ended| ended.heap) {
            Some(Heap::Reset) => "reset",
            Some(Heap::Lost) => "lost",
            _ => "intact",
        }
    }

    /// The name under which the session still holds the value, if the program's last statement is one.
    #[getter]
    fn value_name(&self) -> Option<&str> {
        self.ended()?.value_name.as_deref()
    }

    /// When the program goes on even if nobody answers, in seconds since 1970.
    #[getter]
    fn wake_at(&self) -> Option<f64> {
        self.pause()?.wake_at.map(seconds_since_1970)
    }

    /// A text for a language model, of at most so many characters.
    #[pyo3(signature = (budget=8000))]
    fn report(&self, budget: usize) -> String {
        Report::of(&self.inner).text(&ReportStyle::with_budget(budget))
    }

    /// The value as JSON. Raises `ValueRefused` where it has no JSON form, as a cycle has none.
    ///
    /// What JSON has no type for is written as the nearest thing: a `Map` as an object, a date as its text.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        let json = self.result().unwrap_or(&Value::Undefined).to_json();
        json.map(|json| json.to_string()).map_err(|error| raise(py, &error.into()))
    }

    fn __repr__(&self) -> String {
        match &self.inner {
            chrysalid::Outcome::Done(_) => format!("Outcome(done, {})", shortened(&self.rendered())),
            chrysalid::Outcome::Failed(ended) => {
                let failure = ended.result.as_ref().err().map(ToString::to_string).unwrap_or_default();
                format!("Outcome(failed, {})", shortened(&failure))
            }
            chrysalid::Outcome::Paused(pause) => format!("Outcome(paused, {} pending)", pause.pending.len()),
        }
    }
}

/// A value is at most 512 levels deep.
fn is_data(value: &Value) -> bool {
    match value {
        Value::Description(_) | Value::Handle(_) => false,
        Value::Array(items) | Value::Set(items) => items.iter().all(is_data),
        Value::Object(object) => object.iter().all(|(_, value)| is_data(value)),
        Value::Map(pairs) => pairs.iter().all(|(key, value)| is_data(key) && is_data(value)),
        Value::Error(error) => error.cause.as_ref().is_none_or(is_data) && error.errors.iter().flatten().all(is_data),
        _ => true,
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// One line of the console.
#[pyclass(frozen, eq, module = "chrysalid")]
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct LogLine(Line);

#[pymethods]
impl LogLine {
    /// Which method wrote it: `log`, `info`, `debug`, `warn` or `error`.
    #[getter]
    fn level(&self) -> &'static str {
        self.0.level.name()
    }

    /// The text, its arguments joined by spaces.
    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    fn __repr__(&self) -> String {
        format!("LogLine({:?}, {:?})", self.0.level.name(), self.0.text)
    }
}

/// How a program failed. Data, not an exception of the host.
#[pyclass(frozen, module = "chrysalid")]
#[derive(Clone)]
pub(crate) struct ProgramError(Failure);

#[pymethods]
impl ProgramError {
    /// What kind of failure it is, such as `exception`, `timeout` or `out_of_memory`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind.code()
    }

    /// Name of the error, such as `TypeError`, or of the limit, such as `Timeout`.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Its message.
    #[getter]
    fn message(&self) -> &str {
        &self.0.message
    }

    /// Where it was thrown, in lines of the program; empty when not known.
    #[getter]
    fn stack(&self) -> &str {
        &self.0.stack
    }

    /// What may help whoever wrote the program.
    #[getter]
    fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Line, from 1.
    #[getter]
    fn line(&self) -> Option<u32> {
        self.0.position.as_ref().map(|position| position.line)
    }

    /// Column, from 1, in code points.
    #[getter]
    fn column(&self) -> Option<u32> {
        self.0.position.as_ref().map(|position| position.column)
    }

    /// The thrown value, where there was one.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.value.as_ref().map(|value| to_python(py, value)).transpose()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("ProgramError({:?}, {:?})", self.0.kind.code(), self.0.to_string())
    }
}
