//! A value to bytes, plainly or in the canonical form that approvals are hashed over.

use std::collections::HashMap;
use std::{slice, vec};

use super::{Bounds, WireError, has, tag};
use crate::value::tree::Objects;
use crate::value::{ErrorValue, TypedArray, Value, number};

/// The encoding toward a program, in the order the value has.
pub(crate) fn encode(value: &Value, bounds: &Bounds) -> Result<Vec<u8>, WireError> {
    Encoder::new(bounds, Reader::Program).run(value)
}

/// As [`encode`] for what the host keeps for itself, where a description may stand.
pub(crate) fn encode_record(value: &Value, bounds: &Bounds) -> Result<Vec<u8>, WireError> {
    Encoder::new(bounds, Reader::Host).run(value)
}

/// The canonical form. It can be deeper than the plain one, as an object may move to an earlier reference.
pub(crate) fn encode_canonical(value: &Value, bounds: &Bounds) -> Result<Vec<u8>, WireError> {
    let mut encoder = Encoder::new(bounds, Reader::Host);
    encoder.canonical = Some(Canonical { objects: Objects::of(value)?, written: HashMap::new() });
    encoder.run(value)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    Program,
    Host,
}

struct Encoder<'v> {
    output: Vec<u8>,
    bounds: Bounds,
    reader: Reader,
    nodes: u32,
    /// Objects begun so far.
    begun: u32,
    levels: Vec<Level<'v>>,
    canonical: Option<Canonical<'v>>,
}

struct Canonical<'v> {
    objects: Objects<'v>,
    /// The new number of each object begun, by its address in the tree.
    written: HashMap<*const Value, u32>,
}

/// The rest of a container that is being written.
enum Level<'v> {
    Array(slice::Iter<'v, Value>),
    Values(slice::Iter<'v, Value>),
    Properties(slice::Iter<'v, (String, Value)>),
    Sorted(vec::IntoIter<&'v (String, Value)>),
    Pairs(slice::Iter<'v, (Value, Value)>, Option<&'v Value>),
    Error { cause: Option<&'v Value>, errors: Option<&'v [Value]> },
}

impl<'v> Encoder<'v> {
    fn new(bounds: &Bounds, reader: Reader) -> Self {
        Self { output: Vec::new(), bounds: *bounds, reader, nodes: 0, begun: 0, levels: Vec::new(), canonical: None }
    }

    fn run(mut self, root: &'v Value) -> Result<Vec<u8>, WireError> {
        let mut next = Some(root);
        while let Some(value) = next {
            self.value(value)?;
            next = self.advance()?;
        }
        Ok(self.output)
    }

    /// The next value to write, after what stands before it.
    fn advance(&mut self) -> Result<Option<&'v Value>, WireError> {
        loop {
            let Some(mut level) = self.levels.pop() else {
                return Ok(None);
            };
            let next = match &mut level {
                Level::Array(items) | Level::Values(items) => items.next(),
                Level::Properties(entries) => self.property(entries.next())?,
                Level::Sorted(entries) => self.property(entries.next())?,
                Level::Pairs(pairs, second) => second.take().or_else(|| {
                    let (key, value) = pairs.next()?;
                    *second = Some(value);
                    Some(key)
                }),
                Level::Error { cause, errors } => match (cause.take(), errors.take()) {
                    (Some(value), rest) => {
                        *errors = rest;
                        Some(value)
                    }
                    (None, Some(values)) => {
                        self.length(values.len())?;
                        self.levels.push(Level::Values(values.iter()));
                        continue;
                    }
                    (None, None) => None,
                },
            };
            if next.is_some() {
                self.levels.push(level);
                return Ok(next);
            }
        }
    }

    fn property(&mut self, entry: Option<&'v (String, Value)>) -> Result<Option<&'v Value>, WireError> {
        let Some((key, value)) = entry else {
            return Ok(None);
        };
        self.text(key)?;
        Ok(Some(value))
    }

    /// Writes a value without children whole; of a container only the head, and opens a level for it.
    fn value(&mut self, value: &'v Value) -> Result<(), WireError> {
        self.nodes = self.nodes.saturating_add(1);
        if self.nodes > self.bounds.nodes {
            return Err(WireError::TooManyNodes { nodes: self.nodes.into(), limit: self.bounds.nodes });
        }
        let Some(value) = self.settle_object(value)? else {
            return Ok(());
        };
        match value {
            Value::Undefined => self.put(&[tag::UNDEFINED]),
            Value::Null => self.put(&[tag::NULL]),
            Value::Bool(false) => self.put(&[tag::FALSE]),
            Value::Bool(true) => self.put(&[tag::TRUE]),
            Value::Number(number) => self.number(*number),
            Value::BigInt(number) if !number.is_within_bound() => Err(WireError::BigInt { bits: number.bits() }),
            Value::BigInt(number) => {
                self.put(&[tag::BIG_INT, u8::from(number.is_negative())])?;
                self.text(&number.magnitude_hex())
            }
            Value::String(text) => self.tagged_text(tag::STRING, text),
            Value::ArrayBuffer(bytes) => {
                self.put(&[tag::ARRAY_BUFFER])?;
                self.counted(bytes)
            }
            Value::TypedArray(array) => self.typed_array(array),
            Value::Date(milliseconds) => self.double(tag::DATE, *milliseconds),
            Value::RegExp(pattern) => {
                self.tagged_text(tag::REG_EXP, &pattern.source)?;
                self.text(&pattern.flags)
            }
            Value::Hole if matches!(self.levels.last(), Some(Level::Array(_))) => self.put(&[tag::HOLE]),
            Value::Hole => Err(WireError::Hole),
            Value::Ref(index) => self.reference(*index),
            Value::Description(text) if self.reader == Reader::Program => {
                Err(WireError::Description { text: text.chars().take(100).collect() })
            }
            Value::Description(text) => self.tagged_text(tag::DESCRIPTION, text),
            Value::Handle(handle) if handle.id == 0 => Err(WireError::Handle),
            Value::Handle(handle) => {
                self.put(&[tag::HANDLE])?;
                self.varint(handle.id)?;
                self.text(&handle.name)
            }
            Value::Array(_) | Value::Object(_) | Value::Map(_) | Value::Set(_) | Value::Error(_) => self.open(value),
        }
    }

    /// Gives each object its number. In canonical form every mention of an object is alike, whether it is the object
    /// itself or a reference: the first is written in full, and for all later ones a reference and `None`.
    fn settle_object(&mut self, value: &'v Value) -> Result<Option<&'v Value>, WireError> {
        let mut value = value;
        if let Some(canonical) = &mut self.canonical {
            value = canonical.objects.resolve(value)?;
            if value.is_object_like() && canonical.objects.are_shared() {
                let address = std::ptr::from_ref(value);
                if let Some(index) = canonical.written.get(&address).copied() {
                    return self.reference(index).map(|()| None);
                }
                canonical.written.insert(address, self.begun);
            }
        }
        if value.is_object_like() {
            self.begun = self.begun.saturating_add(1);
        }
        Ok(Some(value))
    }

    fn open(&mut self, value: &'v Value) -> Result<(), WireError> {
        let depth = self.levels.len() + 1;
        if u32::try_from(depth).is_ok_and(|depth| depth > self.bounds.depth) {
            return Err(WireError::TooDeep { depth, limit: self.bounds.depth });
        }
        let (tag, length, level) = match value {
            Value::Object(object) => (tag::OBJECT, object.len(), self.properties(object.entries())),
            Value::Map(pairs) => (tag::MAP, pairs.len(), Level::Pairs(pairs.iter(), None)),
            Value::Set(items) => (tag::SET, items.len(), Level::Values(items.iter())),
            Value::Array(items) => (tag::ARRAY, items.len(), Level::Array(items.iter())),
            Value::Error(error) => {
                self.error_head(error)?;
                let errors = error.errors.as_deref();
                self.levels.push(Level::Error { cause: error.cause.as_ref(), errors });
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.put(&[tag])?;
        self.length(length)?;
        self.levels.push(level);
        Ok(())
    }

    fn properties(&self, entries: &'v [(String, Value)]) -> Level<'v> {
        if self.canonical.is_none() {
            return Level::Properties(entries.iter());
        }
        let mut sorted: Vec<_> = entries.iter().collect();
        sorted.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        Level::Sorted(sorted.into_iter())
    }

    fn error_head(&mut self, error: &ErrorValue) -> Result<(), WireError> {
        self.tagged_text(tag::ERROR, &error.name)?;
        self.text(&error.message)?;
        let details = error.details.as_ref().filter(|_| self.reader != Reader::Program);
        let flag = |present: bool, flag: u8| if present { flag } else { 0 };
        let flags = flag(error.stack.is_some(), has::STACK)
            | flag(error.cause.is_some(), has::CAUSE)
            | flag(error.errors.is_some(), has::ERRORS)
            | flag(details.is_some(), has::DETAILS);
        self.put(&[flags])?;
        error.stack.as_ref().map_or(Ok(()), |stack| self.text(stack))?;
        details.map_or(Ok(()), |details| self.text(details))
    }

    fn number(&mut self, number: f64) -> Result<(), WireError> {
        let negative_zero = number == 0.0 && number.is_sign_negative();
        match number::exact_integer(number).and_then(|integer| i32::try_from(integer).ok()) {
            Some(integer) if !negative_zero => {
                self.put(&[tag::INTEGER])?;
                self.varint(((integer << 1) ^ (integer >> 31)).cast_unsigned())
            }
            _ => self.double(tag::DOUBLE, number),
        }
    }

    fn double(&mut self, tag: u8, number: f64) -> Result<(), WireError> {
        let bits = if number.is_nan() { 0x7ff8_0000_0000_0000 } else { number.to_bits() };
        self.put(&[tag])?;
        self.put(&bits.to_le_bytes())
    }

    fn typed_array(&mut self, array: &TypedArray) -> Result<(), WireError> {
        if !array.is_whole() {
            return Err(WireError::TypedArray { bytes: array.bytes.len(), size: array.kind.element_size() });
        }
        self.put(&[tag::TYPED_ARRAY, array.kind.to_wire()])?;
        self.counted(&array.bytes)
    }

    fn reference(&mut self, index: u32) -> Result<(), WireError> {
        if index >= self.begun {
            let begun = usize::try_from(self.begun).unwrap_or(usize::MAX);
            return Err(WireError::DanglingRef { index, begun });
        }
        self.put(&[tag::REF])?;
        self.varint(index)
    }

    fn tagged_text(&mut self, tag: u8, text: &str) -> Result<(), WireError> {
        self.put(&[tag])?;
        self.text(text)
    }

    fn text(&mut self, text: &str) -> Result<(), WireError> {
        self.counted(text.as_bytes())
    }

    fn counted(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        self.length(bytes.len())?;
        self.put(bytes)
    }

    /// A length that no varint holds is far above every bound.
    fn length(&mut self, length: usize) -> Result<(), WireError> {
        let too_large = WireError::TooLarge { bytes: length, limit: self.bounds.bytes };
        self.varint(u32::try_from(length).map_err(|_| too_large)?)
    }

    fn varint(&mut self, number: u32) -> Result<(), WireError> {
        let mut rest = number;
        loop {
            let [low, ..] = rest.to_le_bytes();
            rest >>= 7;
            if rest == 0 {
                return self.put(&[low & 0x7f]);
            }
            self.put(&[low | 0x80])?;
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        let length = self.output.len() + bytes.len();
        if length > self.bounds.bytes {
            return Err(WireError::TooLarge { bytes: length, limit: self.bounds.bytes });
        }
        self.output.extend_from_slice(bytes);
        Ok(())
    }
}
