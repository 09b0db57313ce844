//! The words that matter for nesting.

use super::Last;

/// Bytes of names, keywords and numbers. Everything that is not ASCII counts as part of a name.
pub(super) fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#' | b'\\') || byte >= 0x80
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// A name, a number, or a keyword that does not matter here.
    Name,
    Async,
    Await,
    /// `catch`, `finally`: they go on with a statement.
    Clause,
    Case,
    Do,
    Else,
    Extends,
    For,
    /// `if`, `while`, `with`.
    Head,
    /// `in`, `instanceof`, `of`, `as`, `satisfies`.
    Operator,
    /// `new`, `typeof`, `void`, `delete`.
    Prefix,
    /// `return`, `throw`.
    Return,
    /// A prefix in some places, a name in others: `yield`, and in types `keyof` and the like.
    SoftPrefix,
}

/// What a word adds to the nesting.
pub(super) enum Level {
    None,
    Prefix,
    Expression,
    Statement,
    /// It ends the operand before it.
    Binary,
    /// It begins a statement, whatever stood before.
    Case,
}

impl Word {
    pub(super) fn of(text: &[u8]) -> Self {
        match text {
            b"async" => Self::Async,
            b"await" => Self::Await,
            b"catch" | b"finally" => Self::Clause,
            b"case" | b"default" => Self::Case,
            b"do" => Self::Do,
            b"else" => Self::Else,
            b"extends" => Self::Extends,
            b"for" => Self::For,
            b"if" | b"while" | b"with" => Self::Head,
            b"in" | b"instanceof" | b"of" | b"as" | b"satisfies" => Self::Operator,
            b"new" | b"typeof" | b"void" | b"delete" => Self::Prefix,
            b"return" | b"throw" => Self::Return,
            b"yield" | b"keyof" | b"readonly" | b"unique" | b"infer" | b"asserts" => Self::SoftPrefix,
            _ => Self::Name,
        }
    }

    /// Whether it goes on with what stands before a line end.
    pub(super) fn continues(self) -> bool {
        matches!(self, Self::Else | Self::Clause | Self::Operator | Self::Extends)
    }

    pub(super) fn level(self) -> Level {
        match self {
            Self::Name | Self::Async | Self::Clause | Self::Else | Self::Return => Level::None,
            Self::Await | Self::Prefix | Self::SoftPrefix => Level::Prefix,
            Self::Extends => Level::Expression,
            Self::Do | Self::For | Self::Head => Level::Statement,
            Self::Operator => Level::Binary,
            Self::Case => Level::Case,
        }
    }

    pub(super) fn last(self, after_for: bool) -> Last {
        match self {
            Self::Name | Self::Clause => Last::OPERAND,
            Self::Async => Last { parameters: true, ..Last::OPERAND },
            Self::Await if after_for => Last { head: true, ..Last::NONE },
            Self::Await | Self::SoftPrefix | Self::Operator => Last { unclear: true, ..Last::OPERATOR },
            Self::Do | Self::Else => Last::NONE,
            Self::Case | Self::Extends | Self::Prefix => Last::OPERATOR,
            Self::For => Last { head: true, is_for: true, ..Last::NONE },
            Self::Head => Last { head: true, ..Last::NONE },
            Self::Return => Last { restricted: true, ..Last::OPERATOR },
        }
    }
}
