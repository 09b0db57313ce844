//! Values as such: accessors, equality, and that no depth overflows a stack.

use super::*;

/// Runs with the stack that a small host thread has.
fn on_small_stack(run: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(128 << 10);
        thread.spawn_scoped(scope, run).unwrap().join().unwrap();
    });
}

/// Each kind of container in turn.
fn nested(levels: u32) -> Value {
    (0..levels).fold(Value::from(1), |inner, level| match level % 5 {
        0 => Value::Array(vec![Value::Null, inner]),
        1 => Value::Object([("key", inner)].into_iter().collect()),
        2 => Value::Map(vec![(inner, Value::Null)]),
        3 => Value::Set(vec![inner]),
        _ => Value::from(ErrorValue { cause: Some(inner), ..ErrorValue::new("Error", "deep") }),
    })
}

#[test]
fn deep_values_fit_a_small_stack() {
    for levels in [512, 1_000_000] {
        on_small_stack(|| {
            let value = nested(levels);
            let copy = value.clone();
            assert!(copy == value);
            assert!(copy != nested(levels - 1));
            assert!(format!("{value:?}").len() > levels as usize);
            assert!(value.to_string().len() < 200);
            assert_eq!(value.object(levels - 1).map(Value::kind_name), Some("Array"));
        });
    }
}

#[test]
fn deep_values_cross_or_fail_on_a_small_stack() {
    let bounds = wire::Bounds { bytes: 1 << 20, depth: 512, nodes: 1_000_000 };
    on_small_stack(|| {
        let value = nested(512);
        let bytes = wire::encode(&value, &bounds).unwrap();
        assert!(wire::decode(&bytes, &bounds).as_ref() == Ok(&value));
        assert!(wire::encode_canonical(&value, &bounds).is_ok());
        for result in [wire::encode(&nested(100_000), &bounds), wire::encode_canonical(&nested(513), &bounds)] {
            assert_eq!(result, Err(wire::WireError::TooDeep { depth: 513, limit: 512 }));
        }
        assert!(nested(100_000).to_json().is_err());
    });
    assert!(from_value::<serde_json::Value>(nested(100_000)).is_err());
}

#[test]
fn equality_is_that_of_the_encoding() {
    assert_eq!(Value::from(f64::NAN), Value::from(-f64::NAN));
    assert_ne!(Value::from(0), Value::from(-0.0));
    assert_ne!(Value::Undefined, Value::Null);
    assert_ne!(Value::Array(vec![]), Value::Set(vec![]));
    assert_ne!(Value::Array(vec![Value::Null]), Value::Array(vec![]));
    let object = |keys: [&str; 2]| Value::Object(keys.into_iter().map(|key| (key, 1)).collect());
    assert_eq!(object(["a", "b"]), object(["a", "b"]));
    assert_ne!(object(["a", "b"]), object(["b", "a"]));
}

#[test]
fn debug_names_each_variant() {
    let value = Value::Array(vec![
        Value::Object([("a", Value::from(1)), ("b", Value::Map(vec![]))].into_iter().collect()),
        Value::from(ErrorValue { cause: Some(Value::Undefined), ..ErrorValue::new("E", "m") }),
        Value::Ref(0),
        Value::from(Handle::new(3, "a.b")),
    ]);
    assert_eq!(
        format!("{value:?}"),
        r#"Array[Object["a": Number(1.0), "b": Map[]], Error("E", "m", None)[Undefined], Ref(0), Handle(3, "a.b")]"#
    );
}

#[test]
fn parts_move_out_by_name() {
    assert_eq!(Value::from("x").into_string(), Ok("x".to_owned()));
    assert_eq!(Value::Array(vec![Value::Null]).into_array(), Ok(vec![Value::Null]));
    assert_eq!(Value::Null.into_object(), Err(Value::Null));
}

#[test]
fn integers_are_numbers_where_exact() {
    assert_eq!(Value::from(1i64 << 53), Value::Number(9_007_199_254_740_992.0));
    assert_eq!(Value::from(u64::MAX), Value::BigInt(BigInt::from(u64::MAX)));
    assert_eq!(Value::from(None::<bool>), Value::Null);
    assert_eq!(size_of::<Value>(), 40);
}

#[test]
fn a_handle_is_its_number_and_name() {
    let handle = Handle::new(3, "rsvps.list");
    let value = Value::from(handle.clone());
    assert_eq!((value.as_handle(), value.kind_name()), (Some(&handle), "handle"));
    assert_eq!(value.to_string(), "[handle 3 of rsvps.list]");
    assert_ne!(value, Value::from(Handle::new(4, "rsvps.list")));
    assert_ne!(value, Value::from(Handle::new(3, "rsvps")));
    assert_eq!(Value::Array(vec![value.clone()]).clone(), Value::Array(vec![value.clone()]));
    assert_eq!(value.footprint(), size_of::<Value>() + 10);
    assert_eq!(Value::from(Handle::new(1, "a\u{1b}[2Jb\n")).to_string(), "[handle 1 of a\\x1b[2Jb\\n]");
}

#[test]
fn a_handle_is_an_object_to_json_and_serde_and_does_not_come_of_one() {
    let handle = Handle::new(3, "rsvps.list");
    let value = Value::Array(vec![handle.clone().into(), Value::Null]);
    let json = serde_json::json!([{ "$handle": 3, "of": "rsvps.list" }, null]);
    assert_eq!(value.to_json().unwrap(), json);
    assert_eq!(from_value::<serde_json::Value>(value.clone()).unwrap(), json);
    assert_eq!(from_value::<(Handle, ())>(value).unwrap().0, handle);
    assert_eq!(serde_json::to_value(&handle).unwrap(), json[0]);
    assert_eq!(serde_json::from_value::<Handle>(json[0].clone()).unwrap(), handle);

    let object = Value::from(Object::from_iter([("$handle", Value::from(3)), ("of", "rsvps.list".into())]));
    assert_eq!(Value::from_json(json[0].clone()).unwrap(), object);
    assert_eq!(to_value(&handle).unwrap(), object);
}

#[test]
fn a_part_is_a_value_of_its_own() {
    let object = |entries: Vec<(&str, Value)>| Value::from(entries.into_iter().collect::<Object>());
    let leaf = object(vec![("n", 1.into())]);
    // Objects by number: 0 the whole, 1 `a`, 2 its `leaf`, 3 its date, 4 `b`.
    let whole = object(vec![
        ("a", object(vec![("leaf", leaf.clone()), ("at", Value::Date(0.0)), ("up", Value::Ref(1))])),
        ("b", Value::Array(vec![Value::Ref(3), Value::Ref(2), Value::Ref(2), Value::Ref(4)])),
        ("c", Value::Ref(0)),
    ]);
    let a = object(vec![("leaf", leaf.clone()), ("at", Value::Date(0.0)), ("up", Value::Ref(0))]);
    assert_eq!(whole.part("a"), Some(a));
    let b = Value::Array(vec![Value::Date(0.0), leaf, Value::Ref(2), Value::Ref(0)]);
    assert_eq!(whole.part("b"), Some(b));
    assert_eq!(whole.part("c"), Some(whole.clone()));
    assert_eq!(whole.part("d"), None);
    let dangling = object(vec![("a", Value::Ref(9))]);
    assert_eq!(dangling.part("a"), Some(Value::Ref(9)));
}

#[test]
fn a_part_of_any_depth_is_taken_out() {
    on_small_stack(|| {
        let whole: Object = [("deep", nested(100_000)), ("again", Value::Ref(1))].into_iter().collect();
        let whole = Value::from(whole);
        assert!(whole.part("deep") == Some(nested(100_000)));
        assert!(whole.part("again") == Some(nested(100_000)));
    });
}
