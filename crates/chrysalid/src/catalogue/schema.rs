//! JSON Schema read into types: draft 2020-12 and the habits of draft 7.
//!
//! What a `$ref` means becomes a definition with a name, so recursion ends. Schemas come from third parties: depth and
//! size of the result are bounded, and what is over reads `unknown`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json};

use super::facts::{facts, with_facts};
use super::pointer::Places;
use super::types::{Field, Key, Type};
use super::{comment, names};

/// Types within types of one definition.
const MAX_DEPTH: usize = 16;
/// Size of one document's types: characters, and [`COST`] for each part.
const MAX_SIZE: usize = 40_000;
const COST: usize = 40;
/// Literals of one union, and characters of one literal or name.
const MAX_LITERALS: usize = 60;
const MAX_LITERAL: usize = 200;

/// A schema as a type, with the definitions that it names.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) body: Type,
    pub(super) definitions: Vec<Definition>,
}

/// A type with a name. The name is unique within its document only.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) comment: Vec<String>,
    pub(super) body: Type,
}

impl Document {
    /// Reads a schema. `own_name` is for the whole, should it refer to itself.
    pub(super) fn read(schema: &Json, own_name: &str) -> Self {
        let places = Places::new(schema);
        let mut reader = Reader {
            own_name,
            places: &places,
            by_pointer: BTreeMap::new(),
            names: BTreeSet::new(),
            numbers: BTreeMap::new(),
            definitions: Vec::new(),
            waiting: Vec::new(),
            left: MAX_SIZE,
        };
        let mut body = reader.schema(schema, 0);
        let mut next = 0;
        while let Some(target) = reader.waiting.get(next).copied() {
            let read = reader.schema(target, 0);
            let comment = reader.comment(target);
            if let Some(definition) = reader.definitions.get_mut(next) {
                definition.body = read;
                definition.comment = comment;
            }
            next += 1;
        }
        if let Some(whole) = reader.by_pointer.get("") {
            body = Type::Named(*whole);
        }
        let mut document = Self { body, definitions: reader.definitions };
        document.cut_circles();
        document
    }

    /// The type behind names.
    pub(super) fn resolved<'a>(&'a self, of: &'a Type) -> &'a Type {
        let mut of = of;
        for _ in 0..=self.definitions.len() {
            let Type::Named(definition) = of else { break };
            let Some(definition) = self.definitions.get(*definition) else { break };
            of = &definition.body;
        }
        of
    }

    /// TypeScript refuses a type that is made of itself with no field in between.
    fn cut_circles(&mut self) {
        for start in 0..self.definitions.len() {
            let mut seen = vec![false; self.definitions.len()];
            let mut open = vec![start];
            let mut circular = false;
            while let Some(definition) = open.pop().and_then(|at| self.definitions.get(at)) {
                definition.body.direct(&mut |next| {
                    circular |= next == start;
                    if let Some(seen) = seen.get_mut(next).filter(|seen| !**seen) {
                        *seen = true;
                        open.push(next);
                    }
                });
            }
            if let Some(definition) = self.definitions.get_mut(start).filter(|_| circular) {
                definition.body = Type::Unknown("is defined by itself".to_owned());
            }
        }
    }
}

struct Reader<'s> {
    own_name: &'s str,
    places: &'s Places<'s>,
    by_pointer: BTreeMap<String, usize>,
    names: BTreeSet<String>,
    /// The last number behind a name that several definitions ask for.
    numbers: BTreeMap<String, usize>,
    definitions: Vec<Definition>,
    /// The schema of each definition.
    waiting: Vec<&'s Json>,
    left: usize,
}

/// Keywords that say something about the value, as against remarks.
const TYPE_KEYWORDS: [&str; 12] = [
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "items",
    "prefixItems",
    "anyOf",
    "oneOf",
    "allOf",
];

impl<'s> Reader<'s> {
    fn schema(&mut self, schema: &'s Json, depth: usize) -> Type {
        let fields = match schema {
            Json::Bool(false) => return Type::word("never"),
            Json::Object(fields) => fields,
            _ => return Type::unknown(),
        };
        if depth > MAX_DEPTH {
            return Type::Unknown("nested too deep".to_owned());
        }
        if !self.spend(COST) {
            return too_large();
        }
        let mut parts = Vec::new();
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            if let Some(reference) = fields.get(keyword).and_then(Json::as_str) {
                parts.push(self.reference(reference));
            }
        }
        if parts.is_empty() || TYPE_KEYWORDS.iter().any(|keyword| fields.contains_key(*keyword)) {
            parts.push(self.without_reference(fields, depth));
        }
        let of = Type::intersection(parts);
        if fields.get("nullable") == Some(&Json::Bool(true)) { Type::union(vec![of, Type::word("null")]) } else { of }
    }

    fn reference(&mut self, reference: &str) -> Type {
        let Some((pointer, target)) = self.places.resolve(reference) else {
            return Type::Unknown(format!("no definition {}", comment::line(reference, 80)));
        };
        if let Some(definition) = self.by_pointer.get(&pointer) {
            return Type::Named(*definition);
        }
        let name = self.name(&pointer, target);
        if !self.spend(COST + name.len()) {
            return too_large();
        }
        let number = self.definitions.len();
        self.by_pointer.insert(pointer, number);
        self.definitions.push(Definition { name, comment: Vec::new(), body: Type::unknown() });
        self.waiting.push(target);
        Type::Named(number)
    }

    /// A name that no other definition of this document has.
    fn name(&mut self, pointer: &str, target: &Json) -> String {
        let title = target.get("title").and_then(Json::as_str).filter(|title| !title.is_empty());
        let segment = pointer.rsplit('/').find(|segment| {
            !segment.is_empty()
                && segment.bytes().any(|c| !c.is_ascii_digit())
                && !matches!(*segment, "properties" | "$defs" | "definitions" | "not" | "then" | "else" | "if")
                && !TYPE_KEYWORDS.contains(segment)
        });
        let defined = ["/$defs/", "/definitions/"].iter().any(|under| pointer.contains(under));
        let text = match (title, segment) {
            _ if pointer.is_empty() => self.own_name,
            (_, Some(segment)) if defined => segment,
            (Some(title), _) => title,
            (None, Some(segment)) => segment,
            (None, None) => "Type",
        };
        let plain = names::type_name(text);
        let mut name = plain.clone();
        while !self.names.insert(name.clone()) {
            let number = self.numbers.entry(plain.clone()).or_insert(1);
            *number += 1;
            name = format!("{plain}{number}");
        }
        name
    }

    fn without_reference(&mut self, fields: &'s Map<String, Json>, depth: usize) -> Type {
        if let Some(constant) = fields.get("const") {
            return self.literals(std::slice::from_ref(constant));
        }
        if let Some(Json::Array(values)) = fields.get("enum") {
            return self.literals(values);
        }
        let mut parts = vec![self.of_types(fields, depth)];
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Json::Array(branches)) = fields.get(keyword) {
                parts.push(Type::union(self.each(branches, depth)));
            }
        }
        if let Some(Json::Array(branches)) = fields.get("allOf") {
            parts.extend(self.each(branches, depth));
        }
        Type::intersection(parts)
    }

    fn each(&mut self, branches: &'s [Json], depth: usize) -> Vec<Type> {
        let mut types = Vec::new();
        for branch in branches {
            if self.left == 0 {
                types.push(too_large());
                break;
            }
            types.push(self.schema(branch, depth + 1));
        }
        types
    }

    fn of_types(&mut self, fields: &'s Map<String, Json>, depth: usize) -> Type {
        match fields.get("type") {
            Some(Json::String(of)) => self.of_type(of, fields, depth),
            Some(Json::Array(types)) => {
                let types = types.iter().filter_map(Json::as_str).take(8);
                let members = types.map(|of| self.of_type(of, fields, depth)).collect();
                Type::union(members)
            }
            _ if has(fields, &["properties", "required", "additionalProperties", "patternProperties"]) => {
                self.object(fields, depth)
            }
            _ if has(fields, &["items", "prefixItems"]) => self.array(fields, depth),
            _ => Type::unknown(),
        }
    }

    fn of_type(&mut self, of: &str, fields: &'s Map<String, Json>, depth: usize) -> Type {
        match of {
            "string" | "number" | "boolean" | "null" => Type::word(of),
            "integer" => Type::word("number"),
            "array" => self.array(fields, depth),
            "object" => self.object(fields, depth),
            _ => Type::unknown(),
        }
    }

    fn array(&mut self, fields: &'s Map<String, Json>, depth: usize) -> Type {
        let (items, rest) = match (fields.get("prefixItems"), fields.get("items")) {
            (Some(Json::Array(items)), rest) => (items, rest),
            (_, Some(Json::Array(items))) => (items, fields.get("additionalItems")),
            (_, Some(items)) => return Type::Array(Box::new(self.schema(items, depth + 1))),
            (_, None) => return Type::Array(Box::new(Type::unknown())),
        };
        let mut rest = rest.filter(|rest| rest.is_object()).map(|rest| Box::new(self.schema(rest, depth + 1)));
        let items = self.each(items, depth);
        if self.left == 0 {
            rest = Some(Box::new(Type::unknown()));
        }
        let least = fields.get("minItems").and_then(Json::as_u64).and_then(|least| usize::try_from(least).ok());
        let required = least.unwrap_or(items.len()).min(items.len());
        Type::Tuple { items, required, rest }
    }

    fn object(&mut self, fields: &'s Map<String, Json>, depth: usize) -> Type {
        let named = self.fields(fields, depth);
        let mut others = Vec::new();
        let mut remarks = Vec::new();
        match fields.get("additionalProperties") {
            Some(Json::Bool(true)) => others.push(Type::unknown()),
            Some(other @ Json::Object(_)) => others.push(self.schema(other, depth + 1)),
            None if named.is_empty() && !has(fields, &["properties", "patternProperties"]) => {
                others.push(Type::unknown());
            }
            _ => {}
        }
        if let Some(Json::Object(patterns)) = fields.get("patternProperties") {
            for (pattern, of) in patterns.iter().take(MAX_LITERALS) {
                if self.left == 0 {
                    break;
                }
                others.push(self.schema(of, depth + 1));
                remarks.push(comment::line(pattern, 80));
            }
        }
        if others.is_empty() {
            return Type::Object(named);
        }
        let comment =
            if remarks.is_empty() { Vec::new() } else { vec![format!("names match {}", remarks.join(" or "))] };
        self.spend(comment.iter().map(String::len).sum());
        let rest = Field { key: Key::Rest, comment, of: Type::union(others) };
        // The type of all other names must take that of each name, so a narrow one stands beside them.
        if rest.of.is_unknown() || named.is_empty() {
            return Type::Object(named.into_iter().chain([rest]).collect());
        }
        Type::intersection(vec![Type::Object(named), Type::Object(vec![rest])])
    }

    /// The fields in the order of the schema, then those that are required and not described.
    fn fields(&mut self, fields: &'s Map<String, Json>, depth: usize) -> Vec<Field> {
        let required = fields.get("required").and_then(Json::as_array);
        let required: BTreeSet<&str> = required.into_iter().flatten().filter_map(Json::as_str).collect();
        let described = fields.get("properties").and_then(Json::as_object);
        let bare = required.iter().filter(|name| described.is_none_or(|known| !known.contains_key(**name)));
        let all = described.into_iter().flatten().map(|(name, of)| (name.as_str(), Some(of)));
        let all = all.chain(bare.map(|name| (*name, None)));
        let mut list = Vec::new();
        let mut left_out = 0_usize;
        for (name, of) in all {
            let size = names::key(name).len();
            if size > MAX_LITERAL || !self.spend(COST + size) {
                left_out += 1;
                continue;
            }
            let comment = of.map(|of| self.comment(of)).unwrap_or_default();
            let optional = !required.contains(name);
            let name = name.to_owned();
            let key = if optional { Key::Optional(name) } else { Key::Required(name) };
            list.push(Field { key, comment, of: of.map_or_else(Type::unknown, |of| self.schema(of, depth + 1)) });
        }
        if left_out > 0 {
            let comment = vec![format!("{left_out} more fields, too many to show")];
            list.push(Field { key: Key::Rest, comment, of: Type::unknown() });
        }
        list
    }

    fn literals(&mut self, values: &[Json]) -> Type {
        let mut members = Vec::new();
        for value in values.iter().take(MAX_LITERALS) {
            let literal = match value {
                Json::String(text) => names::quote(text),
                Json::Null | Json::Bool(_) | Json::Number(_) => value.to_string(),
                Json::Array(_) | Json::Object(_) => String::new(),
            };
            let shown = !literal.is_empty() && literal.len() <= MAX_LITERAL && self.spend(literal.len() + 3);
            members.push(if shown { Type::Word(literal) } else { Type::word(kind(value)) });
        }
        members.extend(values.iter().skip(MAX_LITERALS).map(kind).map(Type::word));
        wide(&members)
    }

    /// Description and facts; those of the one alternative to `null`, too.
    fn comment(&mut self, schema: &Json) -> Vec<String> {
        let Some(fields) = schema.as_object() else { return Vec::new() };
        let lines = fields.get("description").and_then(Json::as_str).map(comment::lines).unwrap_or_default();
        let mut all = facts(fields);
        for keyword in ["anyOf", "oneOf"] {
            let branches = fields.get(keyword).and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
            let is_null = |branch: &&Json| branch.get("type").and_then(Json::as_str) == Some("null");
            if let ([one, other], true) = (branches, branches.iter().any(|branch| is_null(&branch))) {
                let inner = if is_null(&one) { other } else { one };
                all.splice(0..0, inner.as_object().map(facts).unwrap_or_default());
            }
        }
        let values = fields.get("enum").and_then(Json::as_array).map_or(0, Vec::len);
        if values > MAX_LITERALS {
            all.push(format!("one of {values} values"));
        }
        let lines = with_facts(lines, &all);
        let size = lines.iter().map(|line| line.len() + COST).sum();
        if self.spend(size) { lines } else { Vec::new() }
    }

    /// Whether there is room for so much; once there is not, there is none for anything.
    fn spend(&mut self, size: usize) -> bool {
        let rest = self.left.checked_sub(size);
        self.left = rest.unwrap_or(0);
        rest.is_some_and(|rest| rest > 0)
    }
}

/// A literal beside the type that has it says nothing.
fn wide(members: &[Type]) -> Type {
    let is = |of: &Type, kind: &str| *of == Type::word(kind);
    let all = |kind: &str| members.iter().any(|of| is(of, kind));
    let (text, number) = (all("string"), all("number"));
    let kept = members.iter().filter(|of| match of {
        Type::Word(word) if text && word.starts_with('"') => false,
        Type::Word(word) if number && word.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => false,
        _ => true,
    });
    Type::union(kept.cloned().collect())
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "unknown[]",
        Json::Object(_) => "object",
    }
}

fn has(fields: &Map<String, Json>, keywords: &[&str]) -> bool {
    keywords.iter().any(|keyword| fields.contains_key(*keyword))
}

fn too_large() -> Type {
    Type::Unknown("too large to show".to_owned())
}
