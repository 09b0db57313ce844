//! Names of types over all tools: an equal definition has one name and is written once, different ones never share one.
//!
//! The first tool by name keeps the plain name. A different definition of that name gets a suffix made of its own text,
//! so a tool that comes later renames as little as can be.

use std::collections::{BTreeMap, BTreeSet};

use super::comment;
use super::schema::{Definition, Document};
use super::types::Type;

/// Definitions and bytes that are compared; one that leads to more is not shared between tools.
const MAX_COMPARED: usize = 64;
const MAX_COMPARED_SIZE: usize = 16_000;
/// Bytes of all definitions that are kept for comparing; those of later tools are not shared.
const MAX_KEPT: usize = 8 << 20;

/// The final names of each document's definitions, and which of them are written.
#[derive(Debug, Default)]
pub(super) struct SharedNames {
    by_document: Vec<Vec<String>>,
    /// Final name to document and definition.
    written: BTreeMap<String, (usize, usize)>,
}

impl SharedNames {
    /// Names for these documents. `owners` says for each what no other document has.
    pub(super) fn new(documents: &[&Document], owners: &[String]) -> Self {
        let mut shared = Self::default();
        let mut by_content: BTreeMap<String, String> = BTreeMap::new();
        let mut kept = 0;
        for (index, document) in documents.iter().enumerate() {
            let owner = owners.get(index).map_or("", String::as_str);
            let contents = Contents::new(document);
            let mut names = Vec::with_capacity(document.definitions.len());
            for (number, definition) in document.definitions.iter().enumerate() {
                let own = || format!("{owner}\0{number}");
                let content = contents.of(number).filter(|_| kept < MAX_KEPT).unwrap_or_else(own);
                let name = by_content.get(&content).cloned().unwrap_or_else(|| {
                    let name = shared.free_name(&definition.name, &content);
                    shared.written.insert(name.clone(), (index, number));
                    kept += content.len();
                    by_content.insert(content, name.clone());
                    name
                });
                names.push(name);
            }
            shared.by_document.push(names);
        }
        shared
    }

    /// The names of a document's definitions.
    pub(super) fn of(&self, document: usize) -> &[String] {
        self.by_document.get(document).map(Vec::as_slice).unwrap_or_default()
    }

    /// The declarations of all types, sorted by name; `only` those of some documents.
    pub(super) fn declarations(&self, documents: &[&Document], only: Option<&[usize]>) -> String {
        let wanted: Option<BTreeSet<&String>> =
            only.map(|only| only.iter().flat_map(|document| self.of(*document)).collect());
        let mut text = String::new();
        for (name, (document, number)) in &self.written {
            if wanted.as_ref().is_some_and(|wanted| !wanted.contains(name)) {
                continue;
            }
            let definition = documents.get(*document).and_then(|of| of.definitions.get(*number));
            text.extend(definition.map(|definition| declaration(definition, name, self.of(*document))));
        }
        text
    }

    fn free_name(&self, plain: &str, content: &str) -> String {
        let free = |name: &String| !self.written.contains_key(name);
        let hash = format!("{:016x}", fnv(content));
        let suffixed = [4, 8, 16].into_iter().filter_map(|digits| Some(format!("{plain}_{}", hash.get(..digits)?)));
        let mut names =
            [plain.to_owned()].into_iter().chain(suffixed).chain((2_usize..).map(|n| format!("{plain}_{hash}_{n}")));
        names.find(free).unwrap_or_default()
    }
}

fn declaration(definition: &Definition, name: &str, names: &[String]) -> String {
    let comment = comment::block(&definition.comment, 0);
    match &definition.body {
        body @ Type::Object(_) => format!("{comment}interface {name} {}\n", body.text(names, 0, 11 + name.len())),
        body => format!("{comment}type {name} = {};\n", body.text(names, 0, 9 + name.len())),
    }
}

/// The text of each definition under its own name.
struct Contents<'a> {
    document: &'a Document,
    texts: Vec<String>,
}

impl<'a> Contents<'a> {
    fn new(document: &'a Document) -> Self {
        let names: Vec<String> = document.definitions.iter().map(|definition| definition.name.clone()).collect();
        let texts = document.definitions.iter().map(|definition| declaration(definition, &definition.name, &names));
        Self { document, texts: texts.collect() }
    }

    /// The text of a definition and of all it leads to: equal texts mean equal types. `None` when that is too much.
    fn of(&self, start: usize) -> Option<String> {
        let mut order = vec![start];
        let mut seen = BTreeSet::from([start]);
        let mut content = String::new();
        let mut next = 0;
        while let Some(at) = order.get(next).copied() {
            content.push_str(self.texts.get(at)?);
            if next == MAX_COMPARED || content.len() > MAX_COMPARED_SIZE {
                return None;
            }
            self.document.definitions.get(at)?.body.named(&mut |to| {
                if seen.insert(to) {
                    order.push(to);
                }
            });
            next += 1;
        }
        Some(content)
    }
}

/// FNV-1a: the same in every process and release.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
