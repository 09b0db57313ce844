//! The commands of the prompt: a dot and a word, and what is behind it.

use std::path::PathBuf;

/// What `.help` prints.
pub(super) const HELP: &str = "\
.calls        calls of the last program, and how they ended
.cancel       end the program that waits; what the session holds stays
.clear        begin with a fresh session
.exit         end, as Ctrl-D does
.help         this
.limits       limits of the session, and CPU time used
.load FILE    go on with a saved session in place of this one
.resume       go on with the program that waits: ask for what is not decided
.save FILE    save the session, idle or waiting
.tools        tools that programs may call; .tools NAME declares one
";

/// What follows a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behind {
    Nothing,
    File,
    /// The name of a tool, or nothing.
    Tool,
}

/// Names and what follows them.
const NAMES: [(&str, Behind); 10] = [
    ("calls", Behind::Nothing),
    ("cancel", Behind::Nothing),
    ("clear", Behind::Nothing),
    ("exit", Behind::Nothing),
    ("help", Behind::Nothing),
    ("limits", Behind::Nothing),
    ("load", Behind::File),
    ("resume", Behind::Nothing),
    ("save", Behind::File),
    ("tools", Behind::Tool),
];
/// Longest word for which a near name is looked for, in characters.
const MAX_WORD: usize = 16;

/// One command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command {
    Calls,
    Cancel,
    Clear,
    Exit,
    Help,
    Limits,
    Load(PathBuf),
    Resume,
    Save(PathBuf),
    /// All tools, or one.
    Tools(Option<String>),
}

/// Whether a line is a command and not the beginning of a program: a dot before anything but a digit.
pub(super) fn is_command(line: &str) -> bool {
    line.trim_start().strip_prefix('.').is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
}

impl Command {
    /// Reads a line for which [`is_command`] holds; else says why not. What is behind the name is one name, blanks
    /// included.
    pub(super) fn parse(line: &str) -> Result<Self, String> {
        let line = line.trim().trim_start_matches('.');
        let (name, behind) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let behind = behind.trim();
        let Some((name, takes)) = NAMES.into_iter().find(|(known, _)| *known == name) else {
            return Err(unknown(name));
        };
        match (takes, behind.is_empty()) {
            (Behind::File, true) => return Err(format!("which file? write .{name} FILE")),
            (Behind::Nothing, false) => return Err(format!(".{name} stands alone, and nothing is expected behind it")),
            _ => {}
        }
        Ok(match name {
            "calls" => Self::Calls,
            "cancel" => Self::Cancel,
            "clear" => Self::Clear,
            "exit" => Self::Exit,
            "limits" => Self::Limits,
            "load" => Self::Load(behind.into()),
            "resume" => Self::Resume,
            "save" => Self::Save(behind.into()),
            "tools" => Self::Tools(Some(behind.to_owned()).filter(|name| !name.is_empty())),
            _ => Self::Help,
        })
    }
}

fn unknown(name: &str) -> String {
    let name: String = name.chars().take(MAX_WORD + 1).collect();
    let near: Vec<String> =
        NAMES.iter().filter(|(known, _)| is_near(&name, known)).map(|(known, _)| format!(".{known}")).collect();
    match near.as_slice() {
        [] => format!("no command .{name}; .help lists them"),
        near => format!("no command .{name}; is it {}?", near.join(" or ")),
    }
}

/// Whether a word is the beginning of a name, or at most two letters off; one letter for a short word.
fn is_near(word: &str, name: &str) -> bool {
    let letters = word.chars().count();
    if letters == 0 || letters > MAX_WORD {
        return false;
    }
    name.starts_with(word) || distance(word, name) <= if letters < 4 { 1 } else { 2 }
}

/// Letters to insert, remove or replace to make one word the other.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.chars().count()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut left = line + 1;
        let mut next = vec![left];
        for (pair, wanted) in row.windows(2).zip(other.chars()) {
            let [diagonal, above] = pair else { continue };
            left = (diagonal + usize::from(letter != wanted)).min(above + 1).min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Command, HELP, NAMES, distance, is_command};

    #[test]
    fn a_number_or_a_spread_is_no_command() {
        for line in [".help", " .x", ".", ". 5"] {
            assert!(is_command(line), "{line}");
        }
        for line in ["", "1", ".5 + 1", "...a", "a.b"] {
            assert!(!is_command(line), "{line}");
        }
    }

    #[test]
    fn commands_are_read() {
        assert_eq!(Command::parse(".help"), Ok(Command::Help));
        assert_eq!(Command::parse(".tools"), Ok(Command::Tools(None)));
        assert_eq!(Command::parse(".tools mail.send "), Ok(Command::Tools(Some("mail.send".into()))));
        assert_eq!(Command::parse("  .save  my file.chry "), Ok(Command::Save("my file.chry".into())));
        let refused = [
            (".save", "which file? write .save FILE"),
            (".exit now", ".exit stands alone, and nothing is expected behind it"),
            (".sav", "no command .sav; is it .save?"),
            (".seve x", "no command .seve; is it .save?"),
            (".c", "no command .c; is it .calls or .cancel or .clear?"),
            (".laod x", "no command .laod; is it .load?"),
            (".Help", "no command .Help; is it .help?"),
            (".", "no command .; .help lists them"),
            (".frobnicate", "no command .frobnicate; .help lists them"),
            (".aaaaaaaaaaaaaaaaaaaaaaaaaa", "no command .aaaaaaaaaaaaaaaaa; .help lists them"),
        ];
        for (line, message) in refused {
            assert_eq!(Command::parse(line), Err(message.to_owned()), "{line}");
        }
    }

    #[test]
    fn help_names_every_command_once() {
        let named: Vec<&str> = HELP.lines().filter_map(|line| line.split(' ').next()?.strip_prefix('.')).collect();
        assert_eq!(named, NAMES.map(|(name, _)| name));
    }

    #[test]
    fn distances_are_those_of_letters() {
        let cases = [("", "abc", 3), ("abc", "abc", 0), ("kitten", "sitting", 3), ("é", "e", 1), ("ab", "ba", 2)];
        for (one, other, expected) in cases {
            assert_eq!(distance(one, other), expected, "{one} {other}");
        }
    }
}
