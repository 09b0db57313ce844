//! Where programs, commands and answers come from: a line editor on the terminal, or plain lines without one.
//!
//! Without a terminal nothing is asked in words, and a blank line inside of a program does not end it: what is left of a
//! program that was cut in two would run without what stood around it.

use std::io::{BufRead, IsTerminal, Read as _};

use chrysalid::{Error, ErrorKind};

use super::command::is_command;
use super::editor::LineEditor;
use super::nesting::Nesting;
use crate::exit::Refusal;
use crate::prompt::{Answers, forget_typed_lines};
use crate::report::printable;
use crate::signals::Signals;

/// Terminals that cannot edit a line, by their `TERM`.
const PLAIN_TERMINALS: [&str; 3] = ["dumb", "cons25", "emacs"];

/// What was typed.
#[derive(Debug)]
pub(super) enum Typed {
    /// A program or a command.
    Text(String),
    /// The line was cleared.
    Cleared,
    /// The end of input.
    End,
}

/// Where lines come from.
pub(super) enum Input {
    Terminal(Box<LineEditor>),
    /// Lines of stdin, of at most so many bytes a program.
    Lines(usize),
}

impl Input {
    /// The terminal, if all three streams are one; else the lines of stdin.
    pub(super) fn open(source_size: usize) -> Result<Self, Refusal> {
        let term = std::env::var("TERM").unwrap_or_default();
        let all = std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
        if all && !PLAIN_TERMINALS.contains(&term.to_ascii_lowercase().as_str()) {
            Ok(Self::Terminal(Box::new(LineEditor::open()?)))
        } else {
            Ok(Self::Lines(source_size))
        }
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// The next program or command. Input that is no text, or longer than a program may be, is refused: what is behind it
    /// may not be what it seems.
    pub(super) async fn program(&mut self, prompt: &str, signals: &mut Signals) -> Result<Typed, Refusal> {
        let bound = match self {
            Self::Terminal(editor) => return Ok(editor.program(prompt, signals).await),
            Self::Lines(bound) => *bound,
        };
        let (mut text, mut nesting) = (String::new(), Nesting::default());
        loop {
            let Some(line) = line_of_stdin(bound.saturating_sub(text.len()), signals).await? else {
                return Ok(if text.is_empty() { Typed::End } else { Typed::Text(text) });
            };
            if text.is_empty() && is_command(&line) {
                return Ok(Typed::Text(line));
            }
            nesting.feed(line.strip_suffix('\n').unwrap_or(&line));
            text.push_str(&line);
            if !nesting.is_open() {
                return Ok(Typed::Text(text));
            }
        }
    }
}

/// Answers to questions, from the same place.
pub(super) struct InputAnswers<'i> {
    input: &'i mut Input,
    signals: &'i mut Signals,
    /// A command that came in place of an answer.
    pub(super) command: Option<String>,
    /// Why the input ended in the middle of a question.
    pub(super) refused: Option<Refusal>,
}

impl<'i> InputAnswers<'i> {
    pub(super) fn new(input: &'i mut Input, signals: &'i mut Signals) -> Self {
        Self { input, signals, command: None, refused: None }
    }
}

impl Answers for InputAnswers<'_> {
    fn forget(&mut self) {
        if self.input.is_terminal() {
            forget_typed_lines();
        }
    }

    async fn line(&mut self, question: &str) -> Option<String> {
        let line = match self.input {
            Input::Terminal(editor) => editor.answer(&printable(question), self.signals).await,
            Input::Lines(bound) => line_of_stdin(*bound, self.signals).await.unwrap_or_else(|refusal| {
                self.refused = Some(refusal);
                None
            }),
        };
        if line.as_deref().is_some_and(is_command) {
            self.command = line;
            return None;
        }
        line
    }

    fn asks_again(&self) -> bool {
        self.input.is_terminal()
    }
}

/// A line with its end; nothing at the end of input. A signal ends the process, as nothing runs.
async fn line_of_stdin(at_most: usize, signals: &mut Signals) -> Result<Option<String>, Refusal> {
    let read = tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(at_most as u64 + 1).read_until(b'\n', &mut bytes);
        read.map(|_| bytes)
    });
    let bytes = tokio::select! {
        read = read => read.map_err(|error| Refusal::internal(error.to_string()))?,
        () = signals.received() => std::process::exit(130),
    };
    let bytes = bytes.map_err(|error| Refusal::usage(format!("cannot read standard input: {error}")))?;
    if bytes.len() > at_most {
        let message = "a program of standard input is larger than the limit of its source";
        return Err(Error::new(ErrorKind::SourceTooLarge, message).into());
    }
    let line = String::from_utf8(bytes).map_err(|_| Refusal::usage("standard input: not UTF-8 text"))?;
    Ok(Some(line).filter(|line| !line.is_empty()))
}
