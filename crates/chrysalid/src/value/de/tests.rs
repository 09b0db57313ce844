//! Reading values into Rust types.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::{BigInt, ErrorValue, Object, TypedArray, TypedArrayKind, Value, ValueError, to_value};
use super::from_value;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Order {
    item: String,
    count: u8,
    #[serde(default)]
    note: Option<String>,
    state: State,
    sizes: (f64, f32),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum State {
    Open,
    Paid(u64),
    Split(u8, u8),
    Sent { to: String },
}

fn object(entries: Vec<(&str, Value)>) -> Value {
    Value::Object(entries.into_iter().collect::<Object>())
}

fn message<T: DeserializeOwned + std::fmt::Debug>(value: Value) -> String {
    from_value::<T>(value).unwrap_err().to_string()
}

#[test]
fn what_was_written_reads_back() {
    let states = [State::Open, State::Paid(u64::MAX), State::Split(1, 2), State::Sent { to: "x".into() }];
    for state in states {
        let order = Order { item: "tea".into(), count: 255, note: None, state, sizes: (-0.0, f32::INFINITY) };
        assert_eq!(from_value::<Order>(to_value(&order).unwrap()), Ok(order));
    }
    let numbers = (i128::MIN, u128::MAX, i64::MIN, 'x', true, ());
    assert_eq!(from_value(to_value(&numbers).unwrap()), Ok(numbers));
    let map = BTreeMap::from([(-1i64, Some(1)), (7, None)]);
    assert_eq!(from_value(to_value(&map).unwrap()), Ok(map));
    let flags = BTreeMap::from([(true, 1u8), (false, 0)]);
    assert_eq!(from_value(to_value(&flags).unwrap()), Ok(flags));
}

#[test]
fn errors_name_the_place() {
    let order = object(vec![("item", Value::from("tea")), ("count", Value::from(300))]);
    assert_eq!(
        message::<BTreeMap<String, Vec<Order>>>(object(vec![("a", Value::Array(vec![order]))])),
        "invalid value: integer `300`, expected u8 at $.a[0].count"
    );
    assert_eq!(message::<Order>(object(vec![])), "missing field `item` at $");
    assert_eq!(
        message::<Vec<String>>(Value::Array(vec![Value::Null])),
        "invalid type: null, expected a string at $[0]"
    );
    assert_eq!(message::<u8>(Value::from(1.5)), "invalid type: floating point `1.5`, expected u8 at $");
    assert_eq!(message::<u8>(Value::BigInt(BigInt::from(256))), "invalid value: integer `256`, expected u8 at $");
    assert_eq!(
        message::<State>(Value::Array(vec![])),
        "invalid type: Array, expected a string or an object with one property at $"
    );
    assert_eq!(
        message::<State>(object(vec![("Paid", Value::from("x"))])),
        "invalid type: string \"x\", expected u64 at $.Paid"
    );
}

#[test]
fn integers_come_from_whole_numbers_and_bigints() {
    assert_eq!(from_value::<u64>(Value::from(2f64.powi(63))), Ok(1 << 63));
    assert_eq!(from_value::<i64>(Value::from(-2f64.powi(63))), Ok(i64::MIN));
    assert!(from_value::<u64>(Value::from(2f64.powi(64))).is_err());
    assert_eq!(from_value::<u8>(Value::from(-0.0)), Ok(0));
    assert_eq!(from_value::<f64>(Value::BigInt(BigInt::from(5))), Ok(5.0));
    assert!(from_value::<f64>(Value::from(f64::NAN)).unwrap().is_nan());
}

#[test]
fn undefined_is_missing() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Options {
        #[serde(default = "ten")]
        limit: u32,
        text: Option<String>,
    }
    fn ten() -> u32 {
        10
    }
    let value = object(vec![("limit", Value::Undefined), ("text", Value::Undefined)]);
    assert_eq!(from_value::<Options>(value), Ok(Options { limit: 10, text: None }));
    let list = Value::Array(vec![Value::Undefined, Value::Null, Value::Hole, Value::from(1)]);
    assert_eq!(from_value(list), Ok(vec![None, None, None, Some(1)]));
}

#[test]
fn bytes_and_typed_arrays() {
    struct Bytes(Vec<u8>);
    impl<'de> Deserialize<'de> for Bytes {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl serde::de::Visitor<'_> for Visitor {
                type Value = Bytes;
                fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    formatter.write_str("bytes")
                }
                fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                    Ok(Bytes(bytes.into()))
                }
            }
            deserializer.deserialize_byte_buf(Visitor)
        }
    }
    let content = Value::TypedArray(TypedArray::uint8(vec![1, 2, 255]));
    assert_eq!(from_value::<Bytes>(content.clone()).unwrap().0, [1, 2, 255]);
    assert_eq!(from_value(content.clone()), Ok(vec![1u8, 2, 255]));
    assert_eq!(from_value(content), Ok("AQL/".to_owned()));
    let floats = TypedArray { kind: TypedArrayKind::Float32, bytes: 1.5f32.to_le_bytes().into() };
    assert_eq!(from_value(Value::TypedArray(floats)), Ok([1.5f64]));
}

#[test]
fn maps_by_their_own_keys() {
    let map = Value::Map(vec![(Value::from(1), Value::from("a")), (Value::from(2), Value::from("b"))]);
    assert_eq!(from_value(map.clone()), Ok(BTreeMap::from([(1u8, 'a'), (2, 'b')])));
    assert_eq!(from_value(map.clone()), Ok(vec![(1u8, 'a'), (2, 'b')]));
    assert_eq!(message::<Vec<(u8, u8)>>(map), "invalid type: string \"a\", expected u8 at $[0][1]");
}

#[test]
fn json_read_by_serde_is_that_of_to_json() {
    let mut error = ErrorValue::new("TypeError", "no");
    error.cause = Some(Value::from(1));
    error.errors = Some(vec![Value::from("x"), Value::Ref(0)]);
    let value = Value::Array(vec![
        object(vec![("a", Value::Undefined), ("b", Value::from(-0.0)), ("c", Value::from(f64::NAN))]),
        Value::from((1i64 << 53) + 1),
        Value::BigInt(BigInt::from(1i128 << 70)),
        Value::Date(1.0),
        Value::Date(f64::NAN),
        Value::ArrayBuffer(vec![7]),
        Value::TypedArray(TypedArray { kind: TypedArrayKind::Int16, bytes: vec![1, 0, 2, 0] }),
        Value::Map(vec![(Value::from("k"), Value::from(1)), (Value::from("u"), Value::Undefined)]),
        Value::Map(vec![(Value::Null, Value::Ref(1))]),
        Value::Set(vec![Value::Hole, Value::from(1e21)]),
        Value::Description("[Symbol]".into()),
        Value::from(ErrorValue { errors: None, ..error.clone() }),
    ]);
    assert_eq!(from_value(value.clone()), Ok(value.to_json().unwrap()));
    assert_eq!(message::<serde_json::Value>(Value::from(error)), "value contains itself at $.errors[1]");
}

#[test]
fn cycles_hurt_only_where_they_are_read() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Name {
        name: String,
    }
    let looped = object(vec![("name", Value::from("x")), ("children", Value::Array(vec![Value::Ref(0)]))]);
    assert_eq!(from_value(looped.clone()), Ok(Name { name: "x".into() }));
    assert_eq!(message::<serde_json::Value>(looped), "value contains itself at $.children[0]");
    let shared = Value::Array(vec![Value::Array(vec![Value::from(7)]), Value::Ref(1)]);
    assert_eq!(from_value(shared), Ok(json!([[7], [7]])));
}

#[test]
fn billion_laughs_is_an_error() {
    let mut value = Value::Array(vec![Value::from(1)]);
    for level in (0..40).rev() {
        value = Value::Array(vec![value, Value::Ref(level + 1)]);
    }
    assert_eq!(message::<serde_json::Value>(value), "value expands to more than 1000000 nodes");
}

#[test]
fn depth_is_bounded() {
    let deep = |levels| (1..levels).fold(Value::Array(vec![]), |inner, _| Value::Array(vec![inner]));
    assert!(from_value::<serde_json::Value>(deep(128)).is_ok());
    assert_eq!(from_value::<serde_json::Value>(deep(129)), Err(ValueError::TooDeep { depth: 129, limit: 128 }));
}
