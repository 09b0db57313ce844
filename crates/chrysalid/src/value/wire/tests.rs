//! The wire format: golden bytes of each row, round trips, and what hostile bytes give.

use proptest::prelude::*;

use super::super::{
    BigInt, ErrorValue, Handle, Object, RegExp, TypedArray, TypedArrayKind, Value, ValueError, from_value,
};
use super::*;

const BOUNDS: Bounds = Bounds { bytes: 1 << 20, depth: 512, nodes: 1_000_000 };

fn object(entries: Vec<(&str, Value)>) -> Value {
    Value::Object(entries.into_iter().collect::<Object>())
}

fn nested(levels: u32) -> Value {
    (1..levels).fold(Value::Array(vec![]), |inner, _| Value::Array(vec![inner]))
}

fn failure(bytes: &[u8]) -> String {
    decode(bytes, &BOUNDS).unwrap_err().to_string()
}

#[test]
fn golden_bytes() {
    let mut error = ErrorValue::new("E", "m");
    error.stack = Some("s".into());
    error.cause = Some(Value::Null);
    error.errors = Some(vec![Value::Ref(0)]);
    let cases: Vec<(Value, &[u8])> = vec![
        (Value::Undefined, b"\x00"),
        (Value::Null, b"\x01"),
        (Value::Bool(false), b"\x02"),
        (Value::Bool(true), b"\x03"),
        (Value::from(0), b"\x04\x00"),
        (Value::from(-1), b"\x04\x01"),
        (Value::from(64), b"\x04\x80\x01"),
        (Value::from(i32::MAX), b"\x04\xfe\xff\xff\xff\x0f"),
        (Value::from(i32::MIN), b"\x04\xff\xff\xff\xff\x0f"),
        (Value::from(f64::from(i32::MAX) + 1.0), b"\x05\x00\x00\x00\x00\x00\x00\xe0\x41"),
        (Value::from(-0.0), b"\x05\x00\x00\x00\x00\x00\x00\x00\x80"),
        (Value::from(-f64::NAN), b"\x05\x00\x00\x00\x00\x00\x00\xf8\x7f"),
        (Value::BigInt(BigInt::from(0)), b"\x06\x00\x010"),
        (Value::BigInt(BigInt::from(-255)), b"\x06\x01\x02ff"),
        (Value::from("h\u{e9}"), b"\x07\x03h\xc3\xa9"),
        (Value::ArrayBuffer(vec![1, 2]), b"\x08\x02\x01\x02"),
        (Value::TypedArray(TypedArray { kind: TypedArrayKind::Int16, bytes: vec![1, 0] }), b"\x09\x03\x02\x01\x00"),
        (Value::Date(1.0), b"\x0a\x00\x00\x00\x00\x00\x00\xf0\x3f"),
        (Value::from(RegExp { source: "a".into(), flags: "g".into() }), b"\x0b\x01a\x01g"),
        (Value::Array(vec![Value::Hole, Value::Null]), b"\x0c\x02\x0d\x01"),
        (object(vec![("b", Value::Null), ("a", Value::Undefined)]), b"\x0e\x02\x01b\x01\x01a\x00"),
        (Value::Map(vec![(Value::from(1), Value::Null)]), b"\x0f\x01\x04\x02\x01"),
        (Value::Set(vec![Value::Ref(0)]), b"\x10\x01\x12\x00"),
        (Value::from(ErrorValue::new("E", "")), b"\x11\x01E\x00\x00"),
        (Value::from(error), b"\x11\x01E\x01m\x07\x01s\x01\x01\x12\x00"),
        (Value::Description("f".into()), b"\x13\x01f"),
        (Value::from(Handle::new(3, "a.b")), b"\x15\x03\x03a.b"),
        (Value::from(Handle::new(u32::MAX, "")), b"\x15\xff\xff\xff\xff\x0f\x00"),
        // Twice in full, and no object that a reference could count.
        (
            Value::Array(vec![
                Handle::new(1, "a").into(),
                Value::Array(vec![]),
                Handle::new(1, "a").into(),
                Value::Ref(1),
            ]),
            b"\x0c\x04\x15\x01\x01a\x0c\x00\x15\x01\x01a\x12\x01",
        ),
    ];
    for (value, bytes) in cases {
        assert_eq!(encode_record(&value, &BOUNDS).as_deref(), Ok(bytes), "{value:?}");
        assert_eq!(decode(bytes, &BOUNDS).as_ref(), Ok(&value));
    }
}

#[test]
fn doubles_that_are_small_integers_are_read_all_the_same() {
    assert_eq!(decode(b"\x05\x00\x00\x00\x00\x00\x00\xf0\x3f", &BOUNDS), Ok(Value::from(1)));
}

#[test]
fn malformed_bytes() {
    let cases: &[(&[u8], &str)] = &[
        (b"", "value ends early at byte 0"),
        (b"\x16", "unknown tag 0x16 at byte 0"),
        (b"\x15", "value ends early at byte 1"),
        (b"\x15\x00\x01a", "handle with number 0"),
        (b"\x15\x80\x00\x01a", "malformed varint at byte 1"),
        (b"\x15\xff\xff\xff\xff\x1f\x01a", "malformed varint at byte 1"),
        (b"\x15\x01\x02a", "value ends early at byte 4"),
        (b"\x15\x01\x01a\x12\x00", "2 bytes follow the value"),
        (b"\x0c\x02\x15\x01\x01a\x12\x01", "reference to object 1 where only 1 have begun"),
        (b"\x14", "value ends early at byte 1"),
        (b"\x14\x01A\x00", "malformed instance at byte 3"),
        (b"\x00\x00", "1 bytes follow the value"),
        (b"\x04\x80", "value ends early at byte 2"),
        (b"\x04\x80\x00", "malformed varint at byte 1"),
        (b"\x04\xff\xff\xff\xff\x1f", "malformed varint at byte 1"),
        (b"\x04\x80\x80\x80\x80\x80\x01", "malformed varint at byte 1"),
        (b"\x06\x02\x010", "malformed bigint at byte 1"),
        (b"\x06\x01\x010", "malformed bigint at byte 1"),
        (b"\x06\x00\x0201", "malformed bigint at byte 1"),
        (b"\x06\x00\x01F", "malformed bigint at byte 1"),
        (b"\x06\x00\x00", "malformed bigint at byte 1"),
        (b"\x07\x05abc", "value ends early at byte 5"),
        (b"\x09\x0d\x00", "malformed typed array kind at byte 1"),
        (b"\x09\x03\x01\x00", "typed array of 1 bytes is not whole elements of 2 bytes"),
        (b"\x0d", "hole outside an array"),
        (b"\x10\x01\x0d", "hole outside an array"),
        (b"\x0e\x01\x01a\x0d", "hole outside an array"),
        (b"\x11\x00\x00\x10", "malformed error flags at byte 3"),
        (b"\x12\x00", "reference to object 0 where only 0 have begun"),
        (b"\x0c\x02\x12\x01\x0c\x00", "reference to object 1 where only 1 have begun"),
        (b"\x0c\x02\x00", "value ends early at byte 3"),
        (b"\x0e\x01\x00", "value ends early at byte 3"),
        (b"\x0e\x03\x01a\x0c\x00\x01a\x00\x01b\x12\x00", "references in a value with duplicate keys"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(failure(bytes), *expected, "{bytes:02x?}");
    }
}

#[test]
fn last_of_equal_keys_wins() {
    assert_eq!(decode(b"\x0e\x02\x01a\x00\x01a\x01", &BOUNDS), Ok(object(vec![("a", Value::Null)])));
}

#[test]
fn lone_surrogates_become_one_replacement_each() {
    let cases: &[(&[u8], &str)] = &[
        (b"\x07\x05a\xed\xa0\x80b", "a\u{fffd}b"),
        (b"\x07\x06\xed\xa0\x80\xed\xb0\x80", "\u{fffd}\u{fffd}"),
        (b"\x07\x04\xff\xc3a\xed", "\u{fffd}\u{fffd}a\u{fffd}"),
        (b"\x07\x03\xed\xa0x", "\u{fffd}x"),
        (b"\x07\x02\x80\x80", "\u{fffd}\u{fffd}"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(decode(bytes, &BOUNDS), Ok(Value::from(*expected)), "{bytes:02x?}");
    }
}

#[test]
fn counts_are_not_believed() {
    assert_eq!(failure(b"\x0c\xff\xff\xff\xff\x0f"), "value has 4294967296 nodes or more, more than 1000000");
    assert_eq!(failure(b"\x0c\xc0\x84\x3d"), "value has 1000001 nodes or more, more than 1000000");
    assert_eq!(failure(b"\x0c\xbf\x84\x3d"), "value ends early at byte 4");
    assert_eq!(failure(b"\x08\xff\xff\xff\xff\x0f"), "value ends early at byte 6");
    let tight = Bounds { nodes: 3, ..BOUNDS };
    assert!(decode(b"\x0f\x01\x00\x00", &tight).is_ok());
    assert_eq!(decode(b"\x0f\x02\x00\x00\x01\x01", &tight), Err(WireError::TooManyNodes { nodes: 5, limit: 3 }));
    // Each level is told to be as wide as all that is left.
    let wide = [b"\x0c\xa0\x8d\x06".as_slice(); 500].concat();
    assert!(decode(&wide, &BOUNDS).unwrap_err().is_bound() || failure(&wide).starts_with("value ends early"));
}

#[test]
fn bounds_hold_both_ways() {
    let deepest = nested(512);
    let bytes = encode(&deepest, &BOUNDS).unwrap();
    assert_eq!(decode(&bytes, &BOUNDS).as_ref(), Ok(&deepest));
    assert_eq!(encode_canonical(&deepest, &BOUNDS).as_ref(), Ok(&bytes));
    for result in [encode(&nested(513), &BOUNDS), encode_canonical(&nested(513), &BOUNDS)] {
        assert_eq!(result.unwrap_err().to_string(), "value is 513 levels deep, more than 512");
    }
    let deeper = [b"\x0c\x01".as_slice(), &bytes].concat();
    assert_eq!(failure(&deeper), "value is 513 levels deep, more than 512");

    let list = Value::Array(vec![Value::Null; 3]);
    let exact = Bounds { bytes: 5, depth: 1, nodes: 4 };
    assert_eq!(encode(&list, &exact).map(|bytes| bytes.len()), Ok(5));
    assert_eq!(encode(&list, &Bounds { bytes: 4, ..exact }), Err(WireError::TooLarge { bytes: 5, limit: 4 }));
    assert_eq!(encode(&list, &Bounds { nodes: 3, ..exact }), Err(WireError::TooManyNodes { nodes: 4, limit: 3 }));
    assert_eq!(encode(&list, &Bounds { depth: 0, ..exact }), Err(WireError::TooDeep { depth: 1, limit: 0 }));
    assert_eq!(decode(&[0; 6], &exact), Err(WireError::TooLarge { bytes: 6, limit: 5 }));
}

#[test]
fn what_has_no_encoding() {
    let cases = [
        (Value::Hole, "hole outside an array"),
        (Value::Set(vec![Value::Hole]), "hole outside an array"),
        (Value::from(Handle::new(0, "a")), "handle with number 0"),
        (Value::Ref(0), "reference to object 0 where only 0 have begun"),
        (Value::Array(vec![Value::Ref(1), Value::Array(vec![])]), "reference to object 1 where only 1 have begun"),
        (
            Value::TypedArray(TypedArray { kind: TypedArrayKind::Float64, bytes: vec![0; 9] }),
            "typed array of 9 bytes is not whole elements of 8 bytes",
        ),
        (
            Value::Description("[Function: f]".into()),
            "description of something that cannot be passed to a program: [Function: f]",
        ),
    ];
    for (value, expected) in cases {
        assert_eq!(encode(&value, &BOUNDS).unwrap_err().to_string(), expected);
    }
    let huge = Value::BigInt(BigInt::from_hex(false, "f".repeat((1 << 18) + 1).as_bytes()).unwrap());
    assert_eq!(
        encode(&huge, &BOUNDS).unwrap_err().to_string(),
        "bigint of 1048580 bits is more than a program can hold"
    );
}

#[test]
fn canonical_form_is_that_of_the_graph() {
    let list = || Value::Array(vec![Value::from(1)]);
    // The same graph with its properties in another order: `b` and `a` share one list, `c` is the whole.
    let one = object(vec![("b", list()), ("a", Value::Ref(1)), ("c", Value::Ref(0))]);
    let other = object(vec![("c", Value::Ref(0)), ("a", list()), ("b", Value::Ref(1))]);
    let canonical = b"\x0e\x03\x01a\x0c\x01\x04\x02\x01b\x12\x01\x01c\x12\x00".as_slice();
    assert_eq!(encode_canonical(&one, &BOUNDS).as_deref(), Ok(canonical));
    assert_eq!(encode_canonical(&other, &BOUNDS).as_deref(), Ok(canonical));
    let unshared = object(vec![("a", list()), ("b", list()), ("c", Value::Ref(0))]);
    assert_ne!(encode_canonical(&unshared, &BOUNDS).as_deref(), Ok(canonical));
    // Numbers shift for objects that are not moved, too.
    let shifted = object(vec![("z", Value::Date(1.0)), ("a", Value::Array(vec![list(), Value::Ref(3)]))]);
    let sorted = decode(&encode_canonical(&shifted, &BOUNDS).unwrap(), &BOUNDS).unwrap();
    assert_eq!(sorted, object(vec![("a", Value::Array(vec![list(), Value::Ref(2)])), ("z", Value::Date(1.0))]));
}

#[test]
fn canonical_form_keeps_what_differs_and_orders_only_keys() {
    let distinct = [
        Value::from(0),
        Value::from(-0.0),
        Value::BigInt(BigInt::from(0)),
        Value::Undefined,
        Value::from("0"),
        object(vec![("a", Value::Undefined)]),
        object(vec![]),
        Value::Set(vec![Value::from(1), Value::from(2)]),
        Value::Set(vec![Value::from(2), Value::from(1)]),
    ];
    let forms: std::collections::HashSet<_> =
        distinct.iter().map(|value| encode_canonical(value, &BOUNDS).unwrap()).collect();
    assert_eq!(forms.len(), distinct.len());
    let keys = object(vec![("\u{e9}", Value::Null), ("Z", Value::Null), ("a", Value::Null), ("", Value::Null)]);
    let sorted = decode(&encode_canonical(&keys, &BOUNDS).unwrap(), &BOUNDS).unwrap();
    assert_eq!(sorted.as_object().unwrap().iter().map(|(key, _)| key).collect::<Vec<_>>(), ["", "Z", "a", "\u{e9}"]);
}

/// Values without references; [`share`] puts those in.
fn any_value() -> impl Strategy<Value = Value> {
    let text = "[a-d\u{e9}\u{1f600}]{0,3}";
    let kind = (0u8..13).prop_map(|byte| TypedArrayKind::from_wire(byte).unwrap());
    let leaf = prop_oneof![
        Just(Value::Undefined),
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<f64>().prop_map(Value::Number),
        any::<i32>().prop_map(Value::from),
        any::<i128>().prop_map(|number| Value::BigInt(BigInt::from(number))),
        text.prop_map(Value::from),
        proptest::collection::vec(any::<u8>(), 0..4).prop_map(Value::ArrayBuffer),
        (kind, 0usize..3).prop_map(|(kind, length)| {
            Value::TypedArray(TypedArray { kind, bytes: vec![0x3c; length * kind.element_size()] })
        }),
        any::<f64>().prop_map(Value::Date),
        (text, "[gim]{0,2}").prop_map(|(source, flags)| Value::from(RegExp { source, flags })),
        text.prop_map(Value::Description),
        any::<u32>().prop_map(Value::Ref),
        (1..=u32::MAX, text).prop_map(|(id, name)| Value::from(Handle::new(id, name))),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        let many = proptest::collection::vec(inner.clone(), 0..6);
        let pairs = proptest::collection::vec((inner.clone(), inner.clone()), 0..4);
        let holes = proptest::collection::vec(prop_oneof![4 => inner.clone(), 1 => Just(Value::Hole)], 0..6);
        let error = (text, text, proptest::option::of(text), proptest::option::of(inner.clone()));
        prop_oneof![
            holes.prop_map(Value::Array),
            proptest::collection::vec((text, inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Object>())),
            pairs.prop_map(Value::Map),
            many.clone().prop_map(Value::Set),
            (error, proptest::option::of(many)).prop_map(|((name, message, stack, cause), errors)| {
                Value::from(ErrorValue { name, message, stack, cause, errors, details: None })
            }),
        ]
    })
}

/// Makes every reference point to some object that has begun, or be null where there is none.
fn share(value: Value) -> Value {
    fn walk(value: &mut Value, begun: &mut u32) {
        if value.is_object_like() {
            *begun += 1;
        }
        match value {
            Value::Ref(index) if *begun > 0 => *index %= *begun,
            Value::Ref(_) => *value = Value::Null,
            Value::Array(items) | Value::Set(items) => items.iter_mut().for_each(|item| walk(item, begun)),
            Value::Object(object) => object.values_mut().for_each(|item| walk(item, begun)),
            Value::Map(pairs) => pairs.iter_mut().for_each(|(key, item)| {
                walk(key, begun);
                walk(item, begun);
            }),
            Value::Error(error) => {
                error.cause.iter_mut().for_each(|item| walk(item, begun));
                error.errors.iter_mut().flatten().for_each(|item| walk(item, begun));
            }
            _ => {}
        }
    }
    let mut value = value;
    walk(&mut value, &mut 0);
    value
}

/// The same graph with the properties of every object in the reverse order: what a program could as well have built.
fn reversed(value: &Value) -> Value {
    let bytes = encode_reversed(value);
    decode(&bytes, &BOUNDS).unwrap()
}

/// Writes the graph afresh, so that references follow the new order; by recursion and in the plainest way, to be
/// independent of the encoder.
fn encode_reversed(root: &Value) -> Vec<u8> {
    let mut objects = Vec::new();
    objects.extend(super::super::tree::preorder(root).filter(|value| value.is_object_like()));
    let mut begun = Vec::new();
    let mut output = Vec::new();
    write_reversed(root, &objects, &mut begun, &mut output);
    output
}

fn write_reversed<'a>(value: &'a Value, objects: &[&'a Value], begun: &mut Vec<*const Value>, output: &mut Vec<u8>) {
    let target = match value {
        Value::Ref(index) => objects[*index as usize],
        _ => value,
    };
    if target.is_object_like() {
        if let Some(place) = begun.iter().position(|known| std::ptr::eq(*known, target)) {
            output.extend([tag::REF, u8::try_from(place).unwrap()]);
            return;
        }
        begun.push(target);
    }
    let mut child = |item: &'a Value, output: &mut Vec<u8>| write_reversed(item, objects, begun, output);
    let length = |count: usize| u8::try_from(count).unwrap();
    match target {
        Value::Hole => output.push(tag::HOLE),
        Value::Array(items) => {
            output.extend([tag::ARRAY, length(items.len())]);
            for item in items {
                child(item, output);
            }
        }
        Value::Set(items) => {
            output.extend([tag::SET, length(items.len())]);
            for item in items {
                child(item, output);
            }
        }
        Value::Map(pairs) => {
            output.extend([tag::MAP, length(pairs.len())]);
            for (key, item) in pairs {
                child(key, output);
                child(item, output);
            }
        }
        Value::Object(object) => {
            output.extend([tag::OBJECT, length(object.len())]);
            for (key, item) in object.entries().iter().rev() {
                output.push(length(key.len()));
                output.extend(key.bytes());
                child(item, output);
            }
        }
        Value::Error(error) => {
            let bare = ErrorValue { cause: None, errors: None, ..(**error).clone() };
            let mut head = encode_record(&Value::from(bare), &BOUNDS).unwrap();
            let flags = 2 + error.name.len() + 1 + error.message.len();
            head[flags] |= u8::from(error.cause.is_some()) * 2 + u8::from(error.errors.is_some()) * 4;
            output.extend(head);
            error.cause.iter().for_each(|item| child(item, output));
            if let Some(errors) = &error.errors {
                output.push(length(errors.len()));
                for item in errors {
                    child(item, output);
                }
            }
        }
        leaf => output.extend(encode_record(leaf, &BOUNDS).unwrap()),
    }
}

proptest! {
    #[test]
    fn decode_of_encode_is_the_identity(value in any_value().prop_map(share)) {
        let bytes = encode_record(&value, &BOUNDS).unwrap();
        let decoded = decode(&bytes, &BOUNDS).unwrap();
        prop_assert_eq!(&decoded, &value);
        prop_assert_eq!(encode_record(&decoded, &BOUNDS).unwrap(), bytes);
        prop_assert_eq!(value.clone(), value);
    }

    #[test]
    fn canonical_form_does_not_depend_on_the_order_of_properties(value in any_value().prop_map(share)) {
        let canonical = encode_canonical(&value, &BOUNDS).unwrap();
        prop_assert_eq!(&encode_canonical(&reversed(&value), &BOUNDS).unwrap(), &canonical);
        let sorted = decode(&canonical, &BOUNDS).unwrap();
        prop_assert_eq!(encode_canonical(&sorted, &BOUNDS).unwrap(), &canonical[..]);
        prop_assert_eq!(encode_record(&sorted, &BOUNDS).unwrap(), canonical);
    }

    #[test]
    fn json_by_serde_and_by_hand_agree(value in any_value().prop_map(share)) {
        match (value.to_json(), from_value::<serde_json::Value>(value.clone())) {
            (Ok(json), Ok(read)) => prop_assert_eq!(json, read),
            (Err(ValueError::Cycle { .. }), Err(ValueError::Cycle { .. } | ValueError::TooDeep { .. })) => {}
            (json, read) => prop_assert!(false, "{json:?} but {read:?}"),
        }
    }

    #[test]
    fn any_bytes_decode_or_fail_in_peace(bytes in proptest::collection::vec(prop_oneof![0u8..0x16, any::<u8>()], 0..64)) {
        if let Ok(value) = decode(&bytes, &BOUNDS) {
            let again = encode_record(&value, &BOUNDS).unwrap();
            prop_assert_eq!(decode(&again, &BOUNDS).unwrap(), value.clone());
            let _ = (value.to_string(), value.to_json(), format!("{value:?}"));
            prop_assert!(encode_canonical(&value, &BOUNDS).is_ok());
        }
    }
}
