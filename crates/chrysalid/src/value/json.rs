//! The fixed mapping between values and JSON. Its table is at [`Value::to_json`], where its readers look.
//!
//! Both directions keep their own stack: a value may be deeper than a small thread's stack in a debug build.

#[cfg(test)]
mod tests;

use std::vec;

use serde_json::{Map, Number, Value as Json, map};

use super::error::Segment;
use super::tree::{Budget, Objects};
use super::{BigInt, ErrorValue, Object, Value, ValueError, bytes, date, handle, number};

/// How deep JSON may be nested, both ways.
const DEPTH: usize = 512;

impl Value {
    /// The JSON that a tool without a notion of JavaScript gets.
    ///
    /// | value | JSON |
    /// |---|---|
    /// | `undefined` | left out of objects, `null` elsewhere |
    /// | `null`, booleans, strings | the same |
    /// | number | integer if it is one within ±2^53 (-0 is 0), else a float; NaN and infinities are `null` |
    /// | `BigInt` | integer if it fits `i64` or `u64`, else a string of its decimal digits |
    /// | `ArrayBuffer`, `Uint8Array`, `Uint8ClampedArray`, `DataView` | string, standard base64 with padding |
    /// | other typed arrays | array of numbers |
    /// | `Date` | string as of `toISOString`; `null` if invalid |
    /// | `RegExp` | string `/source/flags` |
    /// | array | array; a hole is `null` |
    /// | object | object |
    /// | `Map` | object if all its keys are strings, else array of `[key, value]` |
    /// | `Set` | array |
    /// | error | object of `name`, `message`, and `cause` and `errors` where present; no stack |
    /// | reference | what it refers to, again in full |
    /// | description | its text |
    /// | handle | `{"$handle": 3, "of": "rsvps.list"}` |
    ///
    /// Fails with [`ValueError::Cycle`] with its path, [`ValueError::TooDeep`] beyond 512 levels, [`ValueError::TooManyNodes`]
    /// and [`ValueError::TooManyBytes`] when shared parts written out come to more than 1,000,000 values or 64 MiB.
    pub fn to_json(&self) -> Result<Json, ValueError> {
        self.written(Budget::new())
    }

    /// As [`Value::to_json`], with other bounds on what shared parts may be written out to: values, and bytes of text.
    pub fn to_json_within(&self, nodes: usize, bytes: usize) -> Result<Json, ValueError> {
        self.written(Budget::of(nodes, bytes))
    }

    /// As [`Value::to_json`], for a value that is only looked at: shared parts are not written out to much more than the
    /// value is by itself, since that takes the host's time and memory.
    pub(crate) fn to_json_in_proportion(&self) -> Result<Json, ValueError> {
        self.written(Budget::in_proportion_to(self))
    }

    fn written(&self, budget: Budget) -> Result<Json, ValueError> {
        let mut writer = Writer { objects: Objects::of(self)?, budget, open: Vec::new() };
        writer.run(self).map_err(|error| writer.locate(error))
    }

    /// The value that JSON is: integers beyond ±2^53 become a `BigInt`, all else is what `JSON.parse` gives. Nothing in
    /// JSON is a handle.
    ///
    /// Fails with [`ValueError::TooDeep`] beyond 512 levels.
    pub fn from_json(json: Json) -> Result<Self, ValueError> {
        let mut open = Vec::new();
        let mut complete = begin_reading(json, &mut open)?;
        loop {
            if let Some(value) = complete.take() {
                match open.last_mut() {
                    Some(container) => container.push(value),
                    None => return Ok(value),
                }
            }
            complete = match open.last_mut().and_then(Reading::advance) {
                Some(json) => begin_reading(json, &mut open)?,
                None => open.pop().map(Reading::finish),
            };
        }
    }
}

struct Writer<'v> {
    objects: Objects<'v>,
    budget: Budget,
    open: Vec<Writing<'v>>,
}

/// A container that is being written.
struct Writing<'v> {
    source: Option<&'v Value>,
    rest: Box<dyn Iterator<Item = (&'v str, Part<'v>)> + 'v>,
    key: &'v str,
    target: Target,
}

enum Target {
    Array(Vec<Json>),
    Object(Map<String, Json>),
}

/// What becomes one JSON value: a value, or something inside of one that JSON writes as a container of its own.
#[derive(Clone, Copy)]
enum Part<'v> {
    Value(&'v Value),
    Text(&'v str),
    Pair(&'v Value, &'v Value),
    List(&'v [Value]),
}

impl<'v> Writer<'v> {
    fn run(&mut self, root: &'v Value) -> Result<Json, ValueError> {
        let mut complete = self.begin(Part::Value(root))?;
        loop {
            if let Some(json) = complete.take() {
                match self.open.last_mut() {
                    Some(container) => container.push(json),
                    None => return Ok(json),
                }
            }
            complete = match self.open.last_mut().and_then(Writing::advance) {
                Some(part) => self.begin(part)?,
                None => self.open.pop().map(Writing::finish),
            };
        }
    }

    /// The JSON of what has no children; else opens it.
    fn begin(&mut self, part: Part<'v>) -> Result<Option<Json>, ValueError> {
        let writing = match part {
            Part::Value(value) => {
                let value = self.resolve(value)?;
                self.budget.charge(value)?;
                match Writing::of(value) {
                    Some(writing) => writing,
                    None => return Ok(Some(leaf(value))),
                }
            }
            Part::Text(text) => return Ok(Some(Json::String(text.into()))),
            Part::Pair(key, value) => Writing::array(None, [key, value].into_iter().map(Part::Value)),
            Part::List(items) => Writing::array(None, items.iter().map(Part::Value)),
        };
        let depth = self.open.len() + 1;
        if depth > DEPTH {
            return Err(ValueError::TooDeep { depth, limit: DEPTH });
        }
        self.open.push(writing);
        Ok(None)
    }

    fn resolve(&self, value: &'v Value) -> Result<&'v Value, ValueError> {
        let target = self.objects.resolve(value)?;
        let is_open = |writing: &Writing<'_>| writing.source.is_some_and(|source| std::ptr::eq(source, target));
        if matches!(value, Value::Ref(_)) && self.open.iter().any(is_open) {
            return Err(ValueError::cycle());
        }
        Ok(target)
    }

    fn locate(&self, error: ValueError) -> ValueError {
        self.open.iter().rev().fold(error, |error, container| error.within(container.place()))
    }
}

impl<'v> Writing<'v> {
    fn of(value: &'v Value) -> Option<Self> {
        match value {
            Value::Array(items) | Value::Set(items) => Some(Self::array(Some(value), items.iter().map(Part::Value))),
            Value::Object(object) => {
                let defined = object.iter().filter(|(_, property)| !property.is_undefined());
                Some(Self::object(value, defined.map(|(key, property)| (key, Part::Value(property)))))
            }
            Value::Map(pairs) if pairs.iter().all(|(key, _)| matches!(key, Value::String(_))) => {
                let entries = pairs.iter().filter_map(|(key, item)| Some((key.as_str()?, item)));
                let defined = entries.filter(|(_, item)| !item.is_undefined());
                Some(Self::object(value, defined.map(|(key, item)| (key, Part::Value(item)))))
            }
            Value::Map(pairs) => Some(Self::array(Some(value), pairs.iter().map(|(key, item)| Part::Pair(key, item)))),
            Value::Error(error) => Some(Self::object(value, error_parts(error))),
            _ => None,
        }
    }

    fn array(source: Option<&'v Value>, parts: impl Iterator<Item = Part<'v>> + 'v) -> Self {
        let rest = Box::new(parts.map(|part| ("", part)));
        Self { source, rest, key: "", target: Target::Array(Vec::new()) }
    }

    fn object(source: &'v Value, parts: impl Iterator<Item = (&'v str, Part<'v>)> + 'v) -> Self {
        Self { source: Some(source), rest: Box::new(parts), key: "", target: Target::Object(Map::new()) }
    }

    fn advance(&mut self) -> Option<Part<'v>> {
        let (key, part) = self.rest.next()?;
        self.key = key;
        Some(part)
    }

    fn push(&mut self, json: Json) {
        match &mut self.target {
            Target::Array(items) => items.push(json),
            Target::Object(entries) => {
                entries.insert(self.key.into(), json);
            }
        }
    }

    fn finish(self) -> Json {
        match self.target {
            Target::Array(items) => Json::Array(items),
            Target::Object(entries) => Json::Object(entries),
        }
    }

    /// Where the part is that was taken last.
    fn place(&self) -> Segment<'v> {
        match &self.target {
            Target::Array(items) => Segment::Index(items.len()),
            Target::Object(_) => Segment::Key(self.key),
        }
    }
}

fn error_parts(error: &ErrorValue) -> impl Iterator<Item = (&str, Part<'_>)> {
    let texts = [("name", Part::Text(&error.name)), ("message", Part::Text(&error.message))];
    let cause = error.cause.as_ref().map(|cause| ("cause", Part::Value(cause)));
    let errors = error.errors.as_deref().map(|errors| ("errors", Part::List(errors)));
    texts.into_iter().chain(cause).chain(errors)
}

fn leaf(value: &Value) -> Json {
    match value {
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Number(number) => of_number(*number),
        Value::BigInt(number) => of_big_int(number),
        Value::String(text) | Value::Description(text) => Json::String(text.clone()),
        Value::ArrayBuffer(content) => Json::String(bytes::base64(content)),
        Value::TypedArray(array) if array.is_bytes() => Json::String(bytes::base64(&array.bytes)),
        Value::TypedArray(array) => Json::Array(array.elements().map(|element| leaf(&element)).collect()),
        Value::Date(milliseconds) => date::iso_text(*milliseconds).map_or(Json::Null, Json::String),
        Value::RegExp(pattern) => Json::String(format!("/{}/{}", pattern.source, pattern.flags)),
        Value::Handle(handle) => serde_json::json!({ handle::ID: handle.id, handle::NAME: *handle.name }),
        _ => Json::Null,
    }
}

fn of_number(number: f64) -> Json {
    match number::exact_integer(number) {
        Some(integer) => Json::from(integer),
        None => Number::from_f64(number).map_or(Json::Null, Json::Number),
    }
}

fn of_big_int(number: &BigInt) -> Json {
    if let Ok(integer) = i64::try_from(number) {
        return Json::from(integer);
    }
    u64::try_from(number).map_or_else(|_| Json::String(number.to_string()), Json::from)
}

/// A container that is being read.
enum Reading {
    Array(vec::IntoIter<Json>, Vec<Value>),
    Object(map::IntoIter, Vec<(String, Value)>, String),
}

impl Reading {
    fn advance(&mut self) -> Option<Json> {
        match self {
            Self::Array(rest, _) => rest.next(),
            Self::Object(rest, _, key) => {
                let (next_key, json) = rest.next()?;
                *key = next_key;
                Some(json)
            }
        }
    }

    fn push(&mut self, value: Value) {
        match self {
            Self::Array(_, items) => items.push(value),
            Self::Object(_, entries, key) => entries.push((std::mem::take(key), value)),
        }
    }

    fn finish(self) -> Value {
        match self {
            Self::Array(_, items) => Value::Array(items),
            Self::Object(_, entries, _) => Value::Object(Object::from_entries(entries)),
        }
    }
}

/// The value of what has no children; else opens it.
fn begin_reading(json: Json, open: &mut Vec<Reading>) -> Result<Option<Value>, ValueError> {
    let reading = match json {
        Json::Null => return Ok(Some(Value::Null)),
        Json::Bool(truth) => return Ok(Some(Value::Bool(truth))),
        Json::Number(number) => return Ok(Some(from_number(&number))),
        Json::String(text) => return Ok(Some(Value::String(text))),
        Json::Array(items) => Reading::Array(items.into_iter(), Vec::new()),
        Json::Object(entries) => Reading::Object(entries.into_iter(), Vec::new(), String::new()),
    };
    let depth = open.len() + 1;
    if depth > DEPTH {
        return Err(ValueError::TooDeep { depth, limit: DEPTH });
    }
    open.push(reading);
    Ok(None)
}

fn from_number(number: &Number) -> Value {
    let integer = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    integer.map(Value::from).or_else(|| number.as_f64().map(Value::Number)).unwrap_or(Value::Number(f64::NAN))
}
