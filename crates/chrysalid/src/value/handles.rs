//! Handles in a value: which there are, and the value with what they hold in their place.

use std::collections::BTreeMap;

use super::Value;
use super::tree::preorder;

impl Value {
    /// Ids of the handles in it, and in how many places each is.
    pub(crate) fn handles(&self) -> BTreeMap<u32, usize> {
        let mut places = BTreeMap::new();
        for value in preorder(self) {
            if let Self::Handle(handle) = value {
                *places.entry(handle.id).or_default() += 1;
            }
        }
        places
    }

    /// A copy with these values in the place of handles. References are numbered anew, since what is put in has objects of
    /// its own; a handle without a value, or a reference to nothing, is left.
    pub(crate) fn with_handles_filled(&self, values: &BTreeMap<u32, Self>) -> Self {
        let mut copy = self.clone();
        let mut numbers: Vec<u32> = Vec::new();
        let mut next = 0;
        let mut pending = vec![&mut copy];
        while let Some(value) = pending.pop() {
            match value {
                Self::Handle(handle) => {
                    if let Some(held) = values.get(&handle.id) {
                        let mut held = held.clone();
                        next += held.moved_behind(next);
                        *value = held;
                    }
                }
                Self::Ref(number) => {
                    let found = usize::try_from(*number).ok().and_then(|number| numbers.get(number));
                    *number = found.copied().unwrap_or(u32::MAX);
                }
                other => {
                    if other.is_object_like() {
                        numbers.push(next);
                        next += 1;
                    }
                    push_children(other, &mut pending);
                }
            }
        }
        copy
    }

    /// Numbers references as they are behind so many objects; how many it has itself.
    fn moved_behind(&mut self, before: u32) -> u32 {
        let mut count = 0;
        let mut pending = vec![self];
        while let Some(value) = pending.pop() {
            match value {
                Self::Ref(number) => *number = number.saturating_add(before),
                other => {
                    count += u32::from(other.is_object_like());
                    push_children(other, &mut pending);
                }
            }
        }
        count
    }
}

/// So that the first child comes next.
fn push_children<'v>(value: &'v mut Value, pending: &mut Vec<&'v mut Value>) {
    let begun = pending.len();
    value.each_child_mut(&mut |child| pending.push(child));
    pending.get_mut(begun..).unwrap_or_default().reverse();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Handle, Object};

    fn handle(id: u32) -> Value {
        Value::Handle(Handle::new(id, "notes.list"))
    }

    #[test]
    fn what_a_handle_holds_takes_its_place() {
        let held = BTreeMap::from([(3, Value::from("secret")), (4, Value::Array(vec![Value::Null]))]);
        let value = Value::Array(vec![handle(3), Value::from(1), handle(4), handle(3), handle(9)]);
        assert_eq!(value.handles(), BTreeMap::from([(3, 2), (4, 1), (9, 1)]));
        let expected = vec![
            Value::from("secret"),
            Value::from(1),
            Value::Array(vec![Value::Null]),
            Value::from("secret"),
            handle(9),
        ];
        assert_eq!(value.with_handles_filled(&held), Value::Array(expected));
    }

    #[test]
    fn references_are_numbered_anew() {
        // Two objects in what is held, of which the second is meant again.
        let inner = Value::Array(vec![Value::Object(Object::default()), Value::Ref(1)]);
        let held = BTreeMap::from([(1, inner)]);
        let value = Value::Array(vec![handle(1), Value::Object(Object::default()), Value::Ref(1), handle(1)]);
        let filled = value.with_handles_filled(&held);
        let expected = Value::Array(vec![
            Value::Array(vec![Value::Object(Object::default()), Value::Ref(2)]),
            Value::Object(Object::default()),
            Value::Ref(3),
            Value::Array(vec![Value::Object(Object::default()), Value::Ref(5)]),
        ]);
        assert_eq!(filled, expected);
    }
}
