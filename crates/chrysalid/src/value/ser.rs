//! Rust types to values, by serde.

use serde::Serialize;
use serde::ser;

use super::error::ValueError;
use super::{BigInt, Object, TypedArray, Value, number};

/// How deep serde may recurse. The recursion goes through the types' own code, whose frames are large in a debug
/// build; the bound is that of `serde_json`.
pub(super) const DEPTH: usize = 128;

/// The value that a Rust value is to a program.
///
/// | Rust | JavaScript |
/// |---|---|
/// | `bool`, floats, `char`, strings | the same; a `char` is a string |
/// | integers | number within ±2^53, else `BigInt` |
/// | bytes (`serde_bytes`) | `Uint8Array` |
/// | `()`, unit structs | `undefined` |
/// | `None` | `null` |
/// | sequences, tuples | array |
/// | structs, maps | object; keys that are integers, booleans or unit variants become their text |
/// | enums | tagged from outside, as in `serde_json` |
///
/// Fails with [`ValueError::TooDeep`] beyond 128 levels, [`ValueError::Mismatch`] for a map with other keys, and whatever error
/// the type's own `Serialize` gives.
pub fn to_value<T: Serialize + ?Sized>(source: &T) -> Result<Value, ValueError> {
    source.serialize(Serializer { depth: 0 })
}

/// `depth` counts the containers open around this place.
#[derive(Clone, Copy)]
struct Serializer {
    depth: usize,
}

impl Serializer {
    fn inside(self) -> Result<Self, ValueError> {
        let depth = self.depth + 1;
        if depth > DEPTH {
            return Err(ValueError::TooDeep { depth, limit: DEPTH });
        }
        Ok(Self { depth })
    }

    fn items(self, variant: Option<&'static str>) -> Result<Items, ValueError> {
        let outer = if variant.is_some() { self.inside()? } else { self };
        Ok(Items { inner: outer.inside()?, variant, built: Vec::new() })
    }

    fn entries(self, variant: Option<&'static str>) -> Result<Entries, ValueError> {
        let outer = if variant.is_some() { self.inside()? } else { self };
        Ok(Entries { inner: outer.inside()?, variant, built: Vec::new(), key: None })
    }
}

macro_rules! scalars {
    ($($method:ident: $type:ty => $convert:expr;)*) => {$(
        fn $method(self, source: $type) -> Result<Value, ValueError> {
            Ok($convert(source))
        }
    )*};
}

impl ser::Serializer for Serializer {
    type Ok = Value;
    type Error = ValueError;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Items;
    type SerializeMap = Entries;
    type SerializeStruct = Entries;
    type SerializeStructVariant = Entries;

    scalars! {
        serialize_bool: bool => Value::Bool;
        serialize_i8: i8 => |source| Value::Number(f64::from(source));
        serialize_i16: i16 => |source| Value::Number(f64::from(source));
        serialize_i32: i32 => |source| Value::Number(f64::from(source));
        serialize_i64: i64 => Value::from;
        serialize_i128: i128 => Value::from;
        serialize_u8: u8 => |source| Value::Number(f64::from(source));
        serialize_u16: u16 => |source| Value::Number(f64::from(source));
        serialize_u32: u32 => |source| Value::Number(f64::from(source));
        serialize_u64: u64 => Value::from;
        serialize_u128: u128 => |source| i128::try_from(source)
            .map_or_else(|_| Value::BigInt(BigInt::from(source)), Value::from);
        serialize_f32: f32 => |source| Value::Number(f64::from(source));
        serialize_f64: f64 => Value::Number;
        serialize_char: char => |source| Value::String(String::from(source));
        serialize_str: &str => Value::from;
        serialize_bytes: &[u8] => |source: &[u8]| Value::TypedArray(TypedArray::uint8(source.into()));
        serialize_unit_struct: &'static str => |_| Value::Undefined;
    }

    fn serialize_none(self) -> Result<Value, ValueError> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, source: &T) -> Result<Value, ValueError> {
        source.serialize(self)
    }

    fn serialize_unit(self) -> Result<Value, ValueError> {
        Ok(Value::Undefined)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Value, ValueError> {
        Ok(Value::from(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, inner: &T) -> Result<Value, ValueError> {
        inner.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        inner: &T,
    ) -> Result<Value, ValueError> {
        Ok(tagged(Some(variant), inner.serialize(self.inside()?)?))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items, ValueError> {
        self.items(None)
    }

    fn serialize_tuple(self, _: usize) -> Result<Items, ValueError> {
        self.items(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items, ValueError> {
        self.items(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items, ValueError> {
        self.items(Some(variant))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Entries, ValueError> {
        self.entries(None)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Entries, ValueError> {
        self.entries(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Entries, ValueError> {
        self.entries(Some(variant))
    }
}

/// A sequence or tuple in the making.
struct Items {
    inner: Serializer,
    variant: Option<&'static str>,
    built: Vec<Value>,
}

macro_rules! sequences {
    ($($role:ident $method:ident;)*) => {$(
        impl ser::$role for Items {
            type Ok = Value;
            type Error = ValueError;

            fn $method<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), ValueError> {
                self.built.push(item.serialize(self.inner)?);
                Ok(())
            }

            fn end(self) -> Result<Value, ValueError> {
                Ok(tagged(self.variant, Value::Array(self.built)))
            }
        }
    )*};
}

sequences! {
    SerializeSeq serialize_element;
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
}

/// A map or struct in the making.
struct Entries {
    inner: Serializer,
    variant: Option<&'static str>,
    built: Vec<(String, Value)>,
    key: Option<String>,
}

impl Entries {
    fn finish(self) -> Value {
        tagged(self.variant, Value::Object(Object::from_entries(self.built)))
    }
}

impl ser::SerializeMap for Entries {
    type Ok = Value;
    type Error = ValueError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), ValueError> {
        self.key = Some(key_text(&key.serialize(self.inner)?)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ValueError> {
        let key = self.key.take().ok_or_else(|| ValueError::mismatch("value of a map before its key"))?;
        self.built.push((key, value.serialize(self.inner)?));
        Ok(())
    }

    fn end(self) -> Result<Value, ValueError> {
        Ok(self.finish())
    }
}

macro_rules! structs {
    ($($role:ident)*) => {$(
        impl ser::$role for Entries {
            type Ok = Value;
            type Error = ValueError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), ValueError> {
                self.built.push((key.into(), value.serialize(self.inner)?));
                Ok(())
            }

            fn end(self) -> Result<Value, ValueError> {
                Ok(self.finish())
            }
        }
    )*};
}

structs!(SerializeStruct SerializeStructVariant);

fn tagged(variant: Option<&'static str>, content: Value) -> Value {
    match variant {
        Some(variant) => Value::Object(Object::from_entries(vec![(variant.into(), content)])),
        None => content,
    }
}

fn key_text(key: &Value) -> Result<String, ValueError> {
    match key {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(truth) => Ok(truth.to_string()),
        Value::Number(number) => Ok(number::text(*number)),
        Value::BigInt(number) => Ok(number.to_string()),
        _ => Err(ValueError::mismatch(format!("key of a map is {}, expected a string", key.kind_name()))),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Serialize)]
    struct Order {
        item: &'static str,
        count: Option<u64>,
        note: Option<()>,
        state: State,
    }

    #[derive(Serialize)]
    enum State {
        Open,
        Paid(u8),
        Split(u8, u8),
        Sent { to: &'static str },
    }

    #[derive(Serialize)]
    struct Nested(Vec<Nested>);

    #[test]
    fn structs_and_enums() {
        let order = Order { item: "tea", count: Some(u64::MAX), note: None, state: State::Open };
        assert_eq!(
            to_value(&order).unwrap().to_string(),
            "{ item: 'tea', count: 18446744073709551615n, note: null, state: 'Open' }"
        );
        let states = [State::Paid(1), State::Split(1, 2), State::Sent { to: "x" }];
        assert_eq!(
            to_value(&states).unwrap().to_string(),
            "[ { Paid: 1 }, { Split: [ 1, 2 ] }, { Sent: { to: 'x' } } ]"
        );
    }

    #[test]
    fn integers_beyond_two_to_the_53_are_bigints() {
        assert_eq!(to_value(&(1i64 << 53)).unwrap(), Value::Number(9_007_199_254_740_992.0));
        assert_eq!(to_value(&((1i64 << 53) + 1)).unwrap(), Value::BigInt(9_007_199_254_740_993i64.into()));
        assert_eq!(to_value(&u128::MAX).unwrap(), Value::BigInt(u128::MAX.into()));
    }

    #[test]
    fn keys_become_text() {
        assert_eq!(to_value(&BTreeMap::from([(1u8, 'a'), (20, 'b')])).unwrap().to_string(), "{ '1': 'a', '20': 'b' }");
        let error = to_value(&BTreeMap::from([((1, 2), 3)])).unwrap_err();
        assert_eq!(error.to_string(), "key of a map is Array, expected a string at $");
    }

    #[test]
    fn unit_is_undefined() {
        assert_eq!(to_value(&()).unwrap(), Value::Undefined);
        assert_eq!(to_value(&Some(5)).unwrap(), Value::from(5));
        assert_eq!(to_value("text").unwrap(), Value::from("text"));
    }

    #[test]
    fn depth_is_bounded() {
        let deep = |levels| (1..levels).fold(Nested(vec![]), |inner, _| Nested(vec![inner]));
        assert!(to_value(&deep(128)).is_ok());
        assert_eq!(to_value(&deep(129)).unwrap_err().to_string(), "value is 129 levels deep, more than 128");
    }
}
