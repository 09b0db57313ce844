//! The parts of a value as serde asks for them: elements, entries, keys and variants.

use serde::de::value::{BorrowedStrDeserializer, SeqAccessDeserializer};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;

use super::{Node, integers, visit_integer, visit_leaf};
use crate::value::error::Segment;
use crate::value::{Value, ValueError, handle};

/// An element of a typed array, which the value does not hold as such.
pub(super) struct Element(pub(super) Value);

impl<'de> Deserializer<'de> for Element {
    type Error = ValueError;

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visit_leaf(&self.0, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_some(self)
    }
}

/// A key and a value of a `Map`, read as a sequence of two.
pub(super) struct Pair<'de> {
    pub(super) node: Node<'de>,
    pub(super) pair: &'de (Value, Value),
}

impl<'de> Deserializer<'de> for Pair<'de> {
    type Error = ValueError;

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        let (key, value) = self.pair;
        visitor.visit_seq(Items { rest: [key, value].into_iter().map(|value| self.node.at(value)), index: 0 })
    }
}

pub(super) struct Items<I> {
    pub(super) rest: I,
    pub(super) index: usize,
}

impl<'de, I> SeqAccess<'de> for Items<I>
where
    I: Iterator<Item: Deserializer<'de, Error = ValueError>>,
{
    type Error = ValueError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, ValueError> {
        let Some(node) = self.rest.next() else {
            return Ok(None);
        };
        let index = self.index;
        self.index += 1;
        seed.deserialize(node).map(Some).map_err(|error| error.within(Segment::Index(index)))
    }

    fn size_hint(&self) -> Option<usize> {
        self.rest.size_hint().1
    }
}

pub(super) struct Entries<'de> {
    rest: Box<dyn Iterator<Item = (Key<'de>, Content<'de>)> + 'de>,
    current: Option<(Segment<'de>, Content<'de>)>,
    index: usize,
}

enum Key<'de> {
    Text(&'de str),
    Node(Node<'de>),
}

/// The value of an entry; that of an error's may be a part that is no value of its own.
enum Content<'de> {
    Node(Node<'de>),
    Text(&'de str),
    Number(u32),
    List(Node<'de>, &'de [Value]),
}

impl<'de> Entries<'de> {
    pub(super) fn of(node: Node<'de>, container: &'de Value) -> Self {
        let rest: Box<dyn Iterator<Item = _>> = match container {
            Value::Object(object) => Box::new(
                object
                    .iter()
                    .filter(|(_, value)| !value.is_undefined())
                    .map(move |(key, value)| (Key::Text(key), Content::Node(node.at(value)))),
            ),
            Value::Map(pairs) => {
                Box::new(pairs.iter().filter(|(_, value)| !value.is_undefined()).map(move |(key, value)| match key {
                    Value::String(text) => (Key::Text(text), Content::Node(node.at(value))),
                    _ => (Key::Node(node.at(key)), Content::Node(node.at(value))),
                }))
            }
            Value::Error(error) => {
                let texts = [("name", &error.name), ("message", &error.message)];
                let texts = texts.into_iter().map(|(key, text)| (Key::Text(key), Content::Text(text)));
                let cause = error.cause.as_ref().map(|cause| (Key::Text("cause"), Content::Node(node.at(cause))));
                let errors = error.errors.as_deref().map(|errors| (Key::Text("errors"), Content::List(node, errors)));
                Box::new(texts.chain(cause).chain(errors))
            }
            Value::Handle(handle) => Box::new(
                [
                    (Key::Text(handle::ID), Content::Number(handle.id)),
                    (Key::Text(handle::NAME), Content::Text(&handle.name)),
                ]
                .into_iter(),
            ),
            _ => Box::new(std::iter::empty()),
        };
        Self { rest, current: None, index: 0 }
    }
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = ValueError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, ValueError> {
        let Some((key, content)) = self.rest.next() else {
            return Ok(None);
        };
        let segment = match &key {
            Key::Text(text) => Segment::Key(text),
            Key::Node(_) => Segment::Index(self.index),
        };
        self.index += 1;
        self.current = Some((segment, content));
        let key = match key {
            Key::Text(text) => seed.deserialize(KeyText(text)),
            Key::Node(node) => seed.deserialize(node),
        };
        key.map(Some).map_err(|error| error.within(segment))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, ValueError> {
        let (segment, content) =
            self.current.take().ok_or_else(|| ValueError::mismatch("value of a map read before its key"))?;
        let value = match content {
            Content::Node(node) => seed.deserialize(node),
            Content::Text(text) => seed.deserialize(BorrowedStrDeserializer::new(text)),
            Content::Number(number) => seed.deserialize(number.into_deserializer()),
            Content::List(node, items) => {
                let rest = items.iter().map(|item| node.at(item));
                seed.deserialize(SeqAccessDeserializer::new(Items { rest, index: 0 }))
            }
        };
        value.map_err(|error| error.within(segment))
    }
}

/// The key of a property: text, which may stand for another type of key.
struct KeyText<'de>(&'de str);

impl<'de> KeyText<'de> {
    fn integer<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, ValueError> {
        match (self.0.parse::<i128>(), self.0.parse::<u128>()) {
            (Ok(integer), _) => visit_integer(integer, visitor),
            (_, Ok(integer)) => visitor.visit_u128(integer),
            _ => visitor.visit_borrowed_str(self.0),
        }
    }
}

impl<'de> Deserializer<'de> for KeyText<'de> {
    type Error = ValueError;

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    forward_to_deserialize_any! {
        f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
        ignored_any
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            text => visitor.visit_borrowed_str(text),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        visitor.visit_enum(BorrowedStrDeserializer::new(self.0))
    }
}

/// An enum's variant with content.
pub(super) struct Variant<'de> {
    pub(super) name: &'de str,
    pub(super) content: Node<'de>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = ValueError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), ValueError> {
        let variant = seed.deserialize(BorrowedStrDeserializer::<ValueError>::new(self.name))?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = ValueError;

    fn unit_variant(self) -> Result<(), ValueError> {
        <()>::deserialize(self.content).map_err(|error| error.within(Segment::Key(self.name)))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, ValueError> {
        seed.deserialize(self.content).map_err(|error| error.within(Segment::Key(self.name)))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, ValueError> {
        self.content.deserialize_seq(visitor).map_err(|error| error.within(Segment::Key(self.name)))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, ValueError> {
        self.content.deserialize_map(visitor).map_err(|error| error.within(Segment::Key(self.name)))
    }
}
