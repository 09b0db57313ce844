//! A look at a long text before it is parsed: how deep it is nested, and whether the parser would have to guess much.
//!
//! This reads tokens, not grammar. What it miscounts costs memory only, since the stack is sized by [`super::stack`]
//! without it. Two things count: *levels*, each construct that makes the parser recurse; and *guesses*, constructs
//! that it tries in one way, then reads again in another (an arrow function's parameters or an assignment in
//! parentheses, type arguments or a comparison). Guesses within guesses take time that grows with the square of the
//! text, so few are allowed.
//!
//! A `/` begins a regular expression or divides. Where tokens alone do not say which, the number and length of such
//! expressions is bounded, so that not much can be hidden from the count in them.

mod braces;
mod frame;
mod literal;
mod word;

pub(super) use braces::{Braces, last_braces, unclosed};
use frame::{Bracket, Frame};

/// The deepest nesting that is parsed.
pub(super) const MAX_LEVELS: u32 = 1000;

/// How many guesses may be open within each other. An assignment in parentheses counts for three.
const MAX_GUESSES: u32 = 16;

const MAX_UNCLEAR: u32 = 32;
const MAX_UNCLEAR_LENGTH: usize = 64;

/// Why a text is not parsed, and the byte offset where that became clear.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooDeep {
    pub(super) at: usize,
    pub(super) reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Levels,
    Guesses,
    Unclear,
}

impl Reason {
    pub(super) fn message(self) -> &'static str {
        match self {
            Self::Levels => "nested deeper than 1000 levels",
            Self::Guesses => "too many assignments in parentheses, comparisons or type arguments within each other",
            Self::Unclear => "too many regular expressions after a closing brace",
        }
    }
}

pub(super) fn check(text: &str) -> Result<(), TooDeep> {
    let mut scan = Scan::new(text);
    while let Some(byte) = scan.peek(0) {
        let start = scan.at;
        scan.token(byte)?;
        // The text itself is one frame.
        if scan.levels > MAX_LEVELS + 1 {
            return Err(TooDeep { at: start, reason: Reason::Levels });
        }
        if scan.guesses > MAX_GUESSES {
            return Err(TooDeep { at: start, reason: Reason::Guesses });
        }
    }
    Ok(())
}

/// What the last token was, as far as the next one has to know.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a token")]
struct Last {
    /// It ended an operand, so that an operator can follow.
    operand: bool,
    /// A `/` behind it may be either thing.
    unclear: bool,
    /// It was `.` or `?.`, so that a name follows.
    dot: bool,
    /// It was a `}`.
    brace: bool,
    /// What stands in parentheses behind it is the head of a statement.
    head: bool,
    /// What stands in parentheses behind it may be parameters although it looks like a call.
    parameters: bool,
    /// A `{` behind it begins a value.
    value: bool,
    /// It was `for`.
    is_for: bool,
    /// It was a word after which a line end ends the statement.
    restricted: bool,
}

impl Last {
    const OPERAND: Self = Self { operand: true, ..Self::NONE };
    const OPERATOR: Self = Self { value: true, ..Self::NONE };
    const NONE: Self = Self {
        operand: false,
        unclear: false,
        dot: false,
        brace: false,
        head: false,
        parameters: false,
        value: false,
        is_for: false,
        restricted: false,
    };
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    frames: Vec<Frame>,
    levels: u32,
    guesses: u32,
    unclear: u32,
    last: Last,
    /// A line ended between the last token and this one.
    newline: bool,
    /// The last token was a `;`; only an `else` goes on from there.
    statement_over: bool,
    /// What was read last was white space or a comment.
    skipped: bool,
    /// A search for the end of a regular expression came to this offset and found none.
    no_expression_until: usize,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Self {
        let mut scan = Self {
            bytes: text.as_bytes(),
            at: 0,
            frames: vec![Frame::new(Bracket::Brace, 0)],
            levels: 1,
            guesses: 0,
            unclear: 0,
            last: Last::default(),
            newline: false,
            statement_over: false,
            skipped: false,
            no_expression_until: 0,
        };
        if text.starts_with("#!") {
            scan.skip_line();
        }
        scan
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn starts_with(&self, text: &[u8]) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(text))
    }

    /// U+2028 or U+2029, which end a line.
    fn at_separator(&self) -> bool {
        self.starts_with(&[0xe2, 0x80, 0xa8]) || self.starts_with(&[0xe2, 0x80, 0xa9])
    }

    /// Reads one token, or a stretch of white space or a comment.
    fn token(&mut self, byte: u8) -> Result<(), TooDeep> {
        self.skipped = self.skip(byte);
        if self.skipped {
            return Ok(());
        }
        if self.newline && self.last.restricted {
            self.end_statement();
            self.last = Last::NONE;
        }
        let is_word = word::is_part(byte);
        if !is_word && self.statement_over {
            self.end_statement();
        }
        match byte {
            _ if is_word => self.word(),
            b'/' => self.slash()?,
            b'"' | b'\'' => self.string(byte),
            b'`' => {
                self.at += 1;
                self.template();
            }
            b'(' | b'[' | b'{' => self.open(byte),
            b')' | b']' | b'}' => self.close(byte),
            _ => self.operator(byte),
        }
        self.newline = false;
        Ok(())
    }

    /// Whether there was white space or a comment here, which is behind us then.
    fn skip(&mut self, byte: u8) -> bool {
        match (byte, self.peek(1)) {
            (b'\n' | b'\r', _) => {
                self.newline = true;
                self.at += 1;
            }
            (0..=b' ' | 127, _) => self.at += 1,
            (0xe2, _) if self.at_separator() => {
                self.newline = true;
                self.at += 3;
            }
            (b'/', Some(b'/')) => self.skip_line(),
            (b'/', Some(b'*')) => self.skip_comment(),
            _ => return false,
        }
        true
    }

    fn skip_line(&mut self) {
        while let Some(byte) = self.peek(0) {
            if byte == b'\n' || byte == b'\r' || self.at_separator() {
                return;
            }
            self.at += 1;
        }
    }

    fn skip_comment(&mut self) {
        self.at += 2;
        while let Some(byte) = self.peek(0) {
            if byte == b'*' && self.peek(1) == Some(b'/') {
                self.at += 2;
                return;
            }
            self.newline |= byte == b'\n' || byte == b'\r' || self.at_separator();
            self.at += 1;
        }
    }

    fn operator(&mut self, byte: u8) {
        let next = self.peek(1);
        match byte {
            b';' => {
                self.at += 1;
                self.statement_over = true;
                self.last = Last::NONE;
            }
            b',' => {
                self.at += 1;
                self.top(Frame::next_item);
                self.last = Last::OPERATOR;
            }
            b'.' => self.dot(next),
            b'?' => self.question(next),
            b':' => self.colon(),
            b'=' => self.equals(next),
            b'+' | b'-' => self.plus_or_minus(byte, next),
            b'!' if next == Some(b'=') && self.last.operand => self.comparison(),
            b'!' if self.last.operand && !self.newline => self.at += 1,
            b'!' | b'~' | b'@' => {
                self.at += 1;
                self.deeper_prefix();
            }
            b'<' => self.less(next),
            b'>' => self.greater(),
            _ => self.other_operator(byte, next),
        }
    }

    fn dot(&mut self, next: Option<u8>) {
        let spread = next == Some(b'.');
        self.at += if spread { 3 } else { 1 };
        self.last = if spread { Last::OPERATOR } else { Last { dot: true, ..Last::NONE } };
    }

    fn question(&mut self, next: Option<u8>) {
        match next {
            Some(b'?') => {
                self.at += 2;
                self.binary_operator();
                self.assignment_sign();
                self.last = Last::OPERATOR;
            }
            Some(b'.') if !self.peek(2).is_some_and(|byte| byte.is_ascii_digit()) => {
                self.at += 2;
                self.last = Last { dot: true, operand: true, ..Last::NONE };
            }
            _ => {
                self.at += 1;
                self.deeper_expression();
                self.top(Frame::ask);
                self.last = Last::OPERATOR;
            }
        }
    }

    fn colon(&mut self) {
        self.at += 1;
        let mut label = false;
        self.top(|frame| label = !frame.answer());
        let in_block = self.frames.last().is_some_and(Frame::is_block);
        if label {
            self.deeper_expression();
        }
        self.last = if label && in_block { Last::NONE } else { Last::OPERATOR };
    }

    fn equals(&mut self, next: Option<u8>) {
        match next {
            Some(b'>') => {
                self.at += 2;
                self.deeper_expression();
                self.top(Frame::arrow);
                self.last = Last::NONE;
            }
            Some(b'=') => self.comparison(),
            _ => {
                self.at += 1;
                self.deeper_expression();
                self.top(Frame::assign);
                self.last = Last::OPERATOR;
            }
        }
    }

    /// `==`, `===`, `!=`, `!==`.
    fn comparison(&mut self) {
        self.at += if self.peek(2) == Some(b'=') { 3 } else { 2 };
        self.binary_operator();
        self.last = Last::OPERATOR;
    }

    fn plus_or_minus(&mut self, byte: u8, next: Option<u8>) {
        if next == Some(byte) {
            self.at += 2;
            if !self.last.operand || self.newline {
                self.deeper_prefix();
            }
            return;
        }
        self.at += 1;
        if self.last.operand {
            self.binary_operator();
            self.assignment_sign();
            self.last = Last::OPERATOR;
        } else {
            self.deeper_prefix();
        }
    }

    fn less(&mut self, next: Option<u8>) {
        let shift = next == Some(b'<');
        self.at += if shift { 2 } else { 1 };
        if shift || next == Some(b'=') {
            self.binary_operator();
            self.assignment_sign();
        } else {
            self.deeper_prefix();
            self.top(Frame::open_angle);
        }
        self.last = Last::OPERATOR;
    }

    fn greater(&mut self) {
        self.at += 1;
        self.top(Frame::close_angle);
        if self.peek(0) == Some(b'=') {
            self.at += 1;
        }
        self.last = Last { unclear: true, parameters: true, ..Last::NONE };
    }

    fn other_operator(&mut self, byte: u8, next: Option<u8>) {
        let double = next == Some(byte);
        self.at += if double { 2 } else { 1 };
        if byte == b'*' && double {
            self.deeper_prefix();
        } else if (byte == b'|' || byte == b'&') && !double {
            self.top(|frame| frame.prefix = 0);
        } else {
            self.binary_operator();
        }
        self.assignment_sign();
        self.last = Last::OPERATOR;
    }

    fn assignment_sign(&mut self) {
        if self.peek(0) == Some(b'=') {
            self.at += 1;
            self.deeper_expression();
        }
    }

    fn open(&mut self, byte: u8) {
        let outer = self.frames.last().is_some_and(|frame| frame.guess);
        let before = self.last;
        let bracket = match byte {
            b'(' => Bracket::Paren,
            b'[' => Bracket::Square,
            _ => Bracket::Brace,
        };
        let mut frame = Frame::new(bracket, self.at);
        match byte {
            b'(' => {
                frame.head = before.head;
                frame.guess = before.parameters || (!before.operand && !before.head);
            }
            _ => frame.guess = outer && before.value,
        }
        frame.value = byte == b'{' && before.value;
        self.at += 1;
        self.push(frame);
        self.last = if byte == b'{' && !frame.value { Last::NONE } else { Last::OPERATOR };
    }

    fn close(&mut self, byte: u8) {
        self.at += 1;
        let bracket = match byte {
            b')' => Bracket::Paren,
            b']' => Bracket::Square,
            _ => Bracket::Brace,
        };
        let Some(frame) = self.frames.last().copied() else { return };
        if bracket == Bracket::Brace && frame.bracket == Bracket::Template {
            self.pop();
            self.template();
            return;
        }
        if frame.bracket == bracket && self.frames.len() > 1 {
            self.pop();
        }
        self.last = match bracket {
            Bracket::Paren if frame.head => Last::NONE,
            Bracket::Brace if frame.value => Last { brace: true, ..Last::OPERAND },
            Bracket::Brace => Last { brace: true, unclear: true, ..Last::NONE },
            _ => Last::OPERAND,
        };
    }

    fn word(&mut self) {
        let start = self.at;
        while self.peek(0).is_some_and(word::is_part) && !self.at_separator() {
            self.at += 1;
        }
        let text = self.bytes.get(start..self.at).unwrap_or_default();
        let word = if self.last.dot { word::Word::Name } else { word::Word::of(text) };
        let ends = self.statement_over || self.last.brace || (self.newline && self.last.operand);
        if ends && !word.continues() {
            self.end_statement();
        }
        self.statement_over = false;
        let after_for = self.last.is_for;
        self.last = word.last(after_for);
        match word.level() {
            word::Level::None => {}
            word::Level::Prefix => self.top(|frame| frame.prefix += 1),
            word::Level::Expression => self.deeper_expression(),
            word::Level::Statement => self.top(|frame| frame.statement += 1),
            word::Level::Binary => self.top(|frame| frame.prefix = 0),
            word::Level::Case => self.end_statement(),
        }
    }

    fn end_statement(&mut self) {
        self.statement_over = false;
        self.top(Frame::end_statement);
    }

    fn deeper_expression(&mut self) {
        self.top(|frame| frame.expression += 1);
    }

    fn deeper_prefix(&mut self) {
        self.top(|frame| frame.prefix += 1);
        self.last = Last::OPERATOR;
    }

    fn binary_operator(&mut self) {
        self.top(Frame::binary_operator);
    }

    /// Changes the innermost frame and keeps the sums right.
    fn top(&mut self, change: impl FnOnce(&mut Frame)) {
        if let Some(frame) = self.frames.last_mut() {
            self.levels -= frame.levels();
            self.guesses -= frame.guesses();
            change(frame);
            self.levels += frame.levels();
            self.guesses += frame.guesses();
        }
    }

    fn push(&mut self, frame: Frame) {
        self.levels += frame.levels();
        self.guesses += frame.guesses();
        self.frames.push(frame);
    }

    fn pop(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.levels -= frame.levels();
            self.guesses -= frame.guesses();
        }
    }
}

#[cfg(test)]
mod tests;
