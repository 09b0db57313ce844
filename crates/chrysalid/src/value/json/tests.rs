//! Values to JSON and back.

use serde_json::json;

use super::super::{RegExp, TypedArray, TypedArrayKind};
use super::*;

fn object(entries: Vec<(&str, Value)>) -> Value {
    Value::Object(entries.into_iter().collect())
}

#[test]
fn every_row_of_the_table() {
    let mut error = ErrorValue::new("TypeError", "no");
    error.stack = Some("    at secret.rs".into());
    error.cause = Some(Value::from(1));
    error.errors = Some(vec![Value::Null]);
    let cases = [
        (object(vec![("a", Value::Undefined), ("b", Value::Null)]), json!({"b": null})),
        (Value::Array(vec![Value::Undefined, Value::Hole, Value::from(true)]), json!([null, null, true])),
        (Value::Undefined, json!(null)),
        (Value::from(-0.0), json!(0)),
        (Value::from(9_007_199_254_740_992.0), json!(9_007_199_254_740_992_i64)),
        (Value::from(1e300), json!(1e300)),
        (Value::from(0.5), json!(0.5)),
        (Value::Array(vec![Value::from(f64::NAN), Value::from(f64::INFINITY)]), json!([null, null])),
        (Value::from(BigInt::from(i64::MIN)), json!(i64::MIN)),
        (Value::from(BigInt::from(u64::MAX)), json!(u64::MAX)),
        (Value::from(BigInt::from(1i128 << 64)), json!("18446744073709551616")),
        (Value::ArrayBuffer(vec![1, 2]), json!("AQI=")),
        (Value::TypedArray(TypedArray::uint8(vec![255])), json!("/w==")),
        (Value::TypedArray(TypedArray { kind: TypedArrayKind::Int8, bytes: vec![255] }), json!([-1])),
        (Value::TypedArray(TypedArray { kind: TypedArrayKind::BigUint64, bytes: vec![255; 8] }), json!([u64::MAX])),
        (Value::Date(0.0), json!("1970-01-01T00:00:00.000Z")),
        (Value::Date(f64::NAN), json!(null)),
        (Value::from(RegExp { source: "a+".into(), flags: "gi".into() }), json!("/a+/gi")),
        (Value::Map(vec![(Value::from("k"), Value::from(1))]), json!({"k": 1})),
        (Value::Map(vec![(Value::from(1), Value::from("v"))]), json!([[1, "v"]])),
        (Value::Map(vec![]), json!({})),
        (Value::Set(vec![Value::from(1)]), json!([1])),
        (Value::from(error), json!({"name": "TypeError", "message": "no", "cause": 1, "errors": [null]})),
        (Value::Description("[Function: f]".into()), json!("[Function: f]")),
    ];
    for (value, expected) in cases {
        assert_eq!(value.to_json(), Ok(expected), "{value:?}");
    }
}

#[test]
fn shared_parts_are_written_out_and_cycles_refused() {
    let shared = Value::Array(vec![Value::Array(vec![Value::from(7)]), Value::Ref(1)]);
    assert_eq!(shared.to_json(), Ok(json!([[7], [7]])));
    let looped = object(vec![("list", Value::Array(vec![Value::from(1), object(vec![("up", Value::Ref(0))])]))]);
    assert_eq!(looped.to_json().unwrap_err().to_string(), "value contains itself at $.list[1].up");
    let in_map = Value::Map(vec![(Value::from(1), Value::Ref(0))]);
    assert_eq!(in_map.to_json().unwrap_err().to_string(), "value contains itself at $[0][1]");
    let dangling = Value::Array(vec![Value::Ref(1), Value::Array(vec![])]);
    assert_eq!(dangling.to_json().unwrap_err().to_string(), "value refers to object 1 where only 1 have begun");
}

/// Each array holds the one before twice.
fn laughs(levels: u32, innermost: Value) -> Value {
    let mut value = Value::Array(vec![innermost]);
    for level in (0..levels).rev() {
        value = Value::Array(vec![value, Value::Ref(level + 1)]);
    }
    value
}

#[test]
fn billion_laughs_is_an_error() {
    assert_eq!(laughs(2, Value::from(1)).to_json(), Ok(json!([[[1], [1]], [[1], [1]]])));
    let error = laughs(40, Value::from(1)).to_json().unwrap_err();
    assert_eq!(error.to_string(), "value expands to more than 1000000 nodes");
    let error = laughs(12, Value::String("x".repeat(1 << 20))).to_json().unwrap_err();
    assert_eq!(error.to_string(), "value expands to more than 67108864 bytes");
}

#[test]
fn decimal_text_of_shared_bigints_is_paid_for() {
    let number = BigInt::from_hex(false, "f".repeat(1 << 18).as_bytes()).unwrap();
    assert_eq!(Value::BigInt(number.clone()).to_json().map(|json| json.as_str().unwrap().len()), Ok(315_653));
    let error = laughs(6, Value::BigInt(number)).to_json().unwrap_err();
    assert_eq!(error, ValueError::TooManyBytes { limit: 64 << 20 });
}

#[test]
fn json_reads_as_in_javascript_but_for_large_integers() {
    let json = json!({"a": [1, 0.5, null, "x", true], "big": 9_007_199_254_740_993_i64, "max": u64::MAX, "f": 1e300});
    let value = Value::from_json(json.clone()).unwrap();
    assert_eq!(
        value.to_string(),
        "{\n  a: [ 1, 0.5, null, 'x', true ],\n  big: 9007199254740993n,\n  max: 18446744073709551615n,\n  f: 1e+300\n}"
    );
    assert_eq!(value.to_json(), Ok(json));
}

#[test]
fn depth_is_bounded_both_ways() {
    let deep = |levels| (1..levels).fold(Value::Array(vec![]), |inner, _| Value::Array(vec![inner]));
    let json = deep(512).to_json().unwrap();
    assert_eq!(Value::from_json(json.clone()), Ok(deep(512)));
    let too_deep = Err(ValueError::TooDeep { depth: 513, limit: 512 });
    assert_eq!(deep(513).to_json(), too_deep);
    assert_eq!(Value::from_json(Json::Array(vec![json])).map(|_| Json::Null), too_deep);
}
