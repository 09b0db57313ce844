//! Walking a value without recursion: its children, its objects by number, and the `Drop`, `Clone`, `PartialEq` and
//! `Debug` that rest on them. A value may be nested deeper than any stack, so nothing here calls itself by depth.

use std::collections::HashMap;
use std::{fmt, option, slice};

use super::{BigInt, ErrorValue, RegExp, TypedArray, Value, ValueError};

/// The children of one value in the order of encoding.
pub(super) enum Children<'a> {
    Items(slice::Iter<'a, Value>),
    Properties(slice::Iter<'a, (String, Value)>),
    Pairs(slice::Iter<'a, (Value, Value)>, Option<&'a Value>),
    Error(option::Iter<'a, Value>, slice::Iter<'a, Value>),
}

impl<'a> Iterator for Children<'a> {
    type Item = &'a Value;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Items(items) => items.next(),
            Self::Properties(properties) => properties.next().map(|(_, value)| value),
            Self::Pairs(pairs, second) => second.take().or_else(|| {
                let (key, value) = pairs.next()?;
                *second = Some(value);
                Some(key)
            }),
            Self::Error(cause, errors) => cause.next().or_else(|| errors.next()),
        }
    }
}

/// A value and all below it, a container before its children.
pub(super) fn preorder(root: &Value) -> impl Iterator<Item = &Value> {
    let mut levels = vec![Children::Items(slice::from_ref(root).iter())];
    std::iter::from_fn(move || {
        loop {
            let Some(value) = levels.last_mut()?.next() else {
                levels.pop();
                continue;
            };
            if value.is_branch() {
                levels.push(value.children());
            }
            return Some(value);
        }
    })
}

/// Bytes of memory that a value takes, without what the allocator adds.
pub(super) fn footprint(root: &Value) -> usize {
    let own = |value: &Value| match value {
        Value::String(text) | Value::Description(text) => text.len(),
        Value::ArrayBuffer(bytes) => bytes.len(),
        Value::TypedArray(array) => array.bytes.len(),
        Value::BigInt(number) => usize::try_from(number.bits() / 8).unwrap_or(usize::MAX),
        Value::Handle(handle) => handle.name.len(),
        Value::RegExp(regexp) => size_of::<RegExp>() + regexp.source.len() + regexp.flags.len(),
        Value::Object(object) => object.iter().map(|(key, _)| size_of::<String>() + key.len()).sum(),
        Value::Error(error) => {
            let texts = [error.stack.as_deref(), error.details.as_deref(), Some(&error.name), Some(&error.message)];
            size_of::<ErrorValue>() + texts.into_iter().flatten().map(str::len).sum::<usize>()
        }
        _ => 0,
    };
    preorder(root).fold(0, |sum: usize, value| sum.saturating_add(size_of::<Value>()).saturating_add(own(value)))
}

/// The objects of a tree by number, for looking up a [`Value::Ref`].
pub(super) struct Objects<'a> {
    numbered: Vec<&'a Value>,
    shared: bool,
}

impl<'a> Objects<'a> {
    /// Fails if a reference does not point back.
    pub(super) fn of(root: &'a Value) -> Result<Self, DanglingRef> {
        let mut objects = Self { numbered: Vec::new(), shared: false };
        for value in preorder(root) {
            if let Value::Ref(index) = value {
                objects.get(*index)?;
                objects.shared = true;
            } else if value.is_object_like() {
                objects.numbered.push(value);
            }
        }
        Ok(objects)
    }

    pub(super) fn get(&self, index: u32) -> Result<&'a Value, DanglingRef> {
        let dangling = DanglingRef { index, begun: self.numbered.len() };
        let place = usize::try_from(index).map_err(|_| dangling)?;
        self.numbered.get(place).copied().ok_or(dangling)
    }

    /// What a value means: itself, or the object that it refers to.
    pub(super) fn resolve(&self, value: &'a Value) -> Result<&'a Value, DanglingRef> {
        match value {
            Value::Ref(index) => self.get(*index),
            _ => Ok(value),
        }
    }

    /// Whether the tree has any reference.
    pub(super) fn are_shared(&self) -> bool {
        self.shared
    }
}

/// A part of a tree as a tree of its own, each object in it once. A part of a tree with a dangling reference is a plain
/// copy.
pub(super) fn part_of<'v>(root: &'v Value, part: &'v Value) -> Value {
    let Some(objects) = Objects::of(root).ok().filter(Objects::are_shared) else {
        return part.clone();
    };
    let mut numbers: HashMap<*const Value, u32> = HashMap::new();
    let mut copy = Value::Undefined;
    let mut pending = vec![(part, &mut copy)];
    while let Some((source, target)) = pending.pop() {
        let source = objects.resolve(source).unwrap_or(source);
        if source.is_object_like() {
            if let Some(number) = numbers.get(&std::ptr::from_ref(source)) {
                *target = Value::Ref(*number);
                continue;
            }
            numbers.insert(source, u32::try_from(numbers.len()).unwrap_or(u32::MAX));
        }
        *target = source.copy_without_branches();
        let begun = pending.len();
        let mut children = source.children();
        target.each_child_mut(&mut |place| {
            let objects = children.next().filter(|child| child.is_object_like() || matches!(child, Value::Ref(_)));
            pending.extend(objects.map(|child| (child, place)));
        });
        // The first child comes next, so that objects are met in the order of encoding.
        pending.get_mut(begun..).unwrap_or_default().reverse();
    }
    copy
}

/// A reference to an object that has not begun where the reference stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DanglingRef {
    pub(super) index: u32,
    pub(super) begun: usize,
}

/// What a conversion that follows references may still produce. Without it a few shared arrays of each other, small
/// on the wire, would expand to more than fits any memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    nodes: usize,
    bytes: usize,
    /// What they were at first, for messages.
    limits: (usize, usize),
}

/// As many as the default limit of a program's values.
const NODES: usize = 1_000_000;
const BYTES: usize = 64 << 20;

/// What any value may be written out to.
const FEW_NODES: usize = 50_000;

impl Budget {
    pub(super) fn new() -> Self {
        Self::of(NODES, BYTES)
    }

    pub(super) fn of(nodes: usize, bytes: usize) -> Self {
        Self { nodes, bytes, limits: (nodes, bytes) }
    }

    /// As many values as the tree has without following its references, or a few more.
    pub(super) fn in_proportion_to(root: &Value) -> Self {
        Self::of(preorder(root).count().max(FEW_NODES), BYTES)
    }

    /// Pays for one value without its children, which pay for themselves.
    pub(super) fn charge(&mut self, value: &Value) -> Result<(), ValueError> {
        let elements = match value {
            Value::TypedArray(array) if !array.is_bytes() => array.len(),
            _ => 0,
        };
        self.nodes = self.nodes.checked_sub(1 + elements).ok_or(ValueError::TooManyNodes { limit: self.limits.0 })?;
        let bytes = match value {
            Value::String(text) | Value::Description(text) => text.len(),
            Value::Handle(handle) => handle.name.len(),
            Value::ArrayBuffer(bytes) => bytes.len(),
            Value::TypedArray(array) => array.bytes.len(),
            Value::RegExp(pattern) => pattern.source.len() + pattern.flags.len(),
            Value::BigInt(number) => decimal_cost(number),
            Value::Object(object) => object.iter().map(|(key, _)| key.len()).sum(),
            Value::Error(error) => error.name.len() + error.message.len(),
            _ => 0,
        };
        self.bytes = self.bytes.checked_sub(bytes).ok_or(ValueError::TooManyBytes { limit: self.limits.1 })?;
        Ok(())
    }
}

/// Decimal text takes time by the square of its length: the price is such that all of a budget is under a second.
fn decimal_cost(number: &BigInt) -> usize {
    let bits = number.bits();
    usize::try_from(bits.saturating_add(bits.saturating_mul(bits) >> 18)).unwrap_or(usize::MAX)
}

impl Value {
    /// Whether it has a number of its own among the objects of its tree.
    pub(super) fn is_object_like(&self) -> bool {
        matches!(
            self,
            Self::ArrayBuffer(_)
                | Self::TypedArray(_)
                | Self::Date(_)
                | Self::RegExp(_)
                | Self::Array(_)
                | Self::Object(_)
                | Self::Map(_)
                | Self::Set(_)
                | Self::Error(_)
        )
    }

    pub(super) fn children(&self) -> Children<'_> {
        match self {
            Self::Array(items) | Self::Set(items) => Children::Items(items.iter()),
            Self::Object(object) => Children::Properties(object.entries().iter()),
            Self::Map(pairs) => Children::Pairs(pairs.iter(), None),
            Self::Error(error) => {
                Children::Error(error.cause.iter(), error.errors.as_deref().unwrap_or_default().iter())
            }
            _ => Children::Items([].iter()),
        }
    }

    /// Whether it has children.
    fn is_branch(&self) -> bool {
        self.children().next().is_some()
    }

    /// Calls for each child in the order of [`children`](Self::children).
    pub(super) fn each_child_mut<'a>(&'a mut self, visit: &mut dyn FnMut(&'a mut Value)) {
        match self {
            Self::Array(items) | Self::Set(items) => items.iter_mut().for_each(visit),
            Self::Object(object) => object.values_mut().for_each(visit),
            Self::Map(pairs) => pairs.iter_mut().for_each(|(key, value)| {
                visit(key);
                visit(value);
            }),
            Self::Error(error) => {
                let ErrorValue { cause, errors, .. } = &mut **error;
                cause.iter_mut().chain(errors.iter_mut().flatten()).for_each(visit);
            }
            _ => {}
        }
    }

    /// A copy in which every child that has children itself is left out.
    fn copy_without_branches(&self) -> Value {
        let all = |items: &[Value]| items.iter().map(Self::copy_of_leaf).collect();
        match self {
            Self::Undefined => Self::Undefined,
            Self::Null => Self::Null,
            Self::Bool(truth) => Self::Bool(*truth),
            Self::Number(number) => Self::Number(*number),
            Self::BigInt(number) => Self::BigInt(number.clone()),
            Self::String(text) => Self::String(text.clone()),
            Self::ArrayBuffer(bytes) => Self::ArrayBuffer(bytes.clone()),
            Self::TypedArray(array) => Self::TypedArray(array.clone()),
            Self::Date(milliseconds) => Self::Date(*milliseconds),
            Self::RegExp(pattern) => Self::RegExp(pattern.clone()),
            Self::Array(items) => Self::Array(all(items)),
            Self::Hole => Self::Hole,
            Self::Object(object) => Self::Object(object.map(Self::copy_of_leaf)),
            Self::Map(pairs) => {
                Self::Map(pairs.iter().map(|(key, value)| (key.copy_of_leaf(), value.copy_of_leaf())).collect())
            }
            Self::Set(items) => Self::Set(all(items)),
            Self::Error(error) => Self::Error(Box::new(ErrorValue {
                name: error.name.clone(),
                message: error.message.clone(),
                stack: error.stack.clone(),
                cause: error.cause.as_ref().map(Self::copy_of_leaf),
                errors: error.errors.as_deref().map(all),
                details: error.details.clone(),
            })),
            Self::Ref(index) => Self::Ref(*index),
            Self::Description(text) => Self::Description(text.clone()),
            Self::Handle(handle) => Self::Handle(handle.clone()),
        }
    }

    fn copy_of_leaf(&self) -> Value {
        if self.is_branch() { Self::Undefined } else { self.copy_without_branches() }
    }

    /// Whether the two are equal but for their children.
    fn equals_without_children(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Undefined, Self::Undefined) | (Self::Null, Self::Null) | (Self::Hole, Self::Hole) => true,
            (Self::Bool(left), Self::Bool(right)) => left == right,
            (Self::Number(left), Self::Number(right)) | (Self::Date(left), Self::Date(right)) => {
                left.to_bits() == right.to_bits() || (left.is_nan() && right.is_nan())
            }
            (Self::BigInt(left), Self::BigInt(right)) => left == right,
            (Self::String(left), Self::String(right)) | (Self::Description(left), Self::Description(right)) => {
                left == right
            }
            (Self::ArrayBuffer(left), Self::ArrayBuffer(right)) => left == right,
            (Self::TypedArray(left), Self::TypedArray(right)) => left == right,
            (Self::RegExp(left), Self::RegExp(right)) => left == right,
            (Self::Array(left), Self::Array(right)) | (Self::Set(left), Self::Set(right)) => left.len() == right.len(),
            (Self::Object(left), Self::Object(right)) => {
                left.len() == right.len() && left.iter().zip(right).all(|((left, _), (right, _))| left == right)
            }
            (Self::Map(left), Self::Map(right)) => left.len() == right.len(),
            (Self::Error(left), Self::Error(right)) => {
                let shape = |error: &ErrorValue| (error.cause.is_some(), error.errors.as_ref().map(Vec::len));
                left.name == right.name
                    && left.message == right.message
                    && left.stack == right.stack
                    && shape(left) == shape(right)
            }
            (Self::Ref(left), Self::Ref(right)) => left == right,
            (Self::Handle(left), Self::Handle(right)) => left == right,
            _ => false,
        }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        let mut pending = Vec::new();
        take_branches(self, &mut pending);
        while let Some(mut value) = pending.pop() {
            take_branches(&mut value, &mut pending);
        }
    }
}

fn take_branches(value: &mut Value, pending: &mut Vec<Value>) {
    value.each_child_mut(&mut |child| {
        if child.is_branch() {
            pending.push(std::mem::take(child));
        }
    });
}

impl Clone for Value {
    fn clone(&self) -> Self {
        let mut copy = self.copy_without_branches();
        let mut pending = vec![];
        pair_branches(self, &mut copy, &mut pending);
        while let Some((source, target)) = pending.pop() {
            *target = source.copy_without_branches();
            pair_branches(source, target, &mut pending);
        }
        copy
    }
}

fn pair_branches<'s, 't>(source: &'s Value, target: &'t mut Value, pending: &mut Vec<(&'s Value, &'t mut Value)>) {
    let mut children = source.children();
    target.each_child_mut(&mut |place| {
        if let Some(child) = children.next().filter(|child| child.is_branch()) {
            pending.push((child, place));
        }
    });
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        let mut pending = Vec::new();
        let mut next = Some((self, other));
        while let Some((left, right)) = next {
            if !left.equals_without_children(right) {
                return false;
            }
            pending.extend(left.children().zip(right.children()));
            next = pending.pop();
        }
        true
    }
}

/// Every variant by name, children in brackets after it. Always on one line.
impl fmt::Debug for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_head(self, formatter)?;
        let mut levels = vec![(self.children(), "")];
        while let Some((level, separator)) = levels.last_mut() {
            let key = level.key();
            let Some(child) = level.next() else {
                levels.pop();
                if levels.is_empty() && !self.is_branch() {
                    return Ok(());
                }
                formatter.write_str("]")?;
                continue;
            };
            formatter.write_str(std::mem::replace(separator, ", "))?;
            if let Some(key) = key {
                write!(formatter, "{key:?}: ")?;
            }
            write_head(child, formatter)?;
            if child.is_branch() {
                levels.push((child.children(), ""));
            }
        }
        Ok(())
    }
}

impl<'a> Children<'a> {
    /// The key of the next child, if it is a property.
    fn key(&self) -> Option<&'a str> {
        match self {
            Self::Properties(properties) => properties.as_slice().first().map(|(key, _)| key.as_str()),
            _ => None,
        }
    }
}

/// All of a value without children, or what comes before them, with the bracket.
fn write_head(value: &Value, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    let brackets = if value.is_branch() { "[" } else { "[]" };
    match value {
        Value::Undefined => formatter.write_str("Undefined"),
        Value::Null => formatter.write_str("Null"),
        Value::Hole => formatter.write_str("Hole"),
        Value::Bool(truth) => write!(formatter, "Bool({truth})"),
        Value::Number(number) => write!(formatter, "Number({number:?})"),
        Value::BigInt(number) => write!(formatter, "{number:?}"),
        Value::String(text) => write!(formatter, "String({text:?})"),
        Value::ArrayBuffer(bytes) => write!(formatter, "ArrayBuffer({bytes:?})"),
        Value::TypedArray(TypedArray { kind, bytes }) => write!(formatter, "TypedArray({kind:?}, {bytes:?})"),
        Value::Date(milliseconds) => write!(formatter, "Date({milliseconds:?})"),
        Value::RegExp(pattern) => write!(formatter, "RegExp({:?}, {:?})", pattern.source, pattern.flags),
        Value::Array(_) => write!(formatter, "Array{brackets}"),
        Value::Object(_) => write!(formatter, "Object{brackets}"),
        Value::Map(_) => write!(formatter, "Map{brackets}"),
        Value::Set(_) => write!(formatter, "Set{brackets}"),
        Value::Error(error) => {
            write!(formatter, "Error({:?}, {:?}, {:?}){brackets}", error.name, error.message, error.stack)
        }
        Value::Ref(index) => write!(formatter, "Ref({index})"),
        Value::Description(text) => write!(formatter, "Description({text:?})"),
        Value::Handle(handle) => write!(formatter, "Handle({}, {:?})", handle.id, handle.name),
    }
}
