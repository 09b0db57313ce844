//! A program as it was written becomes text that the guest runs.
//!
//! The guest takes plain JavaScript with top-level `await` and `return`. Before that, on the host: a Markdown fence
//! comes off, TypeScript is blanked, imports become calls, and the end of the program becomes its value where a reader
//! would take it for that. All of it happens in place, so that each line keeps its number and, where text is blanked,
//! each column. [`Positions`] leads back where columns move.
//!
//! The order: normalise the text, look at its nesting, parse it by the first reading that fits, walk the tree once,
//! apply the changes. The source is hostile here, too: parser and walks run on a stack as deep as the text can need.

mod diagnosis;
mod edits;
mod ending;
mod fence;
mod language;
mod member;
mod modules;
mod name;
mod nesting;
mod parse;
mod place;
mod plan;
mod rewrite;
mod stack;
mod type_arguments;

use std::borrow::Cow;

use oxc_allocator::Allocator;
use oxc_ast::AstKind;
use oxc_ast::ast::Program;
use oxc_ast_visit::VisitJs;
use oxc_span::{GetSpan, Span};

pub(crate) use edits::Positions;
pub(crate) use member::of_failure;
pub(crate) use place::{Place, excerpt};
pub(crate) use plan::{means_something, plan};

use edits::Edits;
use fence::Fence;
use modules::Links;
use parse::{ParseError, Parsed};
use rewrite::{Problem, Rewriter};

/// The function that stands for `import(…)` in the guest. It takes the specifier and gives a promise of the module.
pub(crate) const IMPORT_FUNCTION: &str = "$import";

/// What is sent to the guest.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) code: String,
    /// What was done that the author may want to know.
    pub(crate) notes: Vec<String>,
    pub(crate) positions: Positions,
    /// The specifiers of static imports, in order, without repeats.
    pub(crate) imports: Vec<String>,
    /// The name that is all of the last statement.
    pub(crate) value_name: Option<String>,
}

/// Why a program is not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) kind: RefusalKind,
    /// Lower case, without a full stop.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
    /// In the source as given.
    pub(crate) at: Option<Place>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalKind {
    /// Broken, or not supported.
    Syntax,
    /// Another language, or text around the program.
    NotJavaScript,
}

/// Prepares a program, which the guest runs as a script.
pub(crate) fn prepare(source: &str) -> Result<Prepared, Refusal> {
    let text = normalised(source);
    let (text, fenced) = match fence::remove(&text) {
        Fence::None => (text, false),
        Fence::Removed(text) => (Cow::Owned(text), true),
        Fence::Refused(message) => return Err(not_javascript(message)),
    };
    let mut prepared = with_parser(&text, |arena| program(arena, &text))?;
    if fenced {
        prepared.notes.insert(0, "code fence removed".to_owned());
    }
    Ok(prepared)
}

/// The refusal of a shell command that reads as JavaScript, such as `ls -la`, once it failed with an error of this message.
/// Before that nobody knows whether `ls` is a name of the session.
pub(crate) fn failed_command(source: &str, message: &str) -> Option<Refusal> {
    let text = normalised(source);
    let text = match fence::remove(&text) {
        Fence::Removed(text) => Cow::Owned(text),
        _ => text,
    };
    let command = message.strip_suffix(" is not defined")?;
    (language::plain_command(&text) == Some(command)).then(diagnosis::shell_command)
}

/// Prepares an ES module: types are blanked, `import(…)` renamed and static imports listed; those and the exports stay.
pub(crate) fn prepare_module(source: &str) -> Result<Prepared, Refusal> {
    let text = normalised(source);
    with_parser(&text, |arena| {
        let parsed = parse::parse(arena, &text, parse::MODULE).map_err(|error| diagnosis::refusal(&text, &error))?;
        let mut rewriter = Rewriter::new(&text);
        rewriter.walk(&parsed.program);
        let links = modules::module(&mut rewriter, &parsed.program, parsed.reading);
        let ending = ending::Ending::default();
        finish(rewriter, &parsed.program, links, ending).map_err(|problem| refusal(&text, problem))
    })
}

/// Runs `work` with an arena, on a stack that is deep enough to parse `text`.
fn with_parser<T>(text: &str, work: impl FnOnce(&Allocator) -> Result<T, Refusal>) -> Result<T, Refusal> {
    let (need, tokens) = stack::need(text);
    // A text of fewer tokens cannot be nested deeper.
    if tokens > usize::try_from(nesting::MAX_LEVELS).unwrap_or(usize::MAX) {
        nesting::check(text).map_err(|deep| {
            let error = ParseError::too_deep(deep.at, deep.reason);
            let at = Some(Place::of_offset(text, error.at));
            Refusal { kind: RefusalKind::Syntax, message: error.message, hint: None, at }
        })?;
    }
    stack::with_room(need, || parse::with_arena(work))
}

fn program(arena: &Allocator, text: &str) -> Result<Prepared, Refusal> {
    let error = match parse::parse(arena, text, parse::PROGRAM) {
        Ok(parsed) => return rewritten(text, &parsed).map_err(|problem| refusal(text, problem)),
        Err(error) => error,
    };
    if let Some(object) = ending::object_reading(text, error.at)
        && let Ok(parsed) = parse::parse(arena, &object.text, parse::PROGRAM)
        && object.holds(&parsed.program)
    {
        let mut earlier = Positions::default();
        earlier.push_earlier(object.anchors.clone());
        let mut prepared = rewritten(&object.text, &parsed).map_err(|problem| {
            let mut refusal = refusal(&object.text, problem);
            refusal.at = refusal.at.map(|place| earlier.original(place));
            refusal
        })?;
        prepared.positions.push_earlier(object.anchors);
        return Ok(prepared);
    }
    if fence::has_fence_line(text) {
        return Err(not_javascript("there is text around the code fence; send only the JavaScript".to_owned()));
    }
    Err(diagnosis::refusal(text, &error))
}

fn rewritten<'a>(text: &'a str, parsed: &Parsed<'a>) -> Result<Prepared, Problem> {
    let mut rewriter = Rewriter::new(text);
    rewriter.walk(&parsed.program);
    let links = modules::program(&mut rewriter, &parsed.program, parsed.reading);
    let ending = if links.has_default {
        ending::Ending::default()
    } else {
        ending::end(&mut rewriter, &parsed.program, parsed.reading)
    };
    finish(rewriter, &parsed.program, links, ending)
}

fn finish(
    mut rewriter: Rewriter,
    program: &Program,
    links: Links,
    ending: ending::Ending,
) -> Result<Prepared, Problem> {
    if let Some(problem) = rewriter.problem {
        return Err(problem);
    }
    replace_strange_spaces(rewriter.source, &mut rewriter.edits, program);
    let mut positions = Positions::default();
    let code = if rewriter.edits.is_empty() {
        rewriter.source.to_owned()
    } else {
        let (code, anchors) = rewriter.edits.apply(rewriter.source);
        positions.push_earlier(anchors);
        code
    };
    let mut notes = Vec::new();
    if links.default_called {
        notes.push("the default export was called".to_owned());
    }
    notes.extend(ending.note);
    Ok(Prepared { code, notes, positions, imports: links.imports, value_name: ending.value_name })
}

fn refusal(text: &str, problem: Problem) -> Refusal {
    let at = usize::try_from(problem.at).unwrap_or(usize::MAX);
    Refusal {
        kind: RefusalKind::Syntax,
        message: problem.message,
        hint: problem.hint.map(str::to_owned),
        at: Some(Place::of_offset(text, at)),
    }
}

fn not_javascript(message: String) -> Refusal {
    Refusal { kind: RefusalKind::NotJavaScript, message, hint: None, at: None }
}

/// The text without its byte order mark, and with LF for each CR that stands alone: the guest does not count those in
/// comments.
fn normalised(source: &str) -> Cow<'_, str> {
    let text = source.strip_prefix('\u{feff}').unwrap_or(source);
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    let mut bytes = text.bytes().peekable();
    let mut lone = false;
    while let Some(byte) = bytes.next() {
        lone |= byte == b'\r' && bytes.peek() != Some(&b'\n');
    }
    if !lone {
        return Cow::Borrowed(text);
    }
    let mut normalised = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let alone = character == '\r' && characters.peek() != Some(&'\n');
        normalised.push(if alone { '\n' } else { character });
    }
    Cow::Owned(normalised)
}

/// Characters that the parser takes for line ends or white space, and the guest for another thing.
const STRANGE_SPACES: [char; 4] = ['\u{2028}', '\u{2029}', '\u{200b}', '\u{85}'];

/// Puts plain characters for strange ones outside of literals.
///
/// The guest counts U+2028 and U+2029 as line ends, except in comments. So the code has an LF for each, and the places
/// lead back to the line of the source, which goes on over them. U+200B and U+0085 are no white space to the guest.
fn replace_strange_spaces(source: &str, edits: &mut Edits, program: &Program) {
    if source.is_ascii() || !source.contains(STRANGE_SPACES) {
        return;
    }
    let mut literals = Literals { spans: Vec::new() };
    literals.visit_program(program);
    literals.spans.sort_by_key(|span| span.start);
    for (at, found) in source.match_indices(STRANGE_SPACES) {
        let (Ok(start), Ok(width)) = (u32::try_from(at), u32::try_from(found.len())) else { return };
        let before = literals.spans.partition_point(|span| span.start <= start);
        let inside =
            before.checked_sub(1).and_then(|last| literals.spans.get(last)).is_some_and(|span| start < span.end);
        if inside {
            continue;
        }
        if found == "\u{200b}" || found == "\u{85}" {
            edits.blank(start, start + width);
        } else {
            edits.replace(Span::new(start, start + width), "\n");
        }
    }
}

/// Where strings, regular expressions and the texts of templates are.
struct Literals {
    spans: Vec<Span>,
}

impl<'a> VisitJs<'a> for Literals {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        if let AstKind::StringLiteral(_)
        | AstKind::TemplateElement(_)
        | AstKind::Directive(_)
        | AstKind::RegExpLiteral(_) = kind
        {
            self.spans.push(kind.span());
        }
    }
}

#[cfg(test)]
mod tests;
