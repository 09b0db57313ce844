//! Parsing a program by the first reading that fits.
//!
//! JavaScript comes first, because some texts are both and mean different things: `f(a < b, c > (d))` has two arguments
//! in JavaScript and one in TypeScript. Only where nobody can mean a comparison, [`type_arguments`] prefers TypeScript.
//! Last comes the script goal, where `await` may be a name.

use std::cell::Cell;

use oxc_allocator::Allocator;
use oxc_ast::ast::{Program, SourceType};
use oxc_parser::{ParseOptions, Parser};

use super::nesting::Reason;
use super::type_arguments;

/// A reading of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    JavaScript,
    TypeScript,
    Script,
}

pub(super) const PROGRAM: &[Reading] = &[Reading::JavaScript, Reading::TypeScript, Reading::Script];
pub(super) const MODULE: &[Reading] = &[Reading::JavaScript, Reading::TypeScript];

impl Reading {
    pub(super) fn source_type(self) -> SourceType {
        match self {
            Self::JavaScript => SourceType::mjs(),
            Self::TypeScript => SourceType::ts().with_module(true),
            Self::Script => SourceType::script(),
        }
    }
}

pub(super) struct Parsed<'a> {
    pub(super) program: Program<'a>,
    pub(super) reading: Reading,
}

/// An error of the parser: what, where, and what it points to beside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ParseError {
    pub(super) message: String,
    pub(super) at: usize,
    /// Where the bracket stands that is not closed.
    pub(super) opened_at: Option<usize>,
}

impl ParseError {
    pub(super) fn too_deep(at: usize, reason: Reason) -> Self {
        Self { message: reason.message().to_owned(), at, opened_at: None }
    }

    pub(super) fn is_jsx(&self) -> bool {
        self.message.contains("JSX")
    }
}

/// Parses by the first of `readings` that fits; else the error of the reading that got furthest, the earlier one if
/// two got equally far.
pub(super) fn parse<'a>(arena: &'a Allocator, text: &'a str, readings: &[Reading]) -> Result<Parsed<'a>, ParseError> {
    let mut furthest: Option<ParseError> = None;
    for &reading in readings {
        let error = match parse_as(arena, text, reading) {
            Ok(parsed) if reading == Reading::JavaScript && type_arguments::are_possible(text) => {
                let other = parse_as(arena, text, Reading::TypeScript).ok();
                let meant = other.filter(|other| type_arguments::are_meant(text, &other.program));
                return Ok(meant.unwrap_or(parsed));
            }
            Ok(parsed) => return Ok(parsed),
            Err(error) => error,
        };
        if furthest.as_ref().is_none_or(|known| !known.is_jsx() && (error.is_jsx() || error.at > known.at)) {
            furthest = Some(error);
        }
    }
    Err(furthest.unwrap_or(ParseError { message: String::new(), at: 0, opened_at: None }))
}

/// Parses by one reading; else its first error.
fn parse_as<'a>(arena: &'a Allocator, text: &'a str, reading: Reading) -> Result<Parsed<'a>, ParseError> {
    // A module has no `return` outside of functions, but then the guest says so.
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(arena, text, reading.source_type()).with_options(options).parse();
    let errors = parsed.diagnostics.iter().map(|diagnostic| ParseError {
        message: diagnostic.message.to_string(),
        at: diagnostic.labels.first().map_or(text.len(), |label| to_usize(label.offset())),
        opened_at: diagnostic
            .labels
            .iter()
            .find(|label| label.label() == Some("Opened here"))
            .map(|label| to_usize(label.offset())),
    });
    match errors.min_by_key(|error| error.at) {
        Some(error) => Err(error),
        None => Ok(Parsed { program: parsed.program, reading }),
    }
}

fn to_usize(offset: impl TryInto<usize>) -> usize {
    offset.try_into().unwrap_or(0)
}

/// Whether `text` is one expression in this reading.
pub(super) fn is_expression(text: &str, reading: Reading) -> bool {
    let arena = Allocator::new();
    Parser::new(&arena, text, reading.source_type()).parse_expression().is_ok()
}

/// More than this is not kept between two programs.
const KEPT_BYTES: usize = 1024 * 1024;

thread_local! {
    static ARENA: Cell<Option<Allocator>> = const { Cell::new(None) };
}

/// Runs `work` with an arena for syntax trees that is used again and again on this thread.
pub(super) fn with_arena<T>(work: impl FnOnce(&Allocator) -> T) -> T {
    let mut arena = ARENA.take().unwrap_or_default();
    let result = work(&arena);
    if arena.capacity() <= KEPT_BYTES {
        arena.reset();
        ARENA.set(Some(arena));
    }
    result
}

#[cfg(test)]
mod tests;
