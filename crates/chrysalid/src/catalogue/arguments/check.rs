//! The walk over a schema and an argument.

use serde_json::{Map, Number, Value as Json};

use super::numbers::{compare, is_multiple, is_whole, same};
use super::problem::{Problem, Step, cut, kind, list, literal, path, quoted, with_article};
use crate::catalogue::names;
use crate::catalogue::pointer::Places;

const MAX_STEPS: usize = 100_000;
const MAX_DEPTH: usize = 64;
/// Problems after which the walk ends.
const MAX_PROBLEMS: usize = 100;
/// Names of an object among which a near one is looked for.
const MAX_CANDIDATES: usize = 200;
const STEPS_OF_COMPARING: usize = 10;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Everything,
    /// Only fields of objects whose schema lists some and says nothing about others.
    UnlistedFields,
}

/// Whether unlisted fields are refused where the schema does not say so itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unlisted {
    Refused,
    Accepted,
}

pub(super) struct Check<'a> {
    pub(super) places: &'a Places<'a>,
    scope: Scope,
    pub(super) steps: usize,
    pub(super) path: Vec<Step<'a>>,
    pub(super) found: Vec<Problem>,
    /// What may be wrong and cannot be decided here.
    pub(super) suspected: Vec<Problem>,
}

/// Beside these an object may have fields that its `properties` do not list.
const OPENING: [&str; 15] = [
    "additionalProperties",
    "patternProperties",
    "unevaluatedProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependencies",
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
];

impl<'a> Check<'a> {
    pub(super) fn new(places: &'a Places<'a>, scope: Scope) -> Self {
        Self { places, scope, steps: MAX_STEPS, path: Vec::new(), found: Vec::new(), suspected: Vec::new() }
    }

    pub(super) fn value(&mut self, schema: &'a Json, value: &'a Json) {
        self.at(schema, value, 0, Unlisted::Refused);
    }

    pub(super) fn at(&mut self, schema: &'a Json, value: &'a Json, depth: usize, unlisted: Unlisted) {
        if depth > MAX_DEPTH || self.found.len() >= MAX_PROBLEMS || !self.step() {
            return;
        }
        let fields = match schema {
            Json::Object(fields) => fields,
            Json::Bool(false) => return self.other("is not allowed".to_owned()),
            _ => return,
        };
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let target = fields.get(keyword).and_then(Json::as_str).and_then(|to| self.places.resolve(to));
            if let Some((_, target)) = target {
                // What stands beside a reference may list more fields.
                let alone =
                    !["properties"].iter().chain(&OPENING).any(|key| *key != keyword && fields.contains_key(*key));
                self.at(target, value, depth + 1, if alone { unlisted } else { Unlisted::Accepted });
            }
        }
        if self.scope == Scope::Everything && !self.kind_fits(fields, value) {
            return;
        }
        // What is said of a part elsewhere may list more fields of it, too.
        let others = OPENING.iter().filter(|keyword| **keyword != "additionalProperties");
        let once = !others.into_iter().any(|keyword| fields.contains_key(*keyword));
        let inner = if once { unlisted } else { Unlisted::Accepted };
        match value {
            Json::Object(value) => {
                self.names(fields, value, unlisted);
                self.parts(fields, value, depth, inner);
            }
            Json::Array(items) => self.array(fields, items, depth, inner),
            Json::String(text) => self.string(fields, text),
            Json::Number(number) => self.number(fields, number),
            Json::Null | Json::Bool(_) => {}
        }
        if self.scope == Scope::Everything {
            self.alternatives(fields, value, depth);
        }
    }

    pub(super) fn step(&mut self) -> bool {
        self.steps = self.steps.saturating_sub(1);
        self.steps > 0
    }

    pub(super) fn here(&self) -> String {
        path(&self.path)
    }

    pub(super) fn other(&mut self, text: String) {
        let path = self.here();
        self.complain(Problem::Other { path, text });
    }

    fn complain(&mut self, problem: Problem) {
        if self.scope == Scope::Everything {
            self.found.push(problem);
        }
    }

    pub(super) fn suspect(&mut self, text: String) {
        if self.suspected.len() < MAX_PROBLEMS && self.scope == Scope::Everything {
            let path = self.here();
            self.suspected.push(Problem::Other { path, text });
        }
    }

    /// Type, constant and enumeration. After a complaint about these nothing else is worth saying.
    fn kind_fits(&mut self, fields: &'a Map<String, Json>, value: &Json) -> bool {
        let values = match (fields.get("const"), fields.get("enum")) {
            (Some(constant), _) => Some(std::slice::from_ref(constant)),
            (None, Some(Json::Array(values))) => Some(values.as_slice()),
            _ => None,
        };
        if fields.get("nullable") == Some(&Json::Bool(true)) && value.is_null() {
            return true;
        }
        if let Some(values) = values {
            self.steps = self.steps.saturating_sub(values.len());
            if !values.iter().any(|known| same(known, value)) {
                let problem = Problem::OneOf { path: self.here(), values: values.iter().map(literal).collect() };
                self.complain(problem);
                return false;
            }
        }
        let types: Vec<&str> = match fields.get("type") {
            Some(Json::String(one)) => vec![one],
            Some(Json::Array(many)) => many.iter().filter_map(Json::as_str).take(8).collect(),
            _ => return true,
        };
        if types.iter().any(|of| is(of, value)) {
            return true;
        }
        let wanted = types.iter().map(|of| with_article(of)).collect();
        let got = if value.is_number() && types.contains(&"integer") { "a fraction" } else { kind(value) };
        let problem = Problem::Type { path: self.here(), depth: self.path.len(), wanted, got };
        self.complain(problem);
        false
    }

    fn names(&mut self, fields: &'a Map<String, Json>, value: &'a Map<String, Json>, unlisted: Unlisted) {
        let listed = fields.get("properties").and_then(Json::as_object);
        self.missing(fields, listed, value);
        self.unknown(fields, listed, value, unlisted);
        self.counted(fields, value.len(), ("minProperties", "maxProperties"), "field");
        if let Some(Json::Object(needs)) = fields.get("dependentRequired") {
            for (name, needed) in needs.iter().filter(|(name, _)| value.contains_key(*name)) {
                let needed = needed.as_array().into_iter().flatten().filter_map(Json::as_str);
                for needed in needed.filter(|needed| !value.contains_key(*needed)) {
                    let hint = format!("needed with {}", quoted(&cut(name)));
                    self.path.push(Step::Field(needed));
                    let path = self.here();
                    self.path.pop();
                    self.complain(Problem::Missing { path, hint });
                }
            }
        }
    }

    fn parts(&mut self, fields: &'a Map<String, Json>, value: &'a Map<String, Json>, depth: usize, unlisted: Unlisted) {
        let listed = fields.get("properties").and_then(Json::as_object);
        let others = fields.get("additionalProperties").filter(|other| other.is_object());
        let others = others.filter(|_| !fields.contains_key("patternProperties"));
        for (name, part) in value {
            let schema = listed.and_then(|listed| listed.get(name)).or(others);
            if !self.step() {
                return;
            }
            if let Some(schema) = schema {
                self.path.push(Step::Field(name));
                self.at(schema, part, depth + 1, unlisted);
                self.path.pop();
            }
        }
    }

    fn missing(
        &mut self,
        fields: &'a Map<String, Json>,
        listed: Option<&'a Map<String, Json>>,
        value: &Map<String, Json>,
    ) {
        let required = fields.get("required").and_then(Json::as_array);
        for name in required.into_iter().flatten().filter_map(Json::as_str) {
            if !self.step() || self.found.len() >= MAX_PROBLEMS {
                return;
            }
            if value.contains_key(name) {
                continue;
            }
            let of = listed.and_then(|listed| listed.get(name));
            let hint = of.map_or_else(|| "any value".to_owned(), |of| self.hint(of));
            self.path.push(Step::Field(name));
            let path = self.here();
            self.path.pop();
            self.complain(Problem::Missing { path, hint });
        }
    }

    fn unknown(
        &mut self,
        fields: &'a Map<String, Json>,
        listed: Option<&'a Map<String, Json>>,
        value: &'a Map<String, Json>,
        unlisted: Unlisted,
    ) {
        let said = fields.get("additionalProperties") == Some(&Json::Bool(false))
            && !fields.contains_key("patternProperties")
            && self.scope == Scope::Everything;
        let implied = unlisted == Unlisted::Refused
            && listed.is_some()
            && !OPENING.iter().any(|keyword| fields.contains_key(*keyword));
        if !said && !implied {
            return;
        }
        let is_listed = |name: &str| listed.is_some_and(|listed| listed.contains_key(name));
        for name in value.keys() {
            if !self.step() || self.found.len() >= MAX_PROBLEMS {
                return;
            }
            if is_listed(name) {
                continue;
            }
            let known = || listed.into_iter().flatten().map(|(name, _)| name.as_str()).take(MAX_CANDIDATES);
            self.steps = self.steps.saturating_sub(listed.map_or(0, Map::len).min(MAX_CANDIDATES) * STEPS_OF_COMPARING);
            let near = names::nearest(name, known().filter(|known| !value.contains_key(*known)));
            let at = |name| path(&[self.path.as_slice(), &[Step::Field(name)]].concat());
            let problem = Problem::Unknown {
                path: at(name.as_str()),
                near: near.map(at),
                known: known().map(|name| quoted(&cut(name))).collect(),
            };
            self.found.push(problem);
        }
    }

    fn array(&mut self, fields: &'a Map<String, Json>, items: &'a [Json], depth: usize, unlisted: Unlisted) {
        self.counted(fields, items.len(), ("minItems", "maxItems"), "item");
        if fields.get("uniqueItems") == Some(&Json::Bool(true)) && items.len() > 1 {
            self.suspect("must not have an item twice".to_owned());
        }
        let (first, rest) = match (fields.get("prefixItems"), fields.get("items")) {
            (Some(Json::Array(first)), rest) => (first.as_slice(), rest),
            (_, Some(Json::Array(first))) => (first.as_slice(), fields.get("additionalItems")),
            (_, rest) => (&[][..], rest),
        };
        if rest == Some(&Json::Bool(false)) && items.len() > first.len() {
            self.other(format!("must have {} at most, got {}", count(first.len(), "item"), items.len()));
        }
        let rest = rest.filter(|rest| rest.is_object());
        for (index, item) in items.iter().enumerate() {
            let Some(schema) = first.get(index).or(rest) else { break };
            if self.steps == 0 {
                break;
            }
            self.path.push(Step::Item(index));
            self.at(schema, item, depth + 1, unlisted);
            self.path.pop();
        }
    }

    fn string(&mut self, fields: &Map<String, Json>, text: &str) {
        if self.scope == Scope::UnlistedFields {
            return;
        }
        self.counted(fields, text.chars().count(), ("minLength", "maxLength"), "character");
        if let Some(pattern) = fields.get("pattern").and_then(Json::as_str) {
            self.suspect(format!("must match {}", quoted(&pattern.chars().take(80).collect::<String>())));
        }
        if let Some(format) = fields.get("format").and_then(Json::as_str) {
            self.suspect(format!("must have the format {}", quoted(&cut(format))));
        }
    }

    fn number(&mut self, fields: &Map<String, Json>, number: &Number) {
        use std::cmp::Ordering::{Equal, Greater, Less};
        for (keyword, words, wrong) in [
            ("minimum", "at least", &[Less][..]),
            ("exclusiveMinimum", "more than", &[Less, Equal]),
            ("maximum", "at most", &[Greater]),
            ("exclusiveMaximum", "less than", &[Greater, Equal]),
        ] {
            let Some(Json::Number(bound)) = fields.get(keyword) else { continue };
            if compare(number, bound).is_some_and(|order| wrong.contains(&order)) {
                self.other(format!("must be {words} {bound}, got {number}"));
            }
        }
        if let Some(Json::Number(of)) = fields.get("multipleOf") {
            match is_multiple(number, of) {
                Some(true) => {}
                Some(false) => self.other(format!("must be a multiple of {of}, got {number}")),
                None => self.suspect(format!("must be a multiple of {of}")),
            }
        }
    }

    fn counted(&mut self, fields: &Map<String, Json>, size: usize, bounds: (&str, &str), unit: &str) {
        let bound = |keyword| fields.get(keyword).and_then(Json::as_u64).and_then(|bound| usize::try_from(bound).ok());
        if let Some(least) = bound(bounds.0).filter(|least| size < *least) {
            self.other(format!("must have at least {}, got {size}", count(least, unit)));
        }
        if let Some(most) = bound(bounds.1).filter(|most| size > *most) {
            self.other(format!("must have at most {}, got {size}", count(most, unit)));
        }
    }

    /// What a missing field takes, without an article.
    fn hint(&self, schema: &Json) -> String {
        let kinds = self.kinds(schema, 0);
        if kinds.is_empty() || kinds.len() > 4 { "any value".to_owned() } else { kinds.join(" or ") }
    }

    /// The types of a schema in few words, each once; empty when it says none.
    pub(super) fn kinds(&self, schema: &Json, depth: usize) -> Vec<String> {
        let Some(fields) = schema.as_object().filter(|_| depth < 4) else { return Vec::new() };
        let mut kinds = Vec::new();
        let mut add = |kind: String| {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        };
        if let Some(constant) = fields.get("const") {
            add(literal(constant));
        } else if let Some(Json::Array(values)) = fields.get("enum") {
            let values: Vec<String> = values.iter().map(literal).collect();
            add(format!("one of {}", list(&values)));
        } else if let Some(Json::Array(types)) = fields.get("type") {
            types.iter().filter_map(Json::as_str).take(8).for_each(|of| add(cut(of)));
        } else if let Some(of) = fields.get("type").and_then(Json::as_str) {
            add(cut(of));
        } else if let Some((_, target)) =
            fields.get("$ref").and_then(Json::as_str).and_then(|to| self.places.resolve(to))
        {
            self.kinds(target, depth + 1).into_iter().for_each(add);
        } else if let Some(Json::Array(branches)) = fields.get("anyOf").or(fields.get("oneOf")) {
            branches.iter().take(8).for_each(|branch| self.kinds(branch, depth + 1).into_iter().for_each(&mut add));
        } else if fields.contains_key("properties") {
            add("object".to_owned());
        }
        kinds
    }
}

fn is(of: &str, value: &Json) -> bool {
    match (of, value) {
        ("null", Json::Null)
        | ("boolean", Json::Bool(_))
        | ("number", Json::Number(_))
        | ("string", Json::String(_))
        | ("array", Json::Array(_))
        | ("object", Json::Object(_)) => true,
        ("integer", Json::Number(number)) => is_whole(number),
        ("null" | "boolean" | "number" | "string" | "array" | "object" | "integer", _) => false,
        // A type that JSON Schema does not have is for the validator.
        _ => true,
    }
}

fn count(number: usize, unit: &str) -> String {
    if number == 1 { format!("1 {unit}") } else { format!("{number} {unit}s") }
}
