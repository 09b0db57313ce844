//! The properties of a plain object.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::{slice, vec};

use super::Value;

/// Properties in insertion order, each key once. A look-up is a scan; building one from an iterator is linear.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object {
    entries: Vec<(String, Value)>,
    class: Option<Box<Class>>,
}

/// Behind a pointer, since few objects have one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Class(pub(super) String);

impl Object {
    /// An object without properties.
    pub fn new() -> Self {
        Self::default()
    }

    /// The name of the class that it is an instance of, where it came out of a program as one; it is shown with it, and
    /// lost on the way back in.
    pub fn class(&self) -> Option<&str> {
        self.class.as_ref().map(|class| class.0.as_str())
    }

    /// As an instance of the class.
    pub(super) fn of_class(mut self, class: Option<Box<Class>>) -> Self {
        self.class = class;
        self
    }

    /// The value of a property.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The value of a property, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.entries.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Sets a property, in its place if it exists and else at the end, and gives back what it was before.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        let key = key.into();
        let value = value.into();
        if let Some(place) = self.get_mut(&key) {
            return Some(std::mem::replace(place, value));
        }
        self.entries.push((key, value));
        None
    }

    /// Takes a property out; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let place = self.entries.iter().position(|(name, _)| name == key)?;
        Some(self.entries.remove(place).1)
    }

    /// How many properties there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no property.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The properties in order.
    pub fn iter(&self) -> ObjectIter<'_> {
        ObjectIter { entries: self.entries.iter() }
    }

    /// As [`FromIterator`]: of entries with the same key the last one's value stands in the first one's place.
    pub(super) fn from_entries(entries: Vec<(String, Value)>) -> Self {
        if all_unique(&entries) {
            return Self { entries, class: None };
        }
        let mut places = HashMap::new();
        let mut unique: Vec<(String, Value)> = Vec::new();
        for (key, value) in entries {
            match places.entry(key.clone()) {
                Entry::Vacant(vacant) => {
                    vacant.insert(unique.len());
                    unique.push((key, value));
                }
                Entry::Occupied(occupied) => {
                    if let Some((_, place)) = unique.get_mut(*occupied.get()) {
                        *place = value;
                    }
                }
            }
        }
        Self { entries: unique, class: None }
    }

    /// The same keys with other values.
    pub(super) fn map(&self, change: impl Fn(&Value) -> Value) -> Self {
        let entries = self.entries.iter().map(|(key, value)| (key.clone(), change(value))).collect();
        Self { entries, class: self.class.clone() }
    }

    pub(super) fn entries(&self) -> &[(String, Value)] {
        &self.entries
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.entries.iter_mut().map(|(_, value)| value)
    }
}

fn all_unique(entries: &[(String, Value)]) -> bool {
    // Most objects are small, and then comparing is cheaper than hashing.
    if entries.len() <= 8 {
        let mut rest = entries;
        while let Some(((key, _), tail)) = rest.split_first() {
            if tail.iter().any(|(other, _)| other == key) {
                return false;
            }
            rest = tail;
        }
        return true;
    }
    let mut seen = HashSet::with_capacity(entries.len());
    entries.iter().all(|(key, _)| seen.insert(key.as_str()))
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self::from_entries(entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

impl IntoIterator for Object {
    type Item = (String, Value);
    type IntoIter = vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<'a> IntoIterator for &'a Object {
    type Item = (&'a str, &'a Value);
    type IntoIter = ObjectIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The properties of an [`Object`] in order.
#[derive(Clone, Debug)]
pub struct ObjectIter<'a> {
    entries: slice::Iter<'a, (String, Value)>,
}

impl<'a> Iterator for ObjectIter<'a> {
    type Item = (&'a str, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.entries.next().map(|(key, value)| (key.as_str(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl ExactSizeIterator for ObjectIter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_of_equal_keys_wins_in_the_place_of_the_first() {
        let object: Object = [("a", 1), ("b", 2), ("a", 3)].into_iter().collect();
        assert_eq!(object.iter().collect::<Vec<_>>(), [("a", &Value::from(3)), ("b", &Value::from(2))]);
        let many: Object = (0..40).map(|n| (format!("{}", n % 20), n)).collect();
        assert_eq!(many.len(), 20);
        assert_eq!(many.get("7"), Some(&Value::from(27)));
    }

    #[test]
    fn insert_and_remove_keep_the_order() {
        let mut object = Object::new();
        assert_eq!(object.insert("a", 1), None);
        assert_eq!(object.insert("b", 2), None);
        assert_eq!(object.insert("a", 3), Some(Value::from(1)));
        assert_eq!(object.remove("a"), Some(Value::from(3)));
        assert_eq!(object.remove("a"), None);
        assert_eq!(object.into_iter().collect::<Vec<_>>(), [("b".to_owned(), Value::from(2))]);
    }
}
