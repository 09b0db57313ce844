//! What is said about a text that does not parse.

use super::language::{self, Language};
use super::name::is_name_character;
use super::nesting;
use super::parse::ParseError;
use super::place::Place;
use super::{Refusal, RefusalKind};

/// A refusal for the parser's error. `text` is what was parsed; places in it are those of the source.
pub(super) fn refusal(text: &str, error: &ParseError) -> Refusal {
    let mut error = error.clone();
    if error.message.starts_with(NO_SEMICOLON) {
        // The parser points behind the statement; the reader looks for what should not follow.
        let rest = text.get(error.at..).unwrap_or_default();
        error.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }
    if error.opened_at.is_none() && error.at >= text.trim_end().len() && error.message.starts_with("Expected") {
        error.opened_at = nesting::unclosed(text);
    }
    let error = &error;
    let place = Place::of_offset(text, error.at);
    match language::guess(text, place) {
        Some(Language::Shell) => return shell_command(),
        Some(Language::Python) => {
            let hint = Some("this looks like Python; this tool runs JavaScript".to_owned());
            return syntax(message(text, error), hint, place);
        }
        None => {}
    }
    syntax(message(text, error), hint(text, error), place)
}

pub(super) fn shell_command() -> Refusal {
    Refusal {
        kind: RefusalKind::NotJavaScript,
        message: "this looks like a shell command; this tool runs JavaScript. Use tools.<name>(…)".to_owned(),
        hint: None,
        at: None,
    }
}

fn syntax(message: String, hint: Option<String>, place: Place) -> Refusal {
    Refusal { kind: RefusalKind::Syntax, message, hint, at: Some(place) }
}

const NO_SEMICOLON: &str = "Expected a semicolon or an implicit semicolon after a statement, but found none";

/// The reason in the form of our own messages: lower case, no full stop, the text that was found.
fn message(text: &str, error: &ParseError) -> String {
    let reason = error.message.trim_end_matches('.');
    let reason = match reason {
        "Unexpected token" => match found(text, error.at) {
            Some(found) => format!("unexpected `{found}`"),
            None => "unexpected end of the program".to_owned(),
        },
        "Unexpected end of file" => "unexpected end of the program".to_owned(),
        NO_SEMICOLON => match found(text, error.at) {
            Some(found) => format!("expected the end of the statement but found `{found}`"),
            None => "expected the end of the statement".to_owned(),
        },
        _ if reason.starts_with("`await` is only") || reason.starts_with("`for await` loops are only") => {
            let (keyword, _) = reason.split_once("` ").unwrap_or((reason, ""));
            format!("{keyword}` is allowed only in async functions and at the top level")
        }
        _ if reason.starts_with("Invalid Character") => reason.replacen("Invalid Character", "invalid character", 1),
        "Unexpected JSX expression" => "unexpected `<`".to_owned(),
        other => in_own_words(text, error.at, other),
    };
    let Some(opened_at) = error.opened_at else { return reason };
    let Some(bracket) = text.get(opened_at..).and_then(|rest| rest.chars().next()) else { return reason };
    let Place { line, column } = Place::of_offset(text, opened_at);
    format!("{reason}; `{bracket}` was opened at {line}:{column}")
}

fn in_own_words(text: &str, at: usize, reason: &str) -> String {
    // The parser names kinds of tokens; a reader knows the token.
    if let Some((expected, kind)) = reason.split_once(" but found `")
        && let Some(kind) = kind.strip_suffix('`')
    {
        let expected = lower_first(expected);
        return match found(text, at) {
            _ if kind == "EOF" => format!("{expected} but the program ends"),
            Some(found) => format!("{expected} but found `{found}`"),
            None => format!("{expected} but the program ends"),
        };
    }
    lower_first(reason)
}

/// Lowers the first letter, unless the word is a name such as `TypeScript`.
fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    let Some(first) = characters.next() else { return String::new() };
    let rest = characters.as_str();
    if rest.starts_with(char::is_uppercase) || text.starts_with("TypeScript") {
        return text.to_owned();
    }
    first.to_lowercase().chain(rest.chars()).collect()
}

const SHOWN: usize = 20;

/// The word or the character at an offset.
fn found(text: &str, at: usize) -> Option<String> {
    let rest = text.get(at..)?;
    let first = rest.chars().next()?;
    if is_name_character(first) {
        return Some(rest.chars().take_while(|next| is_name_character(*next)).take(SHOWN).collect());
    }
    match first {
        '\n' | '\r' => Some("end of line".to_owned()),
        _ if first.is_control() => Some(first.escape_unicode().to_string()),
        _ if rest.starts_with("=>") || rest.starts_with("...") => {
            Some(rest.chars().take_while(|character| "=>.".contains(*character)).take(3).collect())
        }
        _ => Some(first.to_string()),
    }
}

fn hint(text: &str, error: &ParseError) -> Option<String> {
    if error.is_jsx() {
        return Some("JSX is not available; build text or plain objects".to_owned());
    }
    if concerns_await(text, error) {
        return Some(await_hint(text, error.at).to_owned());
    }
    let near = text.get(error.at..).and_then(|rest| rest.chars().next());
    let before = text.get(..error.at).and_then(|rest| rest.chars().next_back());
    for character in [near, before].into_iter().flatten() {
        match character {
            '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{2018}' | '\u{2019}' => {
                return Some(format!("replace the typographic quote `{character}` by a plain one"));
            }
            '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{00ad}' | '\u{180e}' => {
                let code = u32::from(character);
                return Some(format!("remove the invisible character U+{code:04X}"));
            }
            '\u{a0}' => return Some("replace the non-breaking space U+00A0 by a plain one".to_owned()),
            _ => {}
        }
    }
    None
}

fn concerns_await(text: &str, error: &ParseError) -> bool {
    let Some(rest) = text.get(error.at..) else { return false };
    let before = text.get(..error.at).unwrap_or_default().trim_end();
    let word_before = before.rsplit(|character| !is_name_character(character)).next();
    error.message.contains("await") || word_before == Some("await") || rest.starts_with("await ")
}

/// How far back the call is looked for that the function with the `await` was handed to.
const LOOK_BACK: usize = 400;

fn await_hint(text: &str, at: usize) -> &'static str {
    let mut start = at.saturating_sub(LOOK_BACK);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let before = text.get(start..at).unwrap_or_default();
    let last = [".forEach(", ".map(", ".filter(", ".flatMap(", ".reduce("]
        .into_iter()
        .filter_map(|call| before.rfind(call).map(|at| (at, call)))
        .max()
        .map(|(_, call)| call);
    match last {
        Some(".forEach(") => {
            "`await` needs an async function, and forEach does not wait for one: \
             use `for (const x of xs) { await … }`, or `async x => …` with map and `await Promise.all(…)`"
        }
        Some(".map(" | ".flatMap(" | ".filter(") => {
            "`await` needs an async function: write `async x => …`, and wait for all of them with \
             `await Promise.all(xs.map(async x => …))`"
        }
        _ => {
            "`await` needs an async function: write `async` before the function, as in `async x => …`; \
             with map, `await Promise.all(xs.map(async x => …))`"
        }
    }
}

#[cfg(test)]
mod tests;
