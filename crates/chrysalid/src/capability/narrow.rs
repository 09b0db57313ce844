//! Results that are too small to carry a message: the schema of a declassified capability, how many bits it lets through, and
//! a result made to fit it.
//!
//! A result counts as declassified only if its schema is made of these: `const`, `enum` of scalars, booleans, null, integers
//! with `minimum` and `maximum`, numbers with these and `multipleOf`, strings of `format` `date` or `date-time`, objects of
//! listed `properties`, arrays with `maxItems`. Anything else, such as free text, is refused when the capability is made. A
//! result is written anew in the schema's own order, so that neither the order of keys nor a form of a number says anything
//! more.

use serde_json::{Map, Value as Json};

use crate::value::{Object, Value};

/// Levels of a schema.
const MAX_DEPTH: usize = 16;
/// Parts of one result, and texts of one list.
const MAX_PARTS: u64 = 4096;
/// Longest text of a list, in bytes.
const MAX_TEXT: usize = 256;
/// Days of the years 0001 to 9999, and their seconds.
const DAYS: f64 = 3_652_059.0;
const SECONDS: f64 = DAYS * 86_400.0;
/// That a call failed, and whether it may be tried again.
const FAILURE_BITS: f64 = 2.0;
/// Numbers beyond this are not whole.
const MAX_WHOLE: f64 = 9_007_199_254_740_991.0;

/// A schema that lets only a bounded number of bits through.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Narrow {
    shape: Shape,
    bits: u32,
}

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    OneOf(Vec<Json>),
    Bool,
    Null,
    Steps { least: f64, most: f64, step: f64 },
    Date,
    DateTime,
    Object(Vec<(String, Shape, Presence)>),
    Array { item: Box<Shape>, least: u64, most: u64 },
    Any(Vec<Shape>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Presence {
    Required,
    Optional,
}

impl Narrow {
    /// Reads a schema, or says what in it lets too much through.
    pub(crate) fn of(schema: &Json) -> Result<Self, String> {
        let shape = Shape::of(schema, "output", MAX_DEPTH)?;
        let parts = shape.parts();
        if parts > MAX_PARTS {
            return Err(format!("output has room for {parts} parts, more than {MAX_PARTS}"));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded by the number of parts")]
        let bits = (shape.bits() + FAILURE_BITS).ceil() as u32;
        Ok(Self { shape, bits })
    }

    /// The most that one result, or one failure, can tell.
    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }

    /// The result in the one form that the schema has for it; nothing if it does not fit.
    pub(crate) fn fit(&self, value: &Value) -> Option<Value> {
        self.shape.fit(value)
    }
}

impl Shape {
    fn of(schema: &Json, at: &str, depth: usize) -> Result<Self, String> {
        let object = schema.as_object().ok_or_else(|| format!("{at} is no object"))?;
        if depth == 0 {
            return Err(format!("{at} is deeper than {MAX_DEPTH} levels"));
        }
        if let Some(value) = object.get("const") {
            return Self::list(std::slice::from_ref(value), object, "const", at);
        }
        if let Some(values) = object.get("enum") {
            let values = values.as_array().filter(|values| !values.is_empty());
            return Self::list(values.ok_or_else(|| format!("{at}.enum is no list"))?, object, "enum", at);
        }
        match object.get("type") {
            Some(Json::String(name)) => Self::of_type(name, object, at, depth),
            Some(Json::Array(names)) if !names.is_empty() => {
                let names = names.iter().map(|name| name.as_str().ok_or_else(|| format!("{at}.type holds no text")));
                let each = names.map(|name| Self::of_type(name?, object, at, depth));
                Ok(Self::Any(each.collect::<Result<_, _>>()?))
            }
            _ => Err(format!("{at} has no type, const or enum")),
        }
    }

    fn list(values: &[Json], object: &Map<String, Json>, key: &str, at: &str) -> Result<Self, String> {
        only(object, &[key, "type"], at)?;
        for value in values {
            match value {
                Json::Array(_) | Json::Object(_) => return Err(format!("{at}.{key} holds more than scalars")),
                Json::String(text) if text.len() > MAX_TEXT => {
                    return Err(format!("{at}.{key} holds a text of {} bytes, more than {MAX_TEXT}", text.len()));
                }
                _ => {}
            }
        }
        if values.len() as u64 > MAX_PARTS {
            return Err(format!("{at}.{key} holds {} values, more than {MAX_PARTS}", values.len()));
        }
        Ok(Self::OneOf(values.to_vec()))
    }

    fn of_type(name: &str, object: &Map<String, Json>, at: &str, depth: usize) -> Result<Self, String> {
        match name {
            "boolean" => only(object, &["type"], at).map(|()| Self::Bool),
            "null" => Ok(Self::Null),
            "integer" | "number" => Self::of_numbers(name, object, at),
            "string" => {
                only(object, &["type", "format"], at)?;
                match object.get("format").and_then(Json::as_str) {
                    Some("date") => Ok(Self::Date),
                    Some("date-time") => Ok(Self::DateTime),
                    _ => Err(format!("{at} is free text: list its values in enum, or give format date or date-time")),
                }
            }
            "object" => Self::of_object(object, at, depth),
            "array" => {
                only(object, &["type", "items", "minItems", "maxItems"], at)?;
                let most = object.get("maxItems").and_then(Json::as_u64);
                let most = most.ok_or_else(|| format!("{at} has no maxItems"))?;
                let item = object.get("items").ok_or_else(|| format!("{at} has no items"))?;
                let item = Box::new(Self::of(item, &format!("{at}.items"), depth - 1)?);
                Ok(Self::Array { item, least: object.get("minItems").and_then(Json::as_u64).unwrap_or(0), most })
            }
            other => Err(format!("{at}.type {other:?} is not known")),
        }
    }

    fn of_numbers(name: &str, object: &Map<String, Json>, at: &str) -> Result<Self, String> {
        only(object, &["type", "minimum", "maximum", "multipleOf"], at)?;
        let number = |key: &str| object.get(key).and_then(Json::as_f64);
        let (Some(least), Some(most)) = (number("minimum"), number("maximum")) else {
            return Err(format!("{at} has no minimum and maximum"));
        };
        let step = match (number("multipleOf"), name) {
            (Some(step), _) if step > 0.0 => step,
            (None, "integer") => 1.0,
            _ => return Err(format!("{at} is a number without multipleOf")),
        };
        if name == "integer" && step.fract() != 0.0 {
            return Err(format!("{at} is an integer with a multipleOf of {step}"));
        }
        if least > most || least.abs() > MAX_WHOLE || most.abs() > MAX_WHOLE || (most - least) / step > MAX_WHOLE {
            return Err(format!("{at} goes from {least} to {most} by {step}, which is no bounded range"));
        }
        Ok(Self::Steps { least, most, step })
    }

    fn of_object(object: &Map<String, Json>, at: &str, depth: usize) -> Result<Self, String> {
        only(object, &["type", "properties", "required", "additionalProperties"], at)?;
        if object.get("additionalProperties").is_some_and(|more| *more != Json::Bool(false)) {
            return Err(format!("{at} allows additionalProperties"));
        }
        let required = object.get("required").and_then(Json::as_array).cloned().unwrap_or_default();
        let properties = object.get("properties").and_then(Json::as_object);
        let properties = properties.ok_or_else(|| format!("{at} has no properties"))?;
        let each = properties.iter().map(|(key, schema)| {
            let is_required = required.iter().any(|name| name == key);
            let presence = if is_required { Presence::Required } else { Presence::Optional };
            Ok((key.clone(), Self::of(schema, &format!("{at}.{key}"), depth - 1)?, presence))
        });
        Ok(Self::Object(each.collect::<Result<_, String>>()?))
    }

    /// How many places for a value there are.
    fn parts(&self) -> u64 {
        match self {
            Self::Object(properties) => {
                properties.iter().fold(1, |sum: u64, (_, shape, _)| sum.saturating_add(shape.parts()))
            }
            Self::Array { item, most, .. } => item.parts().saturating_mul(*most).saturating_add(1),
            Self::Any(shapes) => shapes.iter().map(Self::parts).max().unwrap_or(1),
            _ => 1,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers of parts, which are bounded")]
    fn bits(&self) -> f64 {
        match self {
            Self::OneOf(values) => (values.len() as f64).log2(),
            Self::Bool => 1.0,
            Self::Null => 0.0,
            Self::Steps { least, most, step } => ((most - least) / step + 1.0).log2(),
            Self::Date => DAYS.log2(),
            Self::DateTime => SECONDS.log2(),
            Self::Object(properties) => properties
                .iter()
                .map(|(_, shape, presence)| shape.bits() + if *presence == Presence::Optional { 1.0 } else { 0.0 })
                .sum(),
            Self::Array { item, least, most } => {
                item.bits() * *most as f64 + (most.saturating_sub(*least) as f64 + 1.0).log2()
            }
            Self::Any(shapes) => {
                let widest = shapes.iter().map(Self::bits).fold(0.0, f64::max);
                widest + (shapes.len() as f64).log2()
            }
        }
    }

    #[expect(clippy::float_cmp, reason = "what is not exactly one of the values is none of them")]
    fn fit(&self, value: &Value) -> Option<Value> {
        match (self, value) {
            (Self::OneOf(values), _) => {
                let found = value.to_json().ok()?;
                let same = |listed: &&Json| match (listed.as_f64(), found.as_f64()) {
                    (Some(listed), Some(found)) => listed == found,
                    _ => **listed == found,
                };
                values.iter().find(same).and_then(|listed| Value::from_json(listed.clone()).ok())
            }
            (Self::Bool, Value::Bool(_)) => Some(value.clone()),
            (Self::Null, Value::Null | Value::Undefined) => Some(Value::Null),
            (Self::Steps { least, most, step }, Value::Number(number)) => {
                let nth = (number - least) / step;
                let is_one = (*least..=*most).contains(number) && nth == nth.round();
                // One zero.
                is_one.then_some(Value::Number(number + 0.0))
            }
            (Self::Date, Value::String(text)) => is_date(text).then(|| value.clone()),
            (Self::DateTime, Value::String(text)) => is_date_time(text).then(|| value.clone()),
            (Self::Object(properties), Value::Object(object)) => fit_object(properties, object),
            (Self::Array { item, least, most }, Value::Array(items)) => {
                let count = items.len() as u64;
                let fitted: Option<Vec<Value>> = items.iter().map(|value| item.fit(value)).collect();
                fitted.filter(|_| (*least..=*most).contains(&count)).map(Value::Array)
            }
            (Self::Any(shapes), _) => shapes.iter().find_map(|shape| shape.fit(value)),
            _ => None,
        }
    }
}

fn fit_object(properties: &[(String, Shape, Presence)], object: &Object) -> Option<Value> {
    let mut fitted = Object::default();
    for (key, shape, presence) in properties {
        match object.get(key) {
            Some(value) => {
                fitted.insert(key.as_str(), shape.fit(value)?);
            }
            None if *presence == Presence::Optional => {}
            None => return None,
        }
    }
    let listed = |key: &str| properties.iter().any(|(name, ..)| name == key);
    object.iter().all(|(key, _)| listed(key)).then_some(Value::Object(fitted))
}

/// Whether there is nothing else in a schema that would have to be understood.
fn only(object: &Map<String, Json>, known: &[&str], at: &str) -> Result<(), String> {
    const SAYS_NOTHING: [&str; 5] = ["title", "description", "default", "examples", "$schema"];
    // A type that is one of several leaves the keys of the others alone.
    let several = object.get("type").is_some_and(Json::is_array);
    let unknown = object.keys().find(|key| !known.contains(&key.as_str()) && !SAYS_NOTHING.contains(&key.as_str()));
    match unknown {
        Some(key) if !several || !KNOWN.contains(&key.as_str()) => {
            Err(format!("{at}.{key} is not understood in the schema of a declassified result"))
        }
        _ => Ok(()),
    }
}

const KNOWN: [&str; 12] = [
    "type",
    "const",
    "enum",
    "format",
    "minimum",
    "maximum",
    "multipleOf",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "maxItems",
];

/// `2026-11-30`
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    year > 0 && (1..=days).contains(&day)
}

/// `2026-11-30T09:15:00Z`
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.strip_suffix('Z').and_then(|text| text.split_once('T')) else { return false };
    let parts: Vec<&str> = time.split(':').collect();
    let [hour, minute, second] = parts.as_slice() else { return false };
    let below = |text: &str, bound: u32| digits(text, 2).is_some_and(|number| number < bound);
    is_date(date) && below(hour, 24) && below(minute, 60) && below(second, 60)
}

fn digits(text: &str, count: usize) -> Option<u32> {
    (text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bits(schema: &Json) -> u32 {
        Narrow::of(schema).unwrap().bits() - 2
    }

    #[test]
    fn bits_are_counted_from_above() {
        let cases = [
            (json!({ "const": "x" }), 0),
            (json!({ "enum": ["a", "b", "c", null] }), 2),
            (json!({ "type": "boolean" }), 1),
            (json!({ "type": "null" }), 0),
            (json!({ "type": "integer", "minimum": 0, "maximum": 255 }), 8),
            (json!({ "type": "number", "minimum": 0, "maximum": 1, "multipleOf": 0.25 }), 3),
            (json!({ "type": "string", "format": "date" }), 22),
            (json!({ "type": "string", "format": "date-time" }), 39),
            (json!({ "type": ["boolean", "null"] }), 2),
            (json!({ "type": "array", "items": { "type": "boolean" }, "maxItems": 7 }), 10),
            (
                json!({ "type": "object", "properties": { "a": { "type": "boolean" }, "b": { "type": "boolean" } },
                    "required": ["a"], "additionalProperties": false }),
                3,
            ),
        ];
        for (schema, expected) in cases {
            assert_eq!(bits(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn what_lets_text_through_is_refused() {
        let cases = [
            (
                json!({ "type": "string" }),
                "output is free text: list its values in enum, or give format date or date-time",
            ),
            (
                json!({ "type": "string", "format": "email" }),
                "output is free text: list its values in enum, or give format date or date-time",
            ),
            (
                json!({ "type": "string", "pattern": "^a$" }),
                "output.pattern is not understood in the schema of a declassified result",
            ),
            (json!({ "type": "integer", "minimum": 0 }), "output has no minimum and maximum"),
            (json!({ "type": "number", "minimum": 0, "maximum": 1 }), "output is a number without multipleOf"),
            (
                json!({ "type": "number", "minimum": 0, "maximum": 1, "multipleOf": 1e-300 }),
                "output goes from 0 to 1 by 0.000",
            ),
            (
                json!({ "type": "integer", "minimum": 2, "maximum": 1 }),
                "output goes from 2 to 1 by 1, which is no bounded range",
            ),
            (json!({ "type": "object" }), "output has no properties"),
            (
                json!({ "type": "object", "properties": {}, "additionalProperties": true }),
                "output allows additionalProperties",
            ),
            (
                json!({ "type": "object", "properties": { "a": { "type": "string" } } }),
                "output.a is free text: list its values in enum, or give format date or date-time",
            ),
            (json!({ "type": "array", "items": { "type": "boolean" } }), "output has no maxItems"),
            (
                json!({ "type": "array", "items": { "type": "boolean" }, "maxItems": 5000 }),
                "output has room for 5001 parts, more than 4096",
            ),
            (json!({ "enum": [[1]] }), "output.enum holds more than scalars"),
            (json!({ "enum": [] }), "output.enum is no list"),
            (json!({ "anyOf": [{ "type": "boolean" }] }), "output has no type, const or enum"),
            (json!({ "$ref": "#" }), "output has no type, const or enum"),
            (json!(true), "output is no object"),
        ];
        for (schema, problem) in cases {
            let found = Narrow::of(&schema).unwrap_err();
            assert!(found.starts_with(problem), "{schema}: {found}");
        }
        let mut deep = json!({ "type": "boolean" });
        for _ in 0..16 {
            deep = json!({ "type": "array", "items": deep, "maxItems": 1 });
        }
        assert!(Narrow::of(&deep).unwrap_err().ends_with(" is deeper than 16 levels"));
    }

    #[test]
    fn a_result_is_written_anew_or_refused() {
        let narrow = Narrow::of(&json!({ "type": "object", "required": ["n"], "properties": {
            "n": { "type": "integer", "minimum": -1, "maximum": 9 },
            "day": { "type": ["string", "null"], "format": "date" },
            "ids": { "type": "array", "items": { "enum": ["a1", "b2"] }, "maxItems": 2 },
        } }))
        .unwrap();
        let fit =
            |json: Json| narrow.fit(&Value::from_json(json).unwrap()).map(|value| value.to_json().unwrap().to_string());
        let whole = json!({ "ids": ["b2"], "day": "2024-02-29", "n": 3 });
        assert_eq!(fit(whole).unwrap(), r#"{"n":3,"day":"2024-02-29","ids":["b2"]}"#);
        assert_eq!(fit(json!({ "n": -0.0 })).unwrap(), r#"{"n":0}"#);
        for wrong in [
            json!({ "n": 10 }),
            json!({ "n": 1.5 }),
            json!({ "n": "3" }),
            json!({}),
            json!({ "n": 1, "x": 1 }),
            json!({ "n": 1, "day": "2023-02-29" }),
            json!({ "n": 1, "day": "2024-2-29" }),
            json!({ "n": 1, "ids": ["c3"] }),
            json!({ "n": 1, "ids": ["a1", "a1", "a1"] }),
            json!([1]),
        ] {
            assert_eq!(fit(wrong.clone()), None, "{wrong}");
        }
    }

    #[test]
    fn times_have_one_form() {
        let narrow = Narrow::of(&json!({ "type": "string", "format": "date-time" })).unwrap();
        let fits = |text: &str| narrow.fit(&Value::from(text)).is_some();
        assert!(fits("2026-11-30T09:15:00Z"));
        for other in
            ["2026-11-30T09:15:00.1Z", "2026-11-30T09:15:00+00:00", "2026-11-30T24:00:00Z", "2026-11-30t09:15:00z"]
        {
            assert!(!fits(other), "{other}");
        }
    }
}
