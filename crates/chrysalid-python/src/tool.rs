//! What a program may call, as Python describes it. Python runs the function; the engine checks, asks and counts.

use chrysalid::{Approval, Capabilities, DecisionKind, Delivery, Effects, Value};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyWeakrefReference;

use crate::error::raise;
use crate::limits::seconds;
use crate::value::to_python;

/// One capability: name, contract, effects, limits.
#[pyclass(frozen, module = "chrysalid._native")]
pub(crate) struct Capability {
    inner: chrysalid::Capability,
}

#[pymethods]
impl Capability {
    #[new]
    #[pyo3(signature = (name, *, runs, description="", input_schema=None, output_schema=None, effects=None,
        asks=false, ask_when=None, decisions=None, roles=None, expiry=None, timeout=None, max_calls=None,
        max_calls_per_session=None, concurrency=None, idempotent=false, deliver="value", subagent=false,
        is_global=false))]
    #[expect(clippy::too_many_arguments, clippy::fn_params_excessive_bools, reason = "keyword arguments of Python")]
    fn new(
        name: &str,
        runs: bool,
        description: &str,
        input_schema: Option<&str>,
        output_schema: Option<&str>,
        effects: Option<Vec<String>>,
        asks: bool,
        ask_when: Option<Bound<'_, PyAny>>,
        decisions: Option<Vec<String>>,
        roles: Option<Vec<String>>,
        expiry: Option<f64>,
        timeout: Option<f64>,
        max_calls: Option<u32>,
        max_calls_per_session: Option<u32>,
        concurrency: Option<u32>,
        idempotent: bool,
        deliver: &str,
        subagent: bool,
        is_global: bool,
    ) -> PyResult<Self> {
        let mut inner = if runs {
            // Never polled: Python's drivers run the function and settle the call.
            chrysalid::Capability::raw(name, |_, _| std::future::pending())
        } else {
            chrysalid::Capability::external(name)
        };
        inner = inner.description(description).idempotent(idempotent).delivery(delivery(deliver)?);
        if let Some(schema) = input_schema {
            inner = inner.input_schema(json(name, schema)?);
        }
        if let Some(schema) = output_schema {
            inner = inner.output_schema(json(name, schema)?);
        }
        if let Some(effects) = effects {
            inner = inner.effects(effects_of(&effects)?);
        }
        if asks {
            inner = inner.approval(Approval::Ask);
        }
        if let Some(predicate) = ask_when {
            inner = inner.ask_when(asking(&predicate)?);
        }
        if let Some(decisions) = decisions {
            inner =
                inner.approval_decisions(decisions.iter().map(|name| decision(name)).collect::<PyResult<Vec<_>>>()?);
        }
        for role in roles.into_iter().flatten() {
            inner = inner.approval_role(role);
        }
        if let Some(expiry) = seconds("approval_expiry", expiry)? {
            inner = inner.approval_expiry(expiry);
        }
        if let Some(timeout) = seconds("timeout", timeout)? {
            inner = inner.timeout(timeout);
        }
        if let Some(calls) = max_calls {
            inner = inner.max_calls(calls);
        }
        if let Some(calls) = max_calls_per_session {
            inner = inner.max_calls_per_session(calls);
        }
        if let Some(calls) = concurrency {
            inner = inner.concurrency(calls);
        }
        if subagent {
            inner = inner.subagent();
        }
        if is_global {
            inner = inner.global();
        }
        Ok(Self { inner })
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }
}

/// Capabilities that have been checked together, for any number of sessions.
#[pyclass(frozen, module = "chrysalid._native")]
pub(crate) struct Toolset {
    pub(crate) capabilities: Capabilities,
}

#[pymethods]
impl Toolset {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "what Python's lists become")]
    fn new(py: Python<'_>, capabilities: Vec<PyRef<'_, Capability>>) -> PyResult<Self> {
        let all = capabilities.iter().map(|capability| capability.inner.clone());
        let capabilities = Capabilities::new(all).map_err(|error| raise(py, &error))?;
        Ok(Self { capabilities })
    }

    /// The tools in words for a model, with TypeScript signatures; at most so many characters.
    #[pyo3(signature = (budget=None))]
    fn text(&self, budget: Option<usize>) -> String {
        let mut catalogue = chrysalid::CatalogueBudget::default();
        if let Some(budget) = budget {
            catalogue.characters = budget;
        }
        self.capabilities.catalogue().text(&catalogue)
    }

    /// All about one tool.
    fn describe(&self, name: &str) -> Option<String> {
        self.capabilities.catalogue().describe(name)
    }

    /// How a program writes the tool, such as `tools.getWeather`; by its name.
    fn expression(&self, name: &str) -> Option<String> {
        self.capabilities.catalogue().expression(name)
    }
}

/// A Python function as a predicate. One that raises means that a person is asked.
///
/// It is held weakly, by the tool that it is of: Python's collector does not see through the engine, so that a predicate that
/// knows its session would never go.
fn asking(predicate: &Bound<'_, PyAny>) -> PyResult<impl Fn(&Value) -> bool + Send + Sync + 'static> {
    let held = PyWeakrefReference::new(predicate)?.unbind();
    Ok(move |argument: &Value| {
        Python::attach(|py| {
            let Some(predicate) = held.bind(py).upgrade() else {
                return true;
            };
            let answer = to_python(py, argument).and_then(|argument| predicate.call1((argument,)));
            answer.and_then(|answer| answer.is_truthy()).unwrap_or_else(|error| {
                report(py, error);
                true
            })
        })
    })
}

/// Shows an exception that cannot be passed on; Ctrl-C is raised again as soon as Python code runs.
fn report(py: Python<'_>, error: PyErr) {
    if error.is_instance_of::<PyKeyboardInterrupt>(py)
        && py.import("_thread").and_then(|thread| thread.call_method0("interrupt_main")).is_ok()
    {
        return;
    }
    error.write_unraisable(py, None);
}

fn json(name: &str, schema: &str) -> PyResult<serde_json::Value> {
    serde_json::from_str(schema).map_err(|error| PyValueError::new_err(format!("schema of {name:?}: {error}")))
}

pub(crate) fn effects_of(names: &[String]) -> PyResult<Effects> {
    names.iter().try_fold(Effects::NONE, |effects, name| {
        let effect = Effects::from_name(name).ok_or_else(|| {
            PyValueError::new_err(format!("effect {name:?} is none of \"private\", \"untrusted\", \"acts\""))
        })?;
        Ok(effects | effect)
    })
}

fn delivery(name: &str) -> PyResult<Delivery> {
    match name {
        "value" => Ok(Delivery::Value),
        "handle" => Ok(Delivery::Handle),
        "declassified" => Ok(Delivery::Declassified),
        other => {
            Err(PyValueError::new_err(format!("deliver is \"value\", \"handle\" or \"declassified\", not {other:?}")))
        }
    }
}

fn decision(name: &str) -> PyResult<DecisionKind> {
    match name {
        "approve" => Ok(DecisionKind::Approve),
        "edit" => Ok(DecisionKind::Edit),
        "reject" => Ok(DecisionKind::Reject),
        "respond" => Ok(DecisionKind::Respond),
        other => Err(PyValueError::new_err(format!(
            "decision {other:?} is none of \"approve\", \"edit\", \"reject\", \"respond\""
        ))),
    }
}
