//! A value as the rules of the policy see it. What they cannot follow, such as a shared object or a `Map`, is closed to them,
//! which never makes a decision looser.

use chrysalid_policy::{Argument, View};

use super::Value;

impl Argument for Value {
    fn view(&self) -> View<'_> {
        match self {
            Self::Null | Self::Undefined => View::Null,
            Self::Bool(value) => View::Bool(*value),
            Self::Number(number) => View::Number(*number),
            Self::BigInt(number) => View::Integer(number.saturated()),
            Self::String(text) => View::Text(text),
            Self::ArrayBuffer(bytes) => View::Bytes(bytes.len()),
            Self::TypedArray(array) => View::Bytes(array.bytes.len()),
            Self::Date(millis) => View::Time(*millis),
            Self::Array(items) => View::List(items.len()),
            Self::Object(object) => View::Map(object.len()),
            Self::Handle(_) => View::Handle,
            _ => View::Other,
        }
    }

    fn item(&self, index: usize) -> Option<&dyn Argument> {
        match self {
            Self::Array(items) => Some(items.get(index)?),
            _ => None,
        }
    }

    fn entry(&self, key: &str) -> Option<&dyn Argument> {
        match self {
            Self::Object(object) => Some(object.get(key).filter(|value| !matches!(value, Self::Undefined))?),
            _ => None,
        }
    }
}
