//! From bytes to programs: each byte chooses a text of the grammar, or what stands in one.

use super::grammar::{CALLS, COMPOUND, ENDS, EXPRESSIONS, KEPT, STATEMENTS, VALUES, VARIABLES};

/// Statements of one program, those in blocks included.
const MAX_STATEMENTS: u32 = 40;
const MAX_PROGRAMS: usize = 3;
/// Blocks within each other, and calls and expressions within a call.
const MAX_DEPTH: u32 = 4;

/// The programs that bytes mean, for one session; without bytes the smallest one.
pub(crate) fn programs(bytes: &[u8]) -> Vec<String> {
    let mut writer = Writer { rest: bytes, text: String::new(), names: 0, statements: 0, depth: 0, kept: Vec::new() };
    let mut programs = vec![writer.program("const seen = []; let v0 = 1, v1 = 'a', v2 = [1, 2];\n")];
    while !writer.rest.is_empty() && programs.len() < MAX_PROGRAMS {
        // A name may be declared again, and what closed over the old one keeps it.
        let head = ["seen.length = 0;\n", "let v0 = seen.splice(0).length;\n", "const seen = [v1];\n"];
        let head = head[writer.below(head.len())];
        programs.push(writer.program(head));
    }
    programs
}

struct Writer<'b> {
    rest: &'b [u8],
    text: String,
    /// Names made so far, so that none is declared twice.
    names: u32,
    statements: u32,
    depth: u32,
    /// What was declared at the top: its place in `KEPT`, and its number.
    kept: Vec<(usize, u32)>,
}

impl Writer<'_> {
    fn below(&mut self, count: usize) -> usize {
        let Some((first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        usize::from(*first) % count
    }

    fn one_of(&mut self, texts: &[&'static str]) -> &'static str {
        texts[self.below(texts.len())]
    }

    fn program(&mut self, head: &str) -> String {
        head.clone_into(&mut self.text);
        self.statements = 0;
        while !self.rest.is_empty() && self.statements < MAX_STATEMENTS {
            // One in thirty-two ends the program here.
            if self.statements > 2 && self.below(32) == 31 {
                break;
            }
            self.statement();
        }
        let value = self.one_of(VALUES);
        self.text.push_str(value);
        self.text.push('\n');
        std::mem::take(&mut self.text)
    }

    fn statement(&mut self) {
        self.statements += 1;
        let in_bounds = self.depth < MAX_DEPTH && self.statements < MAX_STATEMENTS;
        match self.below(16) {
            0..7 => self.simple(),
            7..11 if in_bounds => {
                let text = self.one_of(COMPOUND);
                self.write(text);
            }
            11 | 12 if self.depth == 0 => {
                let kind = self.below(KEPT.len());
                let number = self.write(KEPT[kind].0);
                self.kept.push((kind, number));
            }
            15 if self.depth > 0 && self.below(4) == 3 => {
                let text = self.one_of(ENDS);
                self.text.push_str("if (seen.length > 5) { ");
                self.write(text);
                self.text.push_str("}\n");
            }
            _ if !self.kept.is_empty() => {
                let index = self.below(self.kept.len());
                let (kind, number) = self.kept[index];
                let text = self.one_of(KEPT[kind].1);
                self.text.push_str("try { ");
                self.expand(text, number, 0);
                self.text.push_str(" } catch (e) { seen.push(['kept', e.name]); }\n");
            }
            _ => self.simple(),
        }
    }

    fn simple(&mut self) {
        let text = self.one_of(STATEMENTS);
        self.write(text);
    }

    /// A text as a line, with a number of its own.
    fn write(&mut self, text: &'static str) -> u32 {
        self.names += 1;
        let number = self.names;
        self.expand(text, number, 0);
        self.text.push('\n');
        number
    }

    fn expand(&mut self, text: &'static str, number: u32, level: u32) {
        let mut parts = text.split('$');
        self.text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let mut characters = part.chars();
            match characters.next() {
                Some('e') => {
                    let text = self.one_of(EXPRESSIONS);
                    self.text.push_str(text);
                }
                Some('v') => {
                    let text = self.one_of(VARIABLES);
                    self.text.push_str(text);
                }
                Some('c') => {
                    let texts = if level < MAX_DEPTH { CALLS } else { CALLS.split_at(5).0 };
                    let text = self.one_of(texts);
                    self.expand(text, number, level + 1);
                }
                Some('b') => {
                    self.depth += 1;
                    for _ in 0..=self.below(3) {
                        self.statement();
                    }
                    self.depth -= 1;
                }
                Some('n') => self.text.push_str(&number.to_string()),
                Some('m') => {
                    let millis = self.below(6) * 13 + self.below(3);
                    self.text.push_str(&millis.to_string());
                }
                Some('k') => {
                    let count = self.below(3) + 1;
                    self.text.push_str(&count.to_string());
                }
                // The dollar was the language's.
                _ => {
                    self.text.push('$');
                    characters = part.chars();
                }
            }
            self.text.push_str(characters.as_str());
        }
    }
}
