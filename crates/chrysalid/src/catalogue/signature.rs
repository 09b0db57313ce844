//! One tool as TypeScript: its parameter, its result, and its place in `tools`.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::schema::Document;
use super::types::{Key, Type};
use super::{comment, names};

/// What a tool takes and gives, read from its schemas.
#[derive(Debug)]
pub(super) struct Signature {
    pub(super) input: Document,
    pub(super) output: Document,
}

impl Signature {
    pub(super) fn read(tool: &str, input: Option<&Json>, output: Option<&Json>) -> Self {
        let anything = Json::Bool(true);
        Self {
            input: Document::read(input.unwrap_or(&anything), &format!("{tool} input")),
            output: Document::read(output.unwrap_or(&anything), &format!("{tool} output")),
        }
    }

    /// `(input: { query: string }): Promise<unknown>` for a line that has come to `column`.
    pub(super) fn text(&self, input_names: &[String], output_names: &[String], indent: usize, column: usize) -> String {
        let input = self.parameter(input_names, indent, column + 1);
        let last = input.rsplit('\n').next().unwrap_or_default().chars().count();
        let column = if input.contains('\n') { last } else { column + last } + 12;
        format!("({input}): Promise<{}>", self.output.body.text(output_names, indent, column))
    }

    /// A tool that is called with nothing gets `{}`, so an argument without required fields may be left out.
    fn parameter(&self, names: &[String], indent: usize, column: usize) -> String {
        let body = &self.input.body;
        let optional = match self.input.resolved(body) {
            Type::Object(fields) if fields.is_empty() => return String::new(),
            Type::Object(fields) => fields.iter().all(|field| !matches!(field.key, Key::Required(_))),
            of => of.is_unknown(),
        };
        let head = if optional { "input?: " } else { "input: " };
        format!("{head}{}", body.text(names, indent, column + head.len()))
    }
}

/// The members of `tools`, by their paths, and global functions.
#[derive(Default)]
pub(super) struct Members<'a> {
    tool: Option<Member<'a>>,
    globals: BTreeMap<&'a str, Member<'a>>,
    inner: BTreeMap<&'a str, Members<'a>>,
}

/// A tool with the comment over it.
pub(super) struct Member<'a> {
    pub(super) comment: Vec<String>,
    pub(super) signature: &'a Signature,
    pub(super) input_names: &'a [String],
    pub(super) output_names: &'a [String],
}

impl<'a> Members<'a> {
    pub(super) fn add(&mut self, path: &'a str, member: Member<'a>) {
        let place = path.split('.').fold(self, |place, part| place.inner.entry(part).or_default());
        place.tool = Some(member);
    }

    pub(super) fn add_global(&mut self, name: &'a str, member: Member<'a>) {
        self.globals.insert(name, member);
    }

    /// `declare function task(…): …;` for each global, and `declare const tools: { … };` if there are others or nothing.
    pub(super) fn declaration(&self) -> String {
        let mut text = String::new();
        for (name, member) in &self.globals {
            let head = format!("declare function {name}");
            let signature = member.signature.text(member.input_names, member.output_names, 0, head.chars().count());
            text.push_str(&comment::block(&member.comment, 0));
            text.extend([&head, &signature, ";\n"]);
        }
        if self.inner.is_empty() {
            if self.globals.is_empty() {
                text.push_str("declare const tools: {};\n");
            }
            return text;
        }
        text.push_str("declare const tools: {\n");
        self.write(&mut text, 2);
        text.push_str("};\n");
        text
    }

    /// A name has at most 256 bytes, so namespaces are at most 128 deep.
    fn write(&self, text: &mut String, indent: usize) {
        let pad = " ".repeat(indent);
        for (part, members) in &self.inner {
            let key = names::key(part);
            if let Some(member) = &members.tool {
                let column = indent + key.chars().count();
                let signature = member.signature.text(member.input_names, member.output_names, indent, column);
                text.push_str(&comment::block(&member.comment, indent));
                text.extend([&pad, key.as_str(), &signature, ";\n"]);
            }
            if !members.inner.is_empty() {
                text.extend([&pad, key.as_str(), ": {\n"]);
                members.write(text, indent + 2);
                text.extend([&pad, "};\n"]);
            }
        }
    }
}
