//! Programs and modules as text: whatever comes in, what goes to the guest parses, and places stay in the source.

use oxc_allocator::Allocator;
use oxc_ast::ast::SourceType;
use oxc_parser::{ParseOptions, Parser};

use crate::program::{Place, Positions, Prepared, Refusal, excerpt, of_failure, prepare, prepare_module};

/// Stack for parsing once more; the first time looks after itself.
const STACK: usize = 64 << 20;

/// The bytes are a program, and a module.
pub fn transform(bytes: &[u8]) {
    let Ok(source) = std::str::from_utf8(bytes) else { return };
    check(source, prepare(source), Goal::Program);
    check(source, prepare_module(source), Goal::Module);
}

/// What the guest reads a text as. Its programs are scripts in which `await` and `return` may stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    Program,
    Module,
}

fn check(source: &str, prepared: Result<Prepared, Refusal>, goal: Goal) {
    match prepared {
        Ok(prepared) => {
            assert!(parses(&prepared.code, goal), "the code does not parse: {:?}", prepared.code);
            lines_stay(source, &prepared.code);
            places_lie_in(source, &prepared.code, &prepared.positions);
            for place in [Place { line: 1, column: 1 }, Place { line: u32::MAX, column: u32::MAX }] {
                lies_in(source, of_failure(source, place, "cannot read property 'a' of undefined"), place);
            }
        }
        Err(refusal) => {
            assert!(!refusal.message.is_empty());
            if let Some(place) = refusal.at {
                assert!(place.line >= 1 && place.line <= line_count(source), "{place:?} of a refusal");
                assert!(excerpt(source, place, 120).is_some(), "{place:?} has no line");
            }
        }
    }
}

fn parses(code: &str, goal: Goal) -> bool {
    let is = |code: &str, source_type| {
        let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
        stacker::maybe_grow(STACK, STACK, || {
            let arena = Allocator::new();
            Parser::new(&arena, code, source_type).with_options(options).parse().diagnostics.is_empty()
        })
    };
    // The parser has no script with `await`; that is not the same as a module where comments begin as in HTML.
    let has_old_comment = code.contains("<!--") || code.contains("-->");
    is(code, SourceType::mjs())
        || goal == Goal::Program && is(code, SourceType::script())
        || goal == Goal::Program
            && has_old_comment
            && is(&format!("async function program() {{\n{code}\n}}"), SourceType::script())
}

/// No line moves: each change keeps the line ends of what it replaces. A separator of lines or paragraphs becomes one.
fn lines_stay(source: &str, code: &str) {
    if source.contains(['\u{2028}', '\u{2029}']) {
        assert!(line_count(code) >= line_count(source));
    } else {
        assert_eq!(line_count(code), line_count(source), "{code:?}");
    }
}

fn places_lie_in(source: &str, code: &str, positions: &Positions) {
    let mut place = Place { line: 1, column: 1 };
    let mut characters = code.chars().peekable();
    loop {
        lies_in(source, positions.original(place), place);
        match characters.next() {
            None => break,
            Some('\n') => place = Place { line: place.line + 1, column: 1 },
            Some('\r') if characters.peek() != Some(&'\n') => place = Place { line: place.line + 1, column: 1 },
            Some(_) => place.column += 1,
        }
    }
}

fn lies_in(source: &str, original: Place, place: Place) {
    // What no text has leads nowhere in particular.
    let expected = place.line.min(line_count(source));
    assert!(original.column >= 1 && original.line >= 1, "{place:?} is {original:?}");
    assert!(place.line > expected || original.line <= line_count(source), "{place:?} is {original:?}");
}

/// Lines as programs count them, by LF, CR LF and CR.
fn line_count(text: &str) -> u32 {
    let ends = text.bytes().zip(text.bytes().skip(1).chain([0]));
    let ends = ends.filter(|(byte, next)| *byte == b'\n' || (*byte == b'\r' && *next != b'\n'));
    u32::try_from(ends.count()).unwrap_or(u32::MAX).saturating_add(1)
}
