//! Places in the program as it was given: of errors, whose stacks speak of the text that the guest has and count bytes,
//! of awaits and of calls.

use std::fmt::Write as _;
use std::sync::Arc;

use super::Session;
use super::imports::RawPlace;
use crate::call::CallPlace;
use crate::outcome::{Failure, FailureKind, Position};
use crate::program::{self, Place, Positions, Refusal, RefusalKind};
use crate::value::{Value, printable};

/// Waiting functions that are told.
const HANGS: usize = 8;
/// Frames of a stack whose places are looked up; each costs a walk over the source.
const FRAMES: usize = 100;
/// Code points of a source line that are shown around a place.
const WIDTH: usize = 120;

/// A place that was looked up: calls in a loop come from the same one.
pub(super) struct KnownPlace {
    program: u32,
    raw: RawPlace,
    name: String,
    place: CallPlace,
}

impl Session {
    /// Where the program that runs made a call of this name.
    pub(super) fn place_of_call(&mut self, raw: &RawPlace, name: &str) -> CallPlace {
        let program = self.state.program.as_ref().map_or(0, |program| program.number);
        let known = self.last_place.take();
        let known = known.filter(|known| known.program == program && known.raw == *raw && known.name == name);
        let known = known.unwrap_or_else(|| {
            let place = self.find_place(raw, name);
            KnownPlace { program, raw: raw.clone(), name: name.to_owned(), place }
        });
        let place = known.place.clone();
        self.last_place = Some(known);
        place
    }

    /// Takes a walk over the source.
    fn find_place(&mut self, raw: &RawPlace, name: &str) -> CallPlace {
        if self.file().as_ref() == Some(&raw.file) {
            let positions = self.positions();
            let place = positions.original(Place::of_bytes(&self.code(), raw.line, raw.column));
            let source = self.state.program.as_ref().map_or("", |program| &*program.source);
            let place = at_the_name(source, place, name).unwrap_or(place);
            return CallPlace { file: None, line: place.line, column: place.column };
        }
        let file = printable(&raw.file).replace(['\n', '\t'], " ");
        CallPlace { file: Some(file), line: raw.line, column: raw.column }
    }

    /// The stack with the places of this program as they are in its source.
    pub(super) fn original_stack(&mut self, stack: &str) -> String {
        let Some(file) = self.file() else { return stack.to_owned() };
        let positions = self.positions();
        let code = self.code();
        let mut original = String::with_capacity(stack.len());
        let mut rest = stack;
        for _ in 0..FRAMES {
            let Some((before, after)) = rest.split_once(&file) else { break };
            original.push_str(before);
            original.push_str(&file);
            rest = after;
            if let Some((place, length)) = place_at(after) {
                let place = positions.original(Place::of_bytes(&code, place.line, place.column));
                let _ = write!(original, ":{}:{}", place.line, place.column);
                rest = after.get(length..).unwrap_or_default();
            }
        }
        original.push_str(rest);
        original
    }

    /// Where an error is shown: at the innermost place of this program in a stack of original places.
    pub(super) fn position_in(&self, stack: &str, message: &str) -> Option<Position> {
        let file = self.file()?;
        let (_, after) = stack.split_once(&file)?;
        let source = self.state.program.as_ref().map_or("", |program| &*program.source);
        Some(position(source, program::of_failure(source, place_at(after)?.0, message)))
    }

    fn position(&self, place: Place) -> Position {
        let source = self.state.program.as_ref().map_or("", |program| &*program.source);
        position(source, place)
    }

    /// What the guest says about where async functions wait, the latest first.
    pub(super) fn awaits(&mut self, hangs: &Value) -> Vec<(String, Option<Position>)> {
        let Value::Array(hangs) = hangs else { return Vec::new() };
        let file = self.file().unwrap_or_default();
        let positions = self.positions();
        let code = self.code();
        let number = |value: Option<&Value>| value.and_then(Value::as_f64).filter(|number| *number >= 1.0);
        let mut awaits = Vec::new();
        for hang in hangs.iter().take(HANGS) {
            let Value::Array(parts) = hang else { continue };
            let text = |index: usize| parts.get(index).and_then(Value::as_str).unwrap_or_default();
            let (Some(line), Some(column)) = (number(parts.get(2)), number(parts.get(3))) else { continue };
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
            let mut place = Place { line: line as u32, column: column as u32 };
            let mut position = None;
            let mut of = String::new();
            if text(1) == file {
                place = positions.original(Place::of_bytes(&code, place.line, place.column));
                position = Some(self.position(place));
            } else {
                of = format!(" of {}", text(1));
            }
            let within = match text(0) {
                "" | "<eval>" => String::new(),
                name => format!(", in {name}"),
            };
            awaits.push((format!("awaited at line {}, column {}{of}{within}", place.line, place.column), position));
        }
        awaits
    }

    fn file(&self) -> Option<String> {
        self.state.program.as_ref().map(|program| format!("program-{}.js", program.number))
    }

    /// The text that the guest has.
    fn code(&self) -> Arc<str> {
        self.state.program.as_ref().map(|program| program.code.clone()).unwrap_or_default()
    }

    /// Made again where the session was restored in between.
    fn positions(&mut self) -> Positions {
        let Some(program) = &self.state.program else { return Positions::default() };
        match &self.positions {
            Some((number, positions)) if *number == program.number => positions.clone(),
            _ => {
                let positions =
                    program::prepare(&program.source).map(|prepared| prepared.positions).unwrap_or_default();
                self.positions = Some((program.number, positions.clone()));
                positions
            }
        }
    }
}

/// The failure of a program that was not begun.
pub(super) fn refused(source: &str, refusal: Refusal) -> Failure {
    let (kind, name) = match refusal.kind {
        RefusalKind::Syntax => (FailureKind::Exception, "SyntaxError"),
        RefusalKind::NotJavaScript => (FailureKind::InvalidInput, FailureKind::InvalidInput.name()),
    };
    Failure {
        name: name.to_owned(),
        hint: refusal.hint,
        position: refusal.at.map(|place| position(source, place)),
        ..Failure::of(kind, refusal.message)
    }
}

fn position(source: &str, place: Place) -> Position {
    let excerpt = program::excerpt(source, place, WIDTH);
    let (source_line, caret) = excerpt.map(|excerpt| (excerpt.text, excerpt.caret)).unwrap_or_default();
    Position { line: place.line, column: place.column, source_line, caret }
}

/// `:3:6` at the beginning, and how long it is.
fn place_at(text: &str) -> Option<(Place, usize)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.strip_prefix(':')?;
    let line_length = digits(rest);
    let (line, rest) = rest.split_at_checked(line_length)?;
    let rest = rest.strip_prefix(':')?;
    let column_length = digits(rest);
    let (column, _) = rest.split_at_checked(column_length)?;
    let place = Place { line: line.parse().ok()?, column: column.parse().ok()? };
    Some((place, line_length + column_length + 2))
}

/// Bytes before a place in which the name of what is called there is looked for.
const NAME_BEFORE: usize = 16 << 10;

/// The engine tells where the last part of a call's argument stands, which may be lines behind the name of what is called:
/// the last mention of that name at or before the place, if it looks like one.
fn at_the_name(source: &str, place: Place, name: &str) -> Option<Place> {
    let word = name.rsplit('.').next().filter(|word| !word.is_empty())?;
    let at = place.offset_in(source)?;
    // The place may be that of the dot before the name.
    let end = source.floor_char_boundary(at.saturating_add(word.len() + 1));
    let begin = source.floor_char_boundary(at.saturating_sub(NAME_BEFORE));
    let text = source.get(begin..end)?;
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let is_mention = |offset: usize| {
        let before = text.get(..offset).and_then(|text| text.chars().next_back());
        let behind = source.get(begin + offset + word.len()..).and_then(|text| text.chars().next());
        before.is_none_or(|c| !is_part(c))
            && behind.is_some_and(|c| matches!(c, '(' | '?' | ')' | ']' | '"' | '\'' | '`'))
    };
    let (offset, _) = text.rmatch_indices(word).find(|(offset, _)| is_mention(*offset))?;
    let behind = begin + offset + word.len();
    let is_here = behind >= at;
    (is_here || is_open(source.get(behind..at)?)).then(|| Place::of_offset(source, begin + offset))
}

/// Whether the bracket behind a name is still open at the end of the text; brackets in texts are none.
fn is_open(text: &str) -> bool {
    let Some((name, arguments)) = text.split_once('(') else { return false };
    if !name.chars().all(|c| matches!(c, '"' | '\'' | '`' | ']' | '?' | '.')) {
        return false;
    }
    let (mut depth, mut quote, mut escaped) = (1_u32, None, false);
    for byte in arguments.bytes() {
        match (byte, quote) {
            _ if escaped => escaped = false,
            (b'\\', Some(_)) => escaped = true,
            (_, Some(open)) => quote = Some(open).filter(|open| *open != byte),
            (b'"' | b'\'' | b'`', None) => quote = Some(byte),
            (b'(', None) => depth += 1,
            (b')', None) if depth == 1 => return false,
            (b')', None) => depth -= 1,
            _ => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::{Place, RawPlace, place_at};
    use crate::CallPlace;
    use crate::session::instance::Entry;
    use crate::session::instance::tests::enter;
    use crate::session::messages::{Reveal, tools_message};
    use crate::{Capabilities, Engine, Session, Step};

    /// The calls of a program: what each says of its place, and what is made of it.
    fn places(session: &mut Session, source: &str) -> Vec<(Option<RawPlace>, Option<CallPlace>)> {
        session.start(source).unwrap();
        let program = session.state.program.as_ref().unwrap();
        let start = Entry::Start { program: program.number, source: program.code.clone() };
        let tools = Entry::Tools(tools_message([(false, "look", "look"), (false, "a.b", "a.b")], [], Reveal::Absent));
        let places = enter(session, vec![tools, start])
            .into_iter()
            .map(|request| (request.place, String::from_utf8(request.name).unwrap()));
        places.map(|(raw, name)| (raw.clone(), raw.map(|raw| session.place_of_call(&raw, &name)))).collect()
    }

    fn session() -> Session {
        Engine::builder().pool_slots(0).build().unwrap().session(&Capabilities::none()).unwrap()
    }

    fn shown(source: &str) -> Vec<String> {
        let places = places(&mut session(), source).into_iter();
        places.map(|(_, place)| place.map_or_else(|| "nowhere".to_owned(), |place| place.to_string())).collect()
    }

    #[test]
    fn a_call_knows_its_place_in_the_source() {
        let source = "const x: number = 1\n\nasync function ask(n: number) {\n  return `é` + await tools.look({ n })\n}\nawait ask(x as number)";
        let [(Some(raw), Some(place))] = &places(&mut session(), source)[..] else { panic!("one call with a place") };
        assert_eq!((raw.file.as_str(), raw.line), ("program-1.js", 4));
        assert_eq!(*place, CallPlace { file: None, line: 4, column: 28 });
        assert_eq!(place.to_string(), "line 4");
    }

    #[test]
    fn a_call_over_several_lines_is_where_its_name_is() {
        assert_eq!(shown("const u = { m: 1 }\ntools.look({\n  a: ')',\n  q: u.m,\n})"), ["line 2"]);
        assert_eq!(shown("tools.look({})\nconst all = [{}]\n\nall.map(tools.look)"), ["line 1", "line 4"]);
        assert_eq!(shown("const u = { m: 1 }, look = tools.look\n\nlook({\n  q: u.m,\n})"), ["line 3"]);
        assert_eq!(
            shown("const u = { m: 1 }\ntools.look(\n  await tools.look({ q: 1 }) ?? {\n  q: u.m })"),
            ["line 3"]
        );
    }

    #[test]
    fn calls_through_functions_of_the_engine() {
        assert_eq!(shown("const all = [1, 2]\n  .map(tools.look)\nawait Promise.all(all)"), ["line 2", "line 2"]);
        assert_eq!(shown("\ntools.a.b.call(null, {})\ntools.look.apply(null, [{}])"), ["nowhere"; 0]);
        assert_eq!(
            shown("\nReflect.apply(tools.a.b, null, [{}])\nnew Proxy(tools.look, {})({})"),
            ["line 2", "line 3"]
        );
        assert_eq!(shown("\n\ntools.look({ get x() {\n tools.a.b({}); return 1 } })"), ["line 4", "line 3"]);
        assert_eq!(shown("const o = {\n get x() {\n return tools.look({}) } };\n\no.x"), ["line 3"]);
        assert_eq!(shown("function* g() {\n yield tools.look() }\n\n[...g()]"), ["line 2"]);
        assert_eq!(shown("const f = async () => {\n await null\n tools.look() }\nf()"), ["line 3"]);
        assert_eq!(shown("setTimeout(() =>\n tools.look(), 0)"), ["line 2"]);
        assert_eq!(shown("Promise.resolve({}).then(tools.look)"), ["nowhere"]);
        assert_eq!(shown("queueMicrotask(tools.look)"), ["nowhere"]);
        assert_eq!(shown("new Function('t', '\\n\\nt()')(tools.look)"), ["line 5 of <input>"]);
    }

    #[test]
    fn a_call_of_an_earlier_program_names_it() {
        let mut session = session();
        session.start("\n globalThis.f = () =>\n   tools.look()\n;0").unwrap();
        while !matches!(session.step(SystemTime::now()).unwrap(), Step::Ended(_)) {}
        let [(_, Some(place))] = &places(&mut session, "f()")[..] else { panic!("one call with a place") };
        assert_eq!(*place, CallPlace { file: Some("program-1.js".into()), line: 3, column: 10 });
        assert_eq!(place.to_string(), "line 3 of program-1.js");
    }

    #[test]
    fn what_a_guest_says_of_a_place_is_bounded() {
        let mut session = session();
        session.start("1").unwrap();
        let raw = |file: &str, line| RawPlace { file: file.into(), line, column: u32::MAX };
        assert_eq!(session.place_of_call(&raw("program-1.js", u32::MAX), "look").file, None);
        let place = session.place_of_call(&raw("a\u{1b}[2J\nb\u{202e}", 7), "look");
        assert_eq!(place.to_string(), "line 7 of a\\x1b[2J b\\u{202e}");
        let text = serde_json::to_string(&place).unwrap();
        assert_eq!(serde_json::from_str::<CallPlace>(&text).unwrap(), place);
    }

    #[test]
    fn places_in_stacks() {
        assert_eq!(place_at(":3:16)\n"), Some((Place { line: 3, column: 16 }, 5)));
        for bad in ["", ":", ":3", ":3:", "3:4", ":99999999999:1"] {
            assert_eq!(place_at(bad), None, "{bad}");
        }
    }
}
