//! The tools of a session in words for a model: TypeScript declarations, a short list, search, near names.
//!
//! Names, descriptions and schemas come from third parties. Whatever they hold, the text is valid TypeScript, descriptions
//! stay inside their comments, sizes are bounded, and equal sets of tools give equal bytes.

mod arguments;
mod comment;
mod facts;
mod interpreter;
mod list;
mod names;
mod paths;
mod pointer;
mod schema;
mod search;
mod shared;
mod signature;
#[cfg(test)]
mod tests;
mod types;

use std::sync::Arc;

use serde_json::Value as Json;

pub(crate) use arguments::{complaint, unknown_fields};
pub use interpreter::{InterpreterOptions, Lifetime, interpreter_description};
pub(crate) use paths::CatalogueError;
use paths::Paths;
use schema::Document;
pub(crate) use search::DEFAULT_LIMIT;
use search::Words;
use shared::SharedNames;
use signature::{Member, Members, Signature};

/// Characters of the line that a list has for a tool.
const MAX_SUMMARY: usize = 80;

/// One tool as the catalogue sees it.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    /// The raw name; dots make namespaces.
    pub(crate) name: String,
    pub(crate) description: String,
    /// JSON Schema of the argument.
    pub(crate) schema: Option<Json>,
    /// JSON Schema of the result.
    pub(crate) returns: Option<Json>,
    /// Whether a person may be asked first.
    pub(crate) asks: bool,
    /// Whether its result is a handle.
    pub(crate) gives_handle: bool,
    /// Whether it is a global function.
    pub(crate) global: bool,
}

/// How much of a catalogue is shown in full.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CatalogueBudget {
    /// Tools up to which their types are shown. Default 200.
    pub tools: usize,
    /// Characters of the declarations up to which they are shown. Default 4,000.
    pub characters: usize,
    /// Characters of the list that is shown instead, its introduction not counted. Default 8,000.
    pub list_characters: usize,
}

impl Default for CatalogueBudget {
    fn default() -> Self {
        Self { tools: 200, characters: 4_000, list_characters: 8_000 }
    }
}

/// A tool that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CatalogueHit {
    /// Its raw name.
    pub name: String,
    /// How a program writes it, such as `tools.searchDocs`.
    pub call: String,
    /// The first sentence of its description, at most 80 characters.
    pub summary: String,
}

/// The tools of a session in words for a model. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    inner: Arc<Inner>,
}

/// Tools sorted by name. Documents are two for each tool: what it takes and what it gives.
#[derive(Debug, Default)]
struct Inner {
    tools: Vec<Entry>,
    names: SharedNames,
}

#[derive(Debug)]
struct Entry {
    name: String,
    paths: Paths,
    /// A global function, by its name.
    global: bool,
    comment: Vec<String>,
    summary: String,
    words: Words,
    signature: Signature,
}

impl Catalogue {
    /// The catalogue of these tools, in whatever order they come.
    ///
    /// # Errors
    /// When a name is malformed or reserved, or two tools cannot both be reached.
    pub(crate) fn new(mut tools: Vec<Tool>) -> Result<Self, CatalogueError> {
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let paths = paths::place(&names)?;
        tools.iter().filter(|tool| tool.global).try_for_each(|tool| paths::check_global(&tool.name))?;
        let tools: Vec<Entry> = tools.iter().zip(paths).map(|(tool, paths)| Entry::new(tool, paths)).collect();
        let owners: Vec<String> =
            tools.iter().flat_map(|tool| ["input", "output"].map(|side| format!("{}\0{side}", tool.name))).collect();
        let names = SharedNames::new(&documents(&tools), &owners);
        Ok(Self { inner: Arc::new(Inner { tools, names }) })
    }

    /// TypeScript declarations of all tools, or a list when they are over the budget. Equal for equal sets of tools.
    pub fn text(&self, budget: &CatalogueBudget) -> String {
        let inner = &self.inner;
        if inner.tools.len() <= budget.tools {
            let mut members = Members::default();
            (0..inner.tools.len()).for_each(|index| inner.add(&mut members, index));
            let types = inner.names.declarations(&documents(&inner.tools), None);
            let text = parted(&types, &members.declaration());
            if text.chars().count() <= budget.characters {
                return text;
            }
        }
        let lines: Vec<list::Line<'_>> = inner.tools.iter().map(Entry::line).collect();
        list::text(&lines, budget.list_characters)
    }

    /// Tools whose names and descriptions have words of the query, best first. At least 1 and at most 20; near names when
    /// no word is found.
    pub fn search(&self, query: &str, limit: usize) -> Vec<CatalogueHit> {
        let limit = limit.clamp(1, search::MAX_LIMIT);
        let words = search::query_words(query);
        let scored = self.inner.tools.iter().map(|entry| (entry.words.score(&words), entry));
        let mut found: Vec<(usize, &Entry)> = scored.filter(|(score, _)| *score > 0).collect();
        found.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.name.cmp(&other.name)));
        let mut hits: Vec<&Entry> = found.into_iter().map(|(_, entry)| entry).collect();
        if hits.is_empty() {
            hits = self.near(query).into_iter().filter_map(|name| self.entry(name)).collect();
        }
        hits.into_iter().take(limit).map(Entry::hit).collect()
    }

    /// The declarations of one tool, with its types. Takes a raw name or an alias; `None` when there is no such tool.
    pub fn describe(&self, name: &str) -> Option<String> {
        let inner = &self.inner;
        let name = if self.entry(name).is_some() { name } else { name.strip_prefix("tools.")? };
        let entry = self.entry(name)?;
        let index = inner.tools.iter().position(|other| other.name == entry.name)?;
        let mut members = Members::default();
        inner.add(&mut members, index);
        let only = [index * 2, index * 2 + 1];
        let types = inner.names.declarations(&documents(&inner.tools), Some(&only));
        Some(parted(&types, &members.declaration()))
    }

    /// How a program reaches a tool, such as `tools.mail.send`.
    pub fn expression(&self, name: &str) -> Option<String> {
        self.entry(name).map(Entry::call)
    }

    /// Whether there is no tool.
    pub fn is_empty(&self) -> bool {
        self.inner.tools.is_empty()
    }

    /// Paths under `tools` that are not raw names, each with the raw name that it calls.
    pub fn aliases(&self) -> impl Iterator<Item = (&str, &str)> {
        self.inner.tools.iter().filter_map(|entry| Some((entry.paths.alias.as_deref()?, entry.name.as_str())))
    }

    /// All paths under `tools`, dots between their parts, each with the raw name that it calls. A tool whose raw name
    /// ends in `then` or `toJSON` stands at its alias only.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (&str, &str)> {
        let raw = self.inner.tools.iter().filter(|entry| entry.paths.raw);
        raw.map(|entry| (entry.name.as_str(), entry.name.as_str())).chain(self.aliases())
    }

    /// Raw names that may have been meant by an unknown one, best first, at most 3.
    pub(crate) fn near(&self, name: &str) -> Vec<&str> {
        names::near(name, self.inner.tools.iter().map(|entry| entry.name.as_str()), 3)
    }

    /// What a program is told that calls a tool which is not there.
    pub(crate) fn unknown_tool(&self, name: &str) -> String {
        let shown: String = name.chars().take(40).collect();
        let near: Vec<String> =
            self.near(name).into_iter().filter_map(|name| self.entry(name)).map(Entry::call).collect();
        let missing = format!("{} does not exist", names::expression(&shown));
        match near.split_last() {
            None => format!("{missing}."),
            Some((only, [])) => format!("{missing}. Did you mean {only}?"),
            Some((last, rest)) => format!("{missing}. Did you mean {} or {last}?", rest.join(", ")),
        }
    }

    /// The entry of a raw name, else of an alias.
    fn entry(&self, name: &str) -> Option<&Entry> {
        let tools = &self.inner.tools;
        let raw = tools.binary_search_by(|entry| entry.name.as_str().cmp(name)).ok();
        let alias = || tools.iter().position(|entry| entry.paths.alias.as_deref() == Some(name));
        tools.get(raw.or_else(alias)?)
    }
}

impl Inner {
    fn add<'a>(&'a self, members: &mut Members<'a>, index: usize) {
        let Some(entry) = self.tools.get(index) else { return };
        let member = Member {
            comment: entry.comment.clone(),
            signature: &entry.signature,
            input_names: self.names.of(index * 2),
            output_names: self.names.of(index * 2 + 1),
        };
        if entry.global {
            members.add_global(&entry.name, member);
        } else {
            members.add(entry.path(), member);
        }
    }
}

impl Entry {
    fn new(tool: &Tool, paths: Paths) -> Self {
        let mut comment = comment::lines(&tool.description);
        if paths.alias.is_some() {
            comment.push(format!("Its name is {}.", names::quote(&tool.name)));
        }
        if tool.asks {
            comment.push("A person may be asked before it runs.".to_owned());
        }
        if tool.gives_handle {
            let way =
                "Returns an opaque handle: pass it to another tool as it is; `await reveal(handle)` gives its value.";
            comment.push(way.to_owned());
        }
        Self {
            name: tool.name.clone(),
            paths,
            global: tool.global,
            comment,
            summary: comment::summary(&tool.description, MAX_SUMMARY),
            words: Words::of(&tool.name, &tool.description),
            signature: Signature::read(&tool.name, tool.schema.as_ref(), tool.returns.as_ref()),
        }
    }

    /// The path that is shown.
    fn path(&self) -> &str {
        self.paths.alias.as_deref().unwrap_or(&self.name)
    }

    fn call(&self) -> String {
        if self.global {
            return self.name.clone();
        }
        names::expression(self.path())
    }

    fn line(&self) -> list::Line<'_> {
        list::Line { call: self.call(), raw: &self.name, summary: self.summary.clone() }
    }

    fn hit(&self) -> CatalogueHit {
        CatalogueHit { name: self.name.clone(), call: self.call(), summary: self.summary.clone() }
    }
}

fn documents(tools: &[Entry]) -> Vec<&Document> {
    tools.iter().flat_map(|tool| [&tool.signature.input, &tool.signature.output]).collect()
}

fn parted(types: &str, members: &str) -> String {
    if types.is_empty() { members.to_owned() } else { format!("{types}\n{members}") }
}
