//! What a walk found beside tools, in bounded lists.

use std::collections::HashSet;

/// Entries of each list.
const MAX_ENTRIES: usize = 32;
/// Characters of a name.
const MAX_NAME: usize = 200;

pub(super) const COMPUTED: &str = "`tools` has a computed name";
pub(super) const VALUE: &str = "`tools` is used as a value";
pub(super) const PROPERTY_COMPUTED: &str = "a property `tools` has a computed name";
pub(super) const PROPERTY_VALUE: &str = "a property `tools` is used as a value";
pub(super) const GLOBAL_COMPUTED: &str = "the global object has a computed name";
pub(super) const GLOBAL_VALUE: &str = "the global object is used as a value";
pub(super) const THIS_COMPUTED: &str = "`this`, which may be the global object, has a computed name";
pub(super) const THIS_VALUE: &str = "`this`, which may be the global object, is used as a value";
pub(super) const EVAL: &str = "`eval` runs text";
pub(super) const FUNCTION: &str = "`Function` makes code from text";
pub(super) const CONSTRUCTOR: &str = "`constructor` can lead to `Function`";
pub(super) const TEXT: &str = "the text \"tools\" may name a property";
pub(super) const IMPORT: &str = "the name of an imported module is computed";
pub(super) const WITH: &str = "`with` changes what names mean";
pub(super) const AWAIT: &str = "`await` may be a name or not";
pub(super) const COMMENT: &str = "`<!--` or `-->` may begin a comment or not";
pub(super) const UNREADABLE: &str = "the program could not be read";

/// The first entries of a list, and how many more there are.
#[derive(Debug)]
pub(super) struct Bounded<T> {
    pub(super) entries: Vec<T>,
    pub(super) more: usize,
}

impl<T> Default for Bounded<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), more: 0 }
    }
}

impl<T> Bounded<T> {
    pub(super) fn push(&mut self, entry: T) {
        if self.entries.len() < MAX_ENTRIES {
            self.entries.push(entry);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }
}

/// What was found, with offsets in the code that the guest gets.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) unknown: Bounded<(u32, &'static str)>,
    pub(super) missing: Bounded<(u32, String)>,
    pub(super) modules: Bounded<String>,
    pub(super) names: Bounded<(u32, String)>,
    known_modules: HashSet<String>,
    known_names: HashSet<String>,
}

impl Findings {
    pub(super) fn module(&mut self, name: &str) {
        if self.known_modules.insert(name.to_owned()) {
            self.modules.push(cut(name));
        }
    }

    pub(super) fn name(&mut self, name: &str, at: u32) {
        if !self.known_names.contains(name) {
            self.known_names.insert(name.to_owned());
            self.names.push((at, cut(name)));
        }
    }
}

pub(super) fn cut(name: &str) -> String {
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => name.get(..end).unwrap_or_default().to_owned() + "…",
        None => name.to_owned(),
    }
}

/// Adds a name to the way in which a program writes a tool: `tools.a`, `tools["a b"]`.
pub(super) fn push_member(path: &mut String, name: &str) {
    let mut bytes = name.bytes();
    let plain = bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, b'_' | b'$'))
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'));
    if plain {
        path.push('.');
        path.push_str(name);
    } else {
        path.push('[');
        path.push_str(&serde_json::Value::from(name).to_string());
        path.push(']');
    }
}
