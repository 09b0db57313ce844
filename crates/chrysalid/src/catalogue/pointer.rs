//! What a `$ref` means: a place in the same document, by JSON pointer or by anchor.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use serde_json::Value as Json;

/// Values of a document that are searched for anchors, and how deep.
const MAX_VALUES: usize = 100_000;
const MAX_DEPTH: usize = 64;

/// A schema with the places in it that have a name of their own.
pub(super) struct Places<'s> {
    root: &'s Json,
    /// Name to pointer; found when a reference by name is first met.
    anchors: OnceCell<BTreeMap<String, String>>,
}

impl<'s> Places<'s> {
    pub(super) fn new(root: &'s Json) -> Self {
        Self { root, anchors: OnceCell::new() }
    }

    /// The canonical pointer and the schema that a reference means, `None` when it leads nowhere in this document.
    pub(super) fn resolve(&self, reference: &str) -> Option<(String, &'s Json)> {
        let own = self.root.get("$id").and_then(Json::as_str).map(|id| id.trim_end_matches('#'));
        let reference = own.and_then(|id| reference.strip_prefix(id)).unwrap_or(reference);
        let fragment = reference.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let pointer = match fragment {
            _ if reference.is_empty() => String::new(),
            Some(pointer) => decoded(pointer)?,
            None => self.anchors().get(reference)?.clone(),
        };
        let target = self.root.pointer(&pointer)?;
        Some((pointer, target))
    }

    fn anchors(&self) -> &BTreeMap<String, String> {
        self.anchors.get_or_init(|| {
            let mut anchors = BTreeMap::new();
            find_anchors(self.root, &mut Vec::new(), &mut anchors, &mut { MAX_VALUES });
            anchors
        })
    }
}

fn find_anchors(value: &Json, path: &mut Vec<String>, anchors: &mut BTreeMap<String, String>, left: &mut usize) {
    if *left == 0 || path.len() > MAX_DEPTH {
        return;
    }
    *left -= 1;
    match value {
        Json::Object(fields) => {
            for keyword in ["$anchor", "$dynamicAnchor", "$id", "id"] {
                let Some(name) = fields.get(keyword).and_then(Json::as_str) else { continue };
                let name = if keyword.ends_with("id") { name.to_owned() } else { format!("#{name}") };
                anchors.entry(name).or_insert_with(|| pointer(path));
            }
            for (name, field) in fields {
                path.push(name.replace('~', "~0").replace('/', "~1"));
                find_anchors(field, path, anchors, left);
                path.pop();
            }
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(index.to_string());
                find_anchors(item, path, anchors, left);
                path.pop();
            }
        }
        _ => {}
    }
}

fn pointer(path: &[String]) -> String {
    path.iter().flat_map(|segment| ["/", segment]).collect()
}

/// Percent signs of a fragment resolved; `None` when that is not UTF-8.
fn decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let pair = (byte == b'%').then(|| Some(hex(ahead.next()?)? * 16 + hex(ahead.next()?)?)).flatten();
        if pair.is_some() {
            rest = ahead;
        }
        bytes.push(pair.unwrap_or(byte));
    }
    String::from_utf8(bytes).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::Places;
    use serde_json::json;

    #[test]
    fn references() {
        let schema = json!({
            "$id": "https://example.com/s",
            "$defs": {
                "a b": {"const": 1},
                "x/y~z": {"const": 2},
                "c": {"$anchor": "here", "const": 3},
                "d": {"$id": "other.json", "const": 4},
            },
            "properties": {"p": {"items": [{"const": 5}]}},
        });
        let places = Places::new(&schema);
        let found = |reference| places.resolve(reference).map(|(pointer, schema)| (pointer, schema["const"].as_u64()));
        let at = |pointer: &str, value| Some((pointer.to_owned(), Some(value)));
        assert_eq!(found("#/$defs/a%20b"), at("/$defs/a b", 1));
        assert_eq!(found("#/$defs/x~1y~0z"), at("/$defs/x~1y~0z", 2));
        assert_eq!(found("#here"), at("/$defs/c", 3));
        assert_eq!(found("other.json"), at("/$defs/d", 4));
        assert_eq!(found("#/properties/p/items/0"), at("/properties/p/items/0", 5));
        assert_eq!(found("https://example.com/s#/$defs/c"), at("/$defs/c", 3));
        assert_eq!(found("#"), Some((String::new(), None)));
        for nowhere in ["#/nope", "#nope", "https://example.com/other", "nope", "#/%ff"] {
            assert_eq!(found(nowhere), None, "{nowhere}");
        }
    }
}
