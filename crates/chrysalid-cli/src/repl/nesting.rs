//! Whether a program that is being typed goes on in the next line: a bracket, a template literal or a comment is open, or
//! a string ends in a backslash.
//!
//! This is no parser. It reads each byte once, keeps what is open, and knows a regular expression by what stands before
//! it. A quote or a bracket that no further line can close counts as the end, so that the engine says what is wrong.

/// Words before which a value ends nothing, so that a slash behind them begins a regular expression.
const WORDS: [&[u8]; 16] = [
    b"await",
    b"case",
    b"delete",
    b"do",
    b"else",
    b"extends",
    b"in",
    b"instanceof",
    b"new",
    b"of",
    b"return",
    b"throw",
    b"typeof",
    b"void",
    b"while",
    b"yield",
];

/// What is open at the end of the lines so far.
#[derive(Debug, Default)]
pub(super) struct Nesting {
    open: Vec<Open>,
    within: Within,
    before: Before,
    broken: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Round,
    Square,
    Curly,
    /// `${` in a template literal.
    Substitution,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Code,
    Comment,
    Template,
    Quoted(u8),
}

/// What a slash would stand behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Operator,
    Operand,
}

impl Nesting {
    /// Of a whole text.
    pub(super) fn of(text: &str) -> Self {
        let mut nesting = Self::default();
        text.split('\n').for_each(|line| nesting.feed(line));
        nesting
    }

    /// Whether the program goes on.
    pub(super) fn is_open(&self) -> bool {
        !self.broken && (self.within != Within::Code || !self.open.is_empty())
    }

    /// Reads one more line, without its end.
    pub(super) fn feed(&mut self, line: &str) {
        let mut rest = line.strip_suffix('\r').unwrap_or(line).as_bytes();
        // Once no slash of the line ends a regular expression, none of its later slashes begins one.
        let mut regexps = true;
        while let (false, Some((first, behind))) = (self.broken, rest.split_first()) {
            rest = match self.within {
                Within::Code => self.code(*first, behind, &mut regexps),
                Within::Comment => self.comment(*first, behind),
                Within::Template => self.template(*first, behind),
                Within::Quoted(quote) => self.quoted(quote, *first, behind),
            };
        }
        if matches!(self.within, Within::Quoted(_)) && !goes_on(line) {
            self.broken = true;
        }
    }

    fn code<'t>(&mut self, first: u8, behind: &'t [u8], regexps: &mut bool) -> &'t [u8] {
        match first {
            b' ' | b'\t' => {}
            b'\'' | b'"' => self.within = Within::Quoted(first),
            b'`' => self.within = Within::Template,
            b'(' => self.push(Open::Round),
            b'[' => self.push(Open::Square),
            b'{' => self.push(Open::Curly),
            b')' | b']' | b'}' => self.close(first),
            b'/' => return self.slash(behind, regexps),
            // `a++ / b`: what stands before it decides.
            b'+' | b'-' if behind.first() == Some(&first) => return behind.get(1..).unwrap_or_default(),
            _ if is_word(first) => {
                let length = behind.iter().position(|byte| !is_word(*byte)).unwrap_or(behind.len());
                let (more, behind) = behind.split_at_checked(length).unwrap_or((behind, &[]));
                let is_operator =
                    WORDS.iter().any(|word| word.split_first().is_some_and(|word| (*word.0, word.1) == (first, more)));
                self.before = if is_operator { Before::Operator } else { Before::Operand };
                return behind;
            }
            _ => self.before = Before::Operator,
        }
        behind
    }

    fn push(&mut self, open: Open) {
        self.open.push(open);
        self.before = Before::Operator;
    }

    fn close(&mut self, bracket: u8) {
        self.before = if bracket == b'}' { Before::Operator } else { Before::Operand };
        match (self.open.pop(), bracket) {
            (Some(Open::Round), b')') | (Some(Open::Square), b']') | (Some(Open::Curly), b'}') => {}
            (Some(Open::Substitution), b'}') => self.within = Within::Template,
            _ => self.broken = true,
        }
    }

    fn slash<'t>(&mut self, behind: &'t [u8], regexps: &mut bool) -> &'t [u8] {
        match behind.split_first() {
            Some((b'/', _)) => return &[],
            Some((b'*', comment)) => {
                self.within = Within::Comment;
                return comment;
            }
            _ => {}
        }
        if self.before == Before::Operator && *regexps {
            if let Some(end) = regexp_end(behind) {
                self.before = Before::Operand;
                return behind.get(end..).unwrap_or_default();
            }
            *regexps = false;
        }
        self.before = Before::Operator;
        behind
    }

    fn comment<'t>(&mut self, first: u8, behind: &'t [u8]) -> &'t [u8] {
        if let (b'*', Some((b'/', behind))) = (first, behind.split_first()) {
            self.within = Within::Code;
            return behind;
        }
        behind
    }

    fn template<'t>(&mut self, first: u8, behind: &'t [u8]) -> &'t [u8] {
        match (first, behind.split_first()) {
            (b'\\', Some((_, behind))) => behind,
            (b'$', Some((b'{', behind))) => {
                self.within = Within::Code;
                self.push(Open::Substitution);
                behind
            }
            (b'`', _) => {
                self.within = Within::Code;
                self.before = Before::Operand;
                behind
            }
            _ => behind,
        }
    }

    fn quoted<'t>(&mut self, quote: u8, first: u8, behind: &'t [u8]) -> &'t [u8] {
        match (first, behind.split_first()) {
            (b'\\', Some((_, behind))) => behind,
            (first, _) if first == quote => {
                self.within = Within::Code;
                self.before = Before::Operand;
                behind
            }
            _ => behind,
        }
    }
}

/// Whether a string goes on behind this line: it ends in a backslash that no other one escapes.
fn goes_on(line: &str) -> bool {
    let line = line.strip_suffix('\r').unwrap_or(line);
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Where a regular expression ends, behind its second slash.
fn regexp_end(text: &[u8]) -> Option<usize> {
    let (mut class, mut escaped) = (false, false);
    for (place, byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'[' => class = true,
            b']' => class = false,
            b'/' if !class => return Some(place + 1),
            _ => {}
        }
    }
    None
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Nesting;

    #[test]
    fn what_is_open_goes_on() {
        let open = [
            "f(",
            "[1,",
            "const f = () => {",
            "`a",
            "`a${",
            "`a${b}",
            "`${`",
            "`${{",
            "`\\`",
            "/* a",
            "/* a\n*",
            "'a\\",
            "'a\\\n\\",
            "\"it's\\",
            "({ a: '}'",
            "f(/[)]/",
            "f(/\\)/",
            "return /[/(]/.test(",
            "a / (b / ",
            "x = a++ / (",
            "// a\n(",
            "`a\n\n",
            "{ /[/]{/",
            "[/'/, ",
            "a /* ( */ + (",
            "'a\\\r",
            "(\r",
        ];
        for text in open {
            assert!(Nesting::of(text).is_open(), "{text:?}");
        }
    }

    #[test]
    fn what_is_closed_or_broken_ends() {
        let closed = [
            "",
            "1 + 1",
            "f(1)",
            "`a${b}c`",
            "`a\n${{}}\n`",
            "/* a */",
            "// (",
            "'('",
            "'it\\'s ('",
            "\"a",
            "'a",
            "'a\nb'",
            "'a\\\\",
            "a)",
            "(]",
            "(}",
            "`${)",
            "/[(]/",
            "/(/",
            "a = /\\/(/g",
            "b.match(/'/)",
            "1 / 2 // '(",
            "a++ / 2 / '('.length",
            "/=(/",
            "x => /(/",
            "return /(/",
            "'a\\\nb'",
            "({}) / 2",
            "/* a\n*/",
            "é / 2",
            "'\\\\'",
            "`\\``",
            "`$`",
            "`$$`",
        ];
        for text in closed {
            assert!(!Nesting::of(text).is_open(), "{text:?}");
        }
    }

    #[test]
    fn lines_one_by_one_are_the_whole_text() {
        let text = "f(`a ${\n{ b: /[`]/ }\n} (`, 'c\\\nd',\n/* ) */\n)";
        let mut nesting = Nesting::default();
        let open: Vec<bool> = text
            .split('\n')
            .map(|line| {
                nesting.feed(line);
                nesting.is_open()
            })
            .collect();
        assert_eq!(open, [true, true, true, true, true, false]);
    }

    #[test]
    fn odd_input_takes_no_longer_than_its_length() {
        let begin = Instant::now();
        for odd in ["[/", "/[", "=/[/", "`${", "/*", "'\\", "*/", "((((", "a/", "\\", "é/", "{`"] {
            let _ = Nesting::of(&odd.repeat((256 << 10) / odd.len())).is_open();
            let _ = Nesting::of(&format!("{odd}\n").repeat(64 << 10)).is_open();
        }
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    }
}
