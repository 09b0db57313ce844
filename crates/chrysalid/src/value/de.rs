//! Values to Rust types, by serde.
//!
//! A value describes itself to serde as its JSON does (see [`Value::to_json`]), so that reading a value into
//! `serde_json::Value` gives that very JSON. Where the type asks for more, it gets more: bytes from typed arrays,
//! floats with NaN, integers of 128 bits.

mod access;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeOwned, Deserializer, Error, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use access::{Element, Entries, Items, Pair, Variant};

use super::ser::DEPTH;
use super::tree::{Budget, Objects};
use super::{BigInt, Value, ValueError, bytes, date, number};

/// Reads a value into a Rust type.
///
/// | Rust | accepts |
/// |---|---|
/// | `bool`, strings | the same; a string also what JSON writes as one: dates, patterns, bytes as base64 |
/// | integers | a number without a fraction or a `BigInt`, within the type's range |
/// | floats | any number; a `BigInt` up to 64 bits |
/// | bytes (`serde_bytes`) | `ArrayBuffer`, typed arrays, `DataView` |
/// | `Option` | `undefined` and `null` as `None` |
/// | `()`, unit structs | `undefined` and `null` |
/// | sequences, tuples | array, `Set`, `Map` as pairs, typed arrays by element, `ArrayBuffer` by byte |
/// | structs, maps | object, `Map`, error as `name`, `message`, `cause`, `errors`, handle as in its JSON |
/// | enums | a string, or an object with one property, as in `serde_json` |
///
/// A property that is `undefined` counts as missing. Shared parts are read once for each place. The keys of an object
/// are read as integers or booleans where the type's keys are.
///
/// Fails with [`ValueError::Mismatch`] with the path, [`ValueError::Cycle`] where a cycle is read, [`ValueError::TooDeep`] beyond
/// 128 levels, [`ValueError::TooManyNodes`] and [`ValueError::TooManyBytes`] beyond 1,000,000 values or 64 MiB read.
#[expect(clippy::needless_pass_by_value, reason = "as in `serde_json`; what is read is usually not needed again")]
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, ValueError> {
    let scope = Scope { objects: Objects::of(&value)?, budget: Cell::new(Budget::new()), open: RefCell::default() };
    T::deserialize(Node { value: &value, scope: &scope })
}

/// What all places of one value share.
struct Scope<'de> {
    objects: Objects<'de>,
    budget: Cell<Budget>,
    /// The containers around the place that is being read.
    open: RefCell<Vec<*const Value>>,
}

impl<'de> Scope<'de> {
    fn resolve(&self, value: &'de Value) -> Result<&'de Value, ValueError> {
        let target = self.objects.resolve(value)?;
        let is_open = |open: &*const Value| std::ptr::eq(*open, target);
        if matches!(value, Value::Ref(_)) && self.open.borrow().iter().any(is_open) {
            return Err(ValueError::cycle());
        }
        Ok(target)
    }

    /// Reads the children of a container, within the bound of depth.
    fn inside<T>(&self, value: &Value, read: impl FnOnce() -> Result<T, ValueError>) -> Result<T, ValueError> {
        let depth = self.open.borrow().len() + 1;
        if depth > DEPTH {
            return Err(ValueError::TooDeep { depth, limit: DEPTH });
        }
        self.open.borrow_mut().push(value);
        let result = read();
        self.open.borrow_mut().pop();
        result
    }
}

/// A place in a value.
#[derive(Clone, Copy)]
struct Node<'de> {
    value: &'de Value,
    scope: &'de Scope<'de>,
}

impl<'de> Node<'de> {
    fn at(self, value: &'de Value) -> Self {
        Self { value, ..self }
    }

    /// The value that stands here, or is referred to, paid for.
    fn settle(self) -> Result<&'de Value, ValueError> {
        let value = self.scope.resolve(self.value)?;
        let mut budget = self.scope.budget.get();
        budget.charge(value)?;
        self.scope.budget.set(budget);
        Ok(value)
    }

    fn visit_items<V: Visitor<'de>>(
        self,
        container: &'de Value,
        items: &'de [Value],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        let nodes = items.iter().map(|item| self.at(item));
        self.scope.inside(container, || visitor.visit_seq(Items { rest: nodes, index: 0 }))
    }

    fn visit_pairs<V: Visitor<'de>>(
        self,
        container: &'de Value,
        pairs: &'de [(Value, Value)],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        let nodes = pairs.iter().map(|pair| Pair { node: self, pair });
        self.scope.inside(container, || visitor.visit_seq(Items { rest: nodes, index: 0 }))
    }

    fn visit_entries<V: Visitor<'de>>(self, container: &'de Value, visitor: V) -> Result<V::Value, ValueError> {
        let entries = Entries::of(self, container);
        self.scope.inside(container, || visitor.visit_map(entries))
    }
}

macro_rules! integers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
            self.integer(visitor)
        }
    )*};
}
use integers;

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = ValueError;

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    forward_to_deserialize_any! {
        bool char str string identifier unit unit_struct
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        let value = self.settle()?;
        match value {
            Value::Map(pairs) if !pairs.iter().all(|(key, _)| matches!(key, Value::String(_))) => {
                self.visit_pairs(value, pairs, visitor)
            }
            Value::Array(items) | Value::Set(items) => self.visit_items(value, items, visitor),
            Value::Object(_) | Value::Map(_) | Value::Error(_) | Value::Handle(_) => self.visit_entries(value, visitor),
            Value::TypedArray(array) if !array.is_bytes() => {
                visitor.visit_seq(Items { rest: array.elements().map(Element), index: 0 })
            }
            Value::String(text) | Value::Description(text) => visitor.visit_borrowed_str(text),
            _ => visit_leaf(value, visitor),
        }
    }
    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match self.settle()? {
            Value::Number(number) => visitor.visit_f64(*number),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match self.settle()? {
            Value::ArrayBuffer(content) => visitor.visit_borrowed_bytes(content),
            Value::TypedArray(array) => visitor.visit_borrowed_bytes(&array.bytes),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match self.settle()? {
            Value::Undefined | Value::Null | Value::Hole => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        let value = self.settle()?;
        match value {
            Value::ArrayBuffer(content) => {
                let elements = content.iter().map(|byte| Element(Value::Number((*byte).into())));
                visitor.visit_seq(Items { rest: elements, index: 0 })
            }
            Value::TypedArray(array) => visitor.visit_seq(Items { rest: array.elements().map(Element), index: 0 }),
            Value::Map(pairs) => self.visit_pairs(value, pairs, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, ValueError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        let value = self.settle()?;
        match value {
            Value::Map(_) => self.visit_entries(value, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        let value = self.settle()?;
        if let Value::String(name) = value {
            return visitor.visit_enum(BorrowedStrDeserializer::new(name));
        }
        let mut defined = value.as_object().into_iter().flatten().filter(|(_, property)| !property.is_undefined());
        if let (Some((name, content)), None) = (defined.next(), defined.next()) {
            return self.scope.inside(value, || visitor.visit_enum(Variant { name, content: self.at(content) }));
        }
        Err(ValueError::invalid_type(Unexpected::Other(value.kind_name()), &"a string or an object with one property"))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_unit()
    }
}

impl<'de> Node<'de> {
    fn integer<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match self.settle()? {
            Value::Number(number) => match number::integer(*number) {
                Some(integer) => visit_integer(integer, visitor),
                None => visitor.visit_f64(*number),
            },
            Value::BigInt(number) => visit_big_int(number, visitor),
            _ => self.deserialize_any(visitor),
        }
    }
}

fn visit_integer<'de, V: Visitor<'de>>(integer: i128, visitor: V) -> Result<V::Value, ValueError> {
    if let Ok(integer) = u64::try_from(integer) {
        return visitor.visit_u64(integer);
    }
    match i64::try_from(integer) {
        Ok(integer) => visitor.visit_i64(integer),
        Err(_) => visitor.visit_i128(integer),
    }
}

fn visit_big_int<'de, V: Visitor<'de>>(number: &BigInt, visitor: V) -> Result<V::Value, ValueError> {
    if let Ok(integer) = i128::try_from(number) {
        return visit_integer(integer, visitor);
    }
    match u128::try_from(number) {
        Ok(integer) => visitor.visit_u128(integer),
        Err(error) => Err(ValueError::mismatch(error.to_string())),
    }
}

/// Visits what has no children as JSON has it.
fn visit_leaf<'de, V: Visitor<'de>>(value: &Value, visitor: V) -> Result<V::Value, ValueError> {
    match value {
        Value::Bool(truth) => visitor.visit_bool(*truth),
        Value::Number(number) => match number::exact_integer(*number) {
            Some(integer) => visit_integer(integer.into(), visitor),
            None => visitor.visit_f64(*number),
        },
        Value::BigInt(number) => match (i64::try_from(number), u64::try_from(number)) {
            (Ok(integer), _) => visit_integer(integer.into(), visitor),
            (_, Ok(integer)) => visitor.visit_u64(integer),
            _ => visitor.visit_string(number.to_string()),
        },
        Value::ArrayBuffer(content) => visitor.visit_string(bytes::base64(content)),
        Value::TypedArray(array) => visitor.visit_string(bytes::base64(&array.bytes)),
        Value::RegExp(pattern) => visitor.visit_string(format!("/{}/{}", pattern.source, pattern.flags)),
        Value::Date(milliseconds) => match date::iso_text(*milliseconds) {
            Some(text) => visitor.visit_string(text),
            None => visitor.visit_unit(),
        },
        _ => visitor.visit_unit(),
    }
}
