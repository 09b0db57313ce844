//! What happens in the session, for whoever looks: console lines, and the journal of a claimed file.

use std::collections::HashSet;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrysalid::{CallId, Event, EventSink, LogLevel, LogLine, ToolError};

use crate::claim::{CallEnded, CallStarted, Journal, Met, Record};
use crate::report::Form;

/// The sink of a session's events.
pub(crate) struct Console {
    form: Form,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    lines: Vec<LogLine>,
    journal: Option<Journal>,
    /// Calls whose start is in the journal and whose end is not.
    started: HashSet<CallId>,
    /// Why the journal takes no more.
    broken: Option<String>,
}

impl Console {
    /// A console that prints lines as they come, or keeps them for the JSON document.
    pub(crate) fn new(form: Form) -> Arc<Self> {
        Arc::new(Self { form, state: Mutex::default() })
    }

    /// From here on calls are journalled.
    pub(crate) fn journal(&self, journal: Journal) {
        self.state().journal = Some(journal);
    }

    /// Gives the journal's file back, and with it its lock.
    pub(crate) fn close_journal(&self) -> Option<Journal> {
        self.state().journal.take()
    }

    /// Lines written so far.
    pub(crate) fn lines(&self) -> Vec<LogLine> {
        self.state().lines.clone()
    }

    /// Whether a command may start: not when its start could not be written down.
    pub(crate) fn may_start(&self) -> Result<(), ToolError> {
        match &self.state().broken {
            None => Ok(()),
            Some(_) => Err(ToolError::new("the call was not begun, because its start cannot be recorded")),
        }
    }

    /// Why the journal is broken, if it is.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.state().broken.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn print(&self, line: &LogLine) {
        if self.form == Form::Json {
            return;
        }
        // A reader that went away does not stop the program.
        let _ = match line.level {
            LogLevel::Warn | LogLevel::Error => writeln!(std::io::stderr(), "{}", line.text),
            _ => writeln!(std::io::stdout(), "{}", line.text),
        };
    }
}

impl State {
    fn write(&mut self, record: &Record) {
        if let (Some(journal), None) = (&mut self.journal, &self.broken)
            && let Err(error) = journal.append(record)
        {
            self.broken = Some(format!("the journal of calls ends here: {error}"));
        }
    }
}

impl EventSink for Console {
    fn event(&self, event: Event<'_>) {
        match event {
            Event::Line(line) => {
                self.print(line);
                self.state().lines.push(line.clone());
            }
            // The interpreter's own, such as an import: no effect follows from them.
            Event::CallStarted { name, .. } | Event::CallEnded { name, .. } if name.starts_with('$') => {}
            Event::Met { effect, by } => {
                self.state().write(&Record::Met(Met { effect: effect.to_string(), by: by.to_owned() }));
            }
            Event::CallStarted { id, name } => {
                let mut state = self.state();
                state.started.insert(id);
                state.write(&Record::Started(CallStarted { call: id.to_string(), name: name.to_owned() }));
            }
            Event::CallEnded { id, name, status } => {
                let mut state = self.state();
                if state.started.remove(&id) {
                    let status = status.name().to_owned();
                    state.write(&Record::Completed(CallEnded { call: id.to_string(), name: name.to_owned(), status }));
                }
            }
            _ => {}
        }
    }
}
