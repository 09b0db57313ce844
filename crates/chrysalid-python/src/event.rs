//! What happens in a session, kept until the step that it happened in is over.

use std::sync::{Arc, Mutex, PoisonError};

use chrysalid::{Event, EventSink, SessionOptions};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Events that nobody has taken; the oldest go first.
const MOST: usize = 10_000;

/// The events since the last step that returned some. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct EventLog(Arc<Mutex<Vec<Happened>>>);

#[derive(Debug)]
enum Happened {
    Call { kind: &'static str, id: String, name: String, status: Option<&'static str> },
    Met { effect: &'static str, by: String },
    Line { level: &'static str, text: String },
    Paused { pending: usize },
}

impl EventLog {
    /// A log that a session of these options writes, if one is wanted.
    pub(crate) fn of(wanted: bool, options: &mut SessionOptions) -> Option<Self> {
        let log = wanted.then(Self::default);
        if let Some(log) = &log {
            options.events = Some(Arc::new(log.clone()));
        }
        log
    }

    /// All of them, as dicts; they are forgotten here.
    pub(crate) fn take<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let happened = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let list = PyList::empty(py);
        for event in happened {
            list.append(event.dict(py)?)?;
        }
        Ok(list)
    }
}

impl EventSink for EventLog {
    fn event(&self, event: Event<'_>) {
        let call = |kind, id: chrysalid::CallId, name: &str, status| {
            Some(Happened::Call { kind, id: id.to_string(), name: name.to_owned(), status })
        };
        let happened = match event {
            Event::CallStarted { id, name } => call("call_started", id, name, None),
            Event::CallEnded { id, name, status } => call("call_ended", id, name, Some(status.name())),
            Event::CallWaiting { id, name } => call("call_waiting", id, name, None),
            Event::CallSuspended { id, name } => call("call_suspended", id, name, None),
            Event::Met { effect, by } => {
                Some(Happened::Met { effect: effect.names().next().unwrap_or_default(), by: by.to_owned() })
            }
            Event::Line(line) => Some(Happened::Line { level: line.level.name(), text: line.text.clone() }),
            Event::Paused { pending } => Some(Happened::Paused { pending }),
            _ => None,
        };
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if log.len() >= MOST {
            log.remove(0);
        }
        log.extend(happened);
    }
}

impl Happened {
    fn dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        match self {
            Self::Call { kind, id, name, status } => {
                dict.set_item("type", kind)?;
                dict.set_item("id", id)?;
                dict.set_item("name", name)?;
                if let Some(status) = status {
                    dict.set_item("status", status)?;
                }
            }
            Self::Met { effect, by } => {
                dict.set_item("type", "met")?;
                dict.set_item("effect", effect)?;
                dict.set_item("by", by)?;
            }
            Self::Line { level, text } => {
                dict.set_item("type", "line")?;
                dict.set_item("level", level)?;
                dict.set_item("text", text)?;
            }
            Self::Paused { pending } => {
                dict.set_item("type", "paused")?;
                dict.set_item("pending", pending)?;
            }
        }
        Ok(dict)
    }
}
