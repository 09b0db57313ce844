//! The line editor: keys, history, and when Enter runs what was typed.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Editor, Helper};

use super::command::is_command;
use super::input::Typed;
use super::nesting::Nesting;
use crate::exit::Refusal;
use crate::guests::state_folder;
use crate::signals::Signals;

/// Entries of the history, and most bytes of one; longer ones are not kept.
const HISTORY_ENTRIES: usize = 1000;
const HISTORY_ENTRY: usize = 8 << 10;
/// Most bytes of a history file that is read: one that is full, with every byte escaped.
const HISTORY_FILE: u64 = 2 * (HISTORY_ENTRIES * HISTORY_ENTRY) as u64;

/// A line editor on the terminal.
pub(super) struct LineEditor {
    /// Absent while a line is read on a thread of its own.
    editor: Option<Editor<Rules, FileHistory>>,
    /// Where the history is kept, if it can be.
    history: Option<PathBuf>,
}

/// What Enter does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rules {
    /// Runs a program when nothing is open, or when the last line is blank.
    Program,
    /// Ends a line.
    Answer,
}

impl LineEditor {
    /// The terminal's editor, with the history of the state folder.
    pub(super) fn open() -> Result<Self, Refusal> {
        let config = Config::builder().max_history_size(HISTORY_ENTRIES).map_err(|error| refuse(&error))?.build();
        let mut editor = Editor::with_config(config).map_err(|error| refuse(&error))?;
        let history = history_file();
        if let Some(file) = &history {
            // Nothing is there at first use.
            let _ = editor.load_history(file);
        }
        Ok(Self { editor: Some(editor), history })
    }

    /// A program or a command.
    pub(super) async fn program(&mut self, prompt: &str, signals: &mut Signals) -> Typed {
        let typed = self.read(prompt, Rules::Program, signals).await;
        if let Typed::Text(text) = &typed {
            self.remember(text);
        }
        typed
    }

    /// One line that answers a question; nothing when the line was given up.
    pub(super) async fn answer(&mut self, question: &str, signals: &mut Signals) -> Option<String> {
        match self.read(question, Rules::Answer, signals).await {
            Typed::Text(text) => Some(text),
            Typed::Cleared | Typed::End => None,
        }
    }

    async fn read(&mut self, prompt: &str, rules: Rules, signals: &mut Signals) -> Typed {
        let Some(mut editor) = self.editor.take() else { return Typed::End };
        editor.set_helper(Some(rules));
        let prompt = prompt.to_owned();
        let mut read = tokio::task::spawn_blocking(move || {
            let line = editor.readline(&prompt);
            (editor, line)
        });
        let read = loop {
            tokio::select! {
                read = &mut read => break read,
                // Keys come as bytes here. A signal from elsewhere has nothing to interrupt.
                () = signals.received() => {}
            }
        };
        let Ok((editor, line)) = read else { return Typed::End };
        self.editor = Some(editor);
        match line {
            Ok(line) => Typed::Text(line),
            Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => Typed::Cleared,
            Err(_) => Typed::End,
        }
    }

    fn remember(&mut self, text: &str) {
        let Some(editor) = self.editor.as_mut().filter(|_| text.len() <= HISTORY_ENTRY) else { return };
        let _ = editor.add_history_entry(text.trim_end());
        if let Some(file) = &self.history
            && editor.append_history(file).is_err()
        {
            self.history = None;
        }
    }
}

/// The file of the history: only its owner may read it. Nothing where it cannot be.
fn history_file() -> Option<PathBuf> {
    let folder = state_folder()?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).ok()?;
    let file = folder.join("repl_history");
    match fs::metadata(&file) {
        Ok(metadata) => metadata.is_file() && metadata.len() <= HISTORY_FILE,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
    .then_some(file)
}

fn refuse(error: &ReadlineError) -> Refusal {
    Refusal::internal(format!("no line editor: {error}"))
}

impl Validator for Rules {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        let ends = *self == Self::Answer
            || is_command(text)
            || text.rsplit_once('\n').is_some_and(|(_, last)| last.trim().is_empty())
            || !Nesting::of(text).is_open();
        Ok(if ends { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Helper for Rules {}

impl Completer for Rules {
    type Candidate = String;
}

impl Hinter for Rules {
    type Hint = String;
}

impl Highlighter for Rules {}
