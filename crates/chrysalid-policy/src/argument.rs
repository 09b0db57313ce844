//! What a rule sees of the argument of a call: a tree of values that is looked at in place.

use crate::moment::millis;

/// A value as tests see it. Lists and maps are walked by [`Argument::item`] and [`Argument::entry`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum View<'a> {
    /// `null`, which is not the same as missing. A key whose value is `undefined` is missing.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number, NaN and infinities included.
    Number(f64),
    /// A whole number of its own kind, such as a `BigInt`. One beyond `i128` is its nearest end.
    Integer(i128),
    /// Text.
    Text(&'a str),
    /// A point in time, in milliseconds since 1970 in UTC.
    Time(f64),
    /// Bytes, by their number.
    Bytes(usize),
    /// A list, by the number of its items.
    List(usize),
    /// A map with text keys, by the number of its entries.
    Map(usize),
    /// A value that is kept on the host and not read here. No test on it can be told.
    Handle,
    /// Anything else. No test on it can be told.
    Other,
}

/// A value that rules can look at.
///
/// It has to be the value that the capability gets: what is shown here and what runs must not differ. A call without
/// an argument is an empty map.
pub trait Argument {
    /// The value, one level of it.
    fn view(&self) -> View<'_>;

    /// An item of a list, counted from 0. None for every other value, and past the end.
    fn item(&self, index: usize) -> Option<&dyn Argument> {
        let _ = index;
        None
    }

    /// The value under a key of a map. None for every other value, and where the key is missing or `undefined`.
    fn entry(&self, key: &str) -> Option<&dyn Argument> {
        let _ = key;
        None
    }
}

impl Argument for serde_json::Value {
    fn view(&self) -> View<'_> {
        match self {
            Self::Null => View::Null,
            Self::Bool(value) => View::Bool(*value),
            Self::Number(number) => match (number.as_i128(), number.as_f64()) {
                (Some(whole), _) => View::Integer(whole),
                (None, Some(value)) => View::Number(value),
                (None, None) => View::Other,
            },
            Self::String(text) => View::Text(text),
            Self::Array(items) => View::List(items.len()),
            Self::Object(entries) => View::Map(entries.len()),
        }
    }

    fn item(&self, index: usize) -> Option<&dyn Argument> {
        Some(self.as_array()?.get(index)?)
    }

    fn entry(&self, key: &str) -> Option<&dyn Argument> {
        Some(self.as_object()?.get(key)?)
    }
}

impl Argument for toml::Value {
    fn view(&self) -> View<'_> {
        match self {
            Self::String(text) => View::Text(text),
            Self::Integer(value) => View::Integer(i128::from(*value)),
            Self::Float(value) => View::Number(*value),
            Self::Boolean(value) => View::Bool(*value),
            Self::Datetime(moment) => millis(moment).map_or(View::Other, View::Time),
            Self::Array(items) => View::List(items.len()),
            Self::Table(entries) => View::Map(entries.len()),
        }
    }

    fn item(&self, index: usize) -> Option<&dyn Argument> {
        Some(self.as_array()?.get(index)?)
    }

    fn entry(&self, key: &str) -> Option<&dyn Argument> {
        Some(self.as_table()?.get(key)?)
    }
}

#[cfg(test)]
mod tests {
    use super::{Argument, View};

    #[test]
    fn json_and_toml_show_the_same() {
        let json = serde_json::json!({"a": [1, "x", true, 0.5], "b": {"c": null}});
        let toml: toml::Value = toml::Value::Table(toml::toml! { a = [1, "x", true, 0.5] });
        for argument in [&json as &dyn Argument, &toml] {
            let list = argument.entry("a").unwrap();
            let items: Vec<View<'_>> = (0..4).map(|index| list.item(index).unwrap().view()).collect();
            assert_eq!(items, [View::Integer(1), View::Text("x"), View::Bool(true), View::Number(0.5)]);
            assert_eq!(list.view(), View::List(4));
            assert!(list.item(4).is_none() && list.entry("0").is_none() && argument.item(0).is_none());
        }
        assert_eq!(json.entry("b").unwrap().entry("c").unwrap().view(), View::Null);
        assert!(json.entry("b").unwrap().entry("d").is_none());
    }

    #[test]
    fn a_date_time_with_its_offset_is_a_time() {
        let table: toml::Table = "at = 1970-01-02T01:00:00.5+01:00\nday = 1970-01-02".parse().unwrap();
        let table = toml::Value::Table(table);
        assert_eq!(table.entry("at").unwrap().view(), View::Time(86_400_500.0));
        assert_eq!(table.entry("day").unwrap().view(), View::Other);
    }
}
