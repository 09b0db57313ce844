//! JavaScript values as the host holds them: what a program passes to a capability, and what it gets back.
//!
//! A [`Value`] is a tree. Sharing and cycles are kept by [`Value::Ref`], an index into the tree's own objects, so
//! that a value owns all of itself and needs no reference counts. Everything here that walks a value keeps its own
//! stack, for a value may come from a hostile guest; only the serde side recurses, under a bound.

mod argument;
mod bigint;
mod bytes;
mod date;
mod de;
mod error;
mod handle;
mod handles;
mod json;
pub(crate) mod message;
mod number;
mod object;
mod render;
mod ser;
#[cfg(test)]
mod tests;
mod tree;
pub(crate) mod wire;

use std::fmt;

pub use bigint::{BigInt, BigIntRangeError, ParseBigIntError};
pub use bytes::{TypedArray, TypedArrayKind};
pub use de::from_value;
pub use error::ValueError;
pub use handle::Handle;
pub use object::{Object, ObjectIter};
pub(crate) use render::{Layout, Style, console_line, printable, render, render_part, reorders_or_hides};
pub use ser::to_value;

/// One JavaScript value.
///
/// Two values are equal when they have the same encoding: NaN equals NaN, 0 and -0 differ, and objects with the same
/// properties in another order differ.
///
/// A value may be nested to any depth by hand and is still dropped, cloned and compared safely; crossing to a
/// program is bounded. Because dropping is done by hand, parts cannot be moved out by a pattern: match on a reference,
/// or use [`into_string`](Self::into_string), [`into_array`](Self::into_array) and
/// [`into_object`](Self::into_object).
///
/// ```
/// # use chrysalid::{Object, Value};
/// let order: Object = [("item", Value::from("tea")), ("count", Value::from(2))].into_iter().collect();
/// let value = Value::from(order);
/// assert_eq!(value.get("item").and_then(Value::as_str), Some("tea"));
/// assert_eq!(value.to_string(), "{ item: 'tea', count: 2 }");
/// ```
#[derive(Default)]
pub enum Value {
    /// `undefined`.
    #[default]
    Undefined,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, with NaN, both zeros and both infinities.
    Number(f64),
    /// A `BigInt`.
    BigInt(BigInt),
    /// A string; lone surrogates have become U+FFFD on the way.
    String(String),
    /// An `ArrayBuffer`.
    ArrayBuffer(Vec<u8>),
    /// A typed array or a `DataView`, with the bytes it shows.
    TypedArray(TypedArray),
    /// A `Date` in milliseconds since 1970-01-01 UTC; NaN is an invalid date.
    Date(f64),
    /// A regular expression.
    RegExp(Box<RegExp>),
    /// An array, which may contain [`Value::Hole`].
    Array(Vec<Value>),
    /// A missing element of an array; stands nowhere else.
    Hole,
    /// A plain object.
    Object(Object),
    /// A `Map`, in insertion order.
    Map(Vec<(Value, Value)>),
    /// A `Set`, in insertion order.
    Set(Vec<Value>),
    /// An error.
    Error(Box<ErrorValue>),
    /// The n-th object of the whole tree that this value is part of, counted from 0 in the order of encoding, a
    /// container before its children. Objects are `ArrayBuffer`, `TypedArray`, `Date`, `RegExp`, `Array`, `Object`,
    /// `Map`, `Set` and `Error`. The one meant stands earlier in that order, or contains this value.
    Ref(u32),
    /// A short text in place of something that does not cross (a function, a symbol, a promise that is not fulfilled, a
    /// proxy, what is too deep) in the result of a program. Cannot be passed to a program.
    Description(String),
    /// A value that the host keeps and the program cannot read. Not among the objects that [`Value::Ref`] counts.
    Handle(Handle),
}

/// A regular expression as its two texts; never compiled by the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegExp {
    /// The pattern, without the slashes.
    pub source: String,
    /// The flags, such as `gi`.
    pub flags: String,
}

/// An error as data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorValue {
    /// The name, such as `TypeError`.
    pub name: String,
    /// The message; may be empty.
    pub message: String,
    /// The stack, one frame a line, if it is known.
    pub stack: Option<String>,
    /// The `cause`, if there is one.
    pub cause: Option<Value>,
    /// The `errors` of an `AggregateError`.
    pub errors: Option<Vec<Value>>,
    /// Its other properties as a text, such as `{ code: 5 }`, where it came out of a program with some; it is shown with
    /// the error, and lost on the way back in.
    pub details: Option<String>,
}

impl ErrorValue {
    /// An error with a name and a message and nothing else.
    pub fn new(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { name: name.into(), message: message.into(), ..Self::default() }
    }
}

impl Value {
    /// Bytes of memory that it takes, near enough for a bound.
    pub(crate) fn footprint(&self) -> usize {
        tree::footprint(self)
    }

    /// The text of a [`Value::String`].
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number of a [`Value::Number`].
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The boolean of a [`Value::Bool`].
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// The elements of a [`Value::Array`].
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The properties of a [`Value::Object`].
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The handle of a [`Value::Handle`].
    pub fn as_handle(&self) -> Option<&Handle> {
        match self {
            Self::Handle(handle) => Some(handle),
            _ => None,
        }
    }

    /// Whether this is `undefined`.
    pub fn is_undefined(&self) -> bool {
        matches!(self, Self::Undefined)
    }

    /// Whether this is `undefined` or `null`.
    pub fn is_nullish(&self) -> bool {
        matches!(self, Self::Undefined | Self::Null)
    }

    /// The property of that name of a [`Value::Object`].
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.get(key)
    }

    /// The property of that name of a [`Value::Object`] as a value of its own, which a plain copy of a part is not: a
    /// [`Value::Ref`] in it counts objects of the whole. What the part shares with the rest of the whole is copied.
    /// Takes time in proportion to the whole; `self` must be the root of its tree.
    ///
    /// ```
    /// # use chrysalid::{Object, Value};
    /// let user: Object = [("name", Value::from("Ann"))].into_iter().collect();
    /// let whole: Object = [("from", Value::from(user)), ("to", Value::Ref(1))].into_iter().collect();
    /// let to = Value::from(whole).part("to").unwrap();
    /// assert_eq!(to.get("name").and_then(Value::as_str), Some("Ann"));
    /// ```
    pub fn part(&self, key: &str) -> Option<Value> {
        self.get(key).map(|part| tree::part_of(self, part))
    }

    /// The text of a [`Value::String`], moved out.
    ///
    /// Gives the value back when it is of another kind.
    pub fn into_string(mut self) -> Result<String, Value> {
        match &mut self {
            Self::String(text) => Ok(std::mem::take(text)),
            _ => Err(self),
        }
    }

    /// The elements of a [`Value::Array`], moved out.
    ///
    /// Gives the value back when it is of another kind.
    pub fn into_array(mut self) -> Result<Vec<Value>, Value> {
        match &mut self {
            Self::Array(items) => Ok(std::mem::take(items)),
            _ => Err(self),
        }
    }

    /// The properties of a [`Value::Object`], moved out.
    ///
    /// Gives the value back when it is of another kind.
    pub fn into_object(mut self) -> Result<Object, Value> {
        match &mut self {
            Self::Object(object) => Ok(std::mem::take(object)),
            _ => Err(self),
        }
    }

    /// The n-th object of the tree whose root this is: what a [`Value::Ref`] anywhere in it means. Takes time in
    /// proportion to the whole tree.
    pub fn object(&self, index: u32) -> Option<&Value> {
        tree::preorder(self).filter(|value| value.is_object_like()).nth(usize::try_from(index).ok()?)
    }

    /// What the value is, for messages: `undefined`, `number`, `Array`, `Uint8Array` and so on.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::BigInt(_) => "bigint",
            Self::String(_) => "string",
            Self::ArrayBuffer(_) => "ArrayBuffer",
            Self::TypedArray(array) => array.kind.name(),
            Self::Date(_) => "Date",
            Self::RegExp(_) => "RegExp",
            Self::Array(_) => "Array",
            Self::Hole => "hole",
            Self::Object(_) => "Object",
            Self::Map(_) => "Map",
            Self::Set(_) => "Set",
            Self::Error(_) => "Error",
            Self::Ref(_) => "reference",
            Self::Description(_) => "description",
            Self::Handle(_) => "handle",
        }
    }
}

/// As Node shows it, on one line where it fits; bounded in depth, width and length, so not a way to store a value.
impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&render(self, &Style::default()))
    }
}

impl From<()> for Value {
    fn from((): ()) -> Self {
        Self::Undefined
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Self::Number(number.into())
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

/// A number within ±2^53, else a `BigInt`.
impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::from(i128::from(number))
    }
}

/// A number up to 2^53, else a `BigInt`.
impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::from(i128::from(number))
    }
}

/// A number within ±2^53, else a `BigInt`.
impl From<i128> for Value {
    fn from(number: i128) -> Self {
        number::exact(number).map_or_else(|| Self::BigInt(number.into()), Self::Number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<BigInt> for Value {
    fn from(number: BigInt) -> Self {
        Self::BigInt(number)
    }
}

impl From<TypedArray> for Value {
    fn from(array: TypedArray) -> Self {
        Self::TypedArray(array)
    }
}

impl From<RegExp> for Value {
    fn from(pattern: RegExp) -> Self {
        Self::RegExp(Box::new(pattern))
    }
}

impl From<Handle> for Value {
    fn from(handle: Handle) -> Self {
        Self::Handle(handle)
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl From<ErrorValue> for Value {
    fn from(error: ErrorValue) -> Self {
        Self::Error(Box::new(error))
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Self::Array(items)
    }
}

/// `None` is `null`.
impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(option: Option<T>) -> Self {
        option.map_or(Self::Null, Into::into)
    }
}
