//! What a text may be that is not JavaScript. Asked only after it did not parse, or failed at its first name.

use super::place::{Place, split_line};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Shell,
    Python,
}

/// The language that the lines around the parser's error speak, if that is plain.
pub(super) fn guess(text: &str, error: Place) -> Option<Language> {
    let lines = Lines { rest: Some(text) };
    let error_line = usize::try_from(error.line).unwrap_or(usize::MAX);
    let mut first = true;
    for (index, line) in lines.enumerate() {
        let number = index + 1;
        if number > error_line.saturating_add(1) {
            break;
        }
        if is_remark(line) {
            continue;
        }
        let near = number.saturating_add(1) >= error_line;
        if first && number >= error_line && is_shell(line) {
            return Some(Language::Shell);
        }
        first = false;
        if near && is_python(line) {
            return Some(Language::Python);
        }
        // A `#` remark is where JavaScript stops; what counts then is the line behind the remarks.
        if number > error_line {
            break;
        }
    }
    None
}

/// The command of a line with options or a path, alone in the text, that happens to be a subtraction or a division:
/// `ls -la /workspace`. Nobody writes those operators with a space before them only.
pub(super) fn plain_command(text: &str) -> Option<&str> {
    let line = text.trim();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b" -/._~".contains(&byte);
    let (command, rest) = line.split_once(' ').filter(|_| line.len() <= 200 && line.bytes().all(plain))?;
    let argument = rest.strip_prefix(['-', '/'])?;
    let is_command = COMMANDS.contains(&command)
        && argument.starts_with(|first: char| first.is_ascii_alphabetic())
        && !rest.contains(" - ")
        && !rest.contains(" / ");
    is_command.then_some(command)
}

struct Lines<'a> {
    rest: Option<&'a str>,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest.take()?;
        let Some((line, after)) = split_line(rest) else { return Some(rest) };
        self.rest = Some(after);
        Some(line)
    }
}

fn is_remark(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with("# ") || line.starts_with("#!") || line == "#"
}

const COMMANDS: &[&str] = &[
    "apt", "apt-get", "awk", "bash", "brew", "bun", "cargo", "cat", "cd", "chmod", "chown", "cp", "curl", "deno", "df",
    "docker", "du", "echo", "env", "export", "find", "gh", "git", "go", "grep", "head", "jq", "kill", "kubectl", "ln",
    "ls", "make", "mkdir", "mv", "node", "npm", "npx", "pip", "pip3", "pnpm", "ps", "pwd", "python", "python3", "rg",
    "rm", "rmdir", "rsync", "scp", "sed", "sh", "sort", "ssh", "sudo", "tail", "tar", "touch", "tree", "unzip", "uv",
    "wc", "wget", "which", "xargs", "yarn", "zip",
];

/// `command argument …`, where the argument is none of JavaScript's operators.
fn is_shell(line: &str) -> bool {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("$ ") {
        return rest.starts_with(|character: char| character.is_ascii_alphabetic() || "./~".contains(character));
    }
    if line.starts_with("./") && !line.contains(['(', ';', '=']) {
        return true;
    }
    let (command, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    if !COMMANDS.contains(&command) {
        return false;
    }
    let rest = rest.trim_start();
    if command == "export" {
        // `export NAME=value`; JavaScript's own begin with a keyword or a bracket.
        return rest.split_once('=').is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(is_name_byte));
    }
    let second = rest.chars().next();
    let option = rest
        .strip_prefix('-')
        .is_some_and(|rest| rest.starts_with(|character: char| character.is_ascii_alphanumeric() || character == '-'));
    option
        || rest.starts_with("&& ")
        || rest.starts_with("| ")
        || rest.starts_with("> ")
        || second.is_some_and(|character| character.is_alphanumeric() || "/.~$\"'*_@".contains(character))
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_python(line: &str) -> bool {
    let line = line.trim();
    let (word, rest) = line.split_once(|character: char| !character.is_alphanumeric()).unwrap_or((line, ""));
    let block = without_remark(line).ends_with(':') && !line.contains('{');
    let by_word = match word {
        "def" | "elif" | "except" => block || (word == "def" && rest.contains("):")),
        "async" => rest.trim_start().starts_with("def "),
        "class" | "try" | "else" | "finally" | "with" | "while" | "if" => block,
        "for" => block || (rest.contains(" in ") && !rest.starts_with(['(', ' ']) && rest.ends_with(':')),
        "from" => rest.contains(" import "),
        "import" => !rest.contains(['"', '\'', '`', '(', '{', '*']),
        "print" => {
            line.strip_prefix("print ").is_some_and(|rest| rest.starts_with(['"', '\'']) || rest.starts_with("f\""))
        }
        "pass" => line == "pass",
        "raise" | "assert" | "del" | "global" | "nonlocal" => {
            !rest.is_empty() && !line.ends_with(';') && !rest.starts_with(['(', '.', '='])
        }
        _ => false,
    };
    by_word || (!line.contains("//") && has_python_inside(line))
}

/// Formatted strings, `lambda`, and operators in words.
fn has_python_inside(line: &str) -> bool {
    let starts = |mark: &str| {
        line.match_indices(mark).any(|(at, _)| {
            line.get(..at)
                .is_none_or(|before| !before.ends_with(|last: char| last.is_alphanumeric() || "_\"'`".contains(last)))
        })
    };
    starts("f\"")
        || starts("f'")
        || (starts("lambda ") && line.contains(':'))
        || starts("not in ")
        || line.contains(" for ") && line.contains(" in ") && line.contains('[')
        || line.contains(" if ") && line.contains(" else ") && !line.contains(['{', ';']) && !line.contains("if (")
        || line.contains(" and ") && !line.contains(['"', '\'', '`'])
        || line.contains(" is not None")
        || line.contains(" is None")
}

fn without_remark(line: &str) -> &str {
    line.split_once(" #").map_or(line, |(code, _)| code).trim_end()
}

#[cfg(test)]
mod tests;
