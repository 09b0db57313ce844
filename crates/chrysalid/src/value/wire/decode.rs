//! Bytes to a value. The bytes come from the guest: every count is checked against what is left of bytes and nodes
//! before it is believed, and memory is reserved only as elements are read.

use super::{Bounds, WireError, has, tag};
use crate::value::object::Class;
use crate::value::{BigInt, ErrorValue, Handle, Object, RegExp, TypedArray, TypedArrayKind, Value};

/// Room reserved on the word of a count alone, in elements.
const RESERVE: usize = 16;

/// Reads the one value that the bytes are.
pub(crate) fn decode(bytes: &[u8], bounds: &Bounds) -> Result<Value, WireError> {
    if bytes.len() > bounds.bytes {
        return Err(WireError::TooLarge { bytes: bytes.len(), limit: bounds.bytes });
    }
    let mut decoder = Decoder {
        input: Input { all: bytes, rest: bytes },
        bounds,
        nodes: 0,
        frames: Vec::new(),
        begun: 0,
        has_refs: false,
        has_duplicates: false,
    };
    decoder.expect_nodes(1)?;
    let value = decoder.run()?;
    if !decoder.input.rest.is_empty() {
        return Err(WireError::Trailing { bytes: decoder.input.rest.len() });
    }
    // Dropping the earlier of two values shifts the numbers of all objects after it.
    if decoder.has_refs && decoder.has_duplicates {
        return Err(WireError::AmbiguousRef);
    }
    Ok(value)
}

struct Decoder<'b> {
    input: Input<'b>,
    bounds: &'b Bounds,
    /// Values read and values announced by a count.
    nodes: u64,
    frames: Vec<Frame>,
    /// Objects begun so far.
    begun: u32,
    has_refs: bool,
    has_duplicates: bool,
}

/// A container whose children are being read. `left` counts values still to come.
enum Frame {
    Array { items: Vec<Value>, left: usize },
    Object { entries: Vec<(String, Value)>, key: String, left: usize, class: Option<Box<Class>> },
    Map { pairs: Vec<(Value, Value)>, key: Option<Value>, left: usize },
    Set { items: Vec<Value>, left: usize },
    Error { error: Box<ErrorValue>, cause: Part, errors: Part, left: usize },
}

/// A part of an error that its flags may announce.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Absent,
    Announced,
    Begun,
}

impl Part {
    fn announced_by(flags: u8, flag: u8) -> Self {
        if flags & flag == 0 { Self::Absent } else { Self::Announced }
    }
}

impl Decoder<'_> {
    fn run(&mut self) -> Result<Value, WireError> {
        let mut complete = self.value()?;
        loop {
            if let Some(value) = complete.take() {
                match self.frames.last_mut() {
                    Some(frame) => frame.push(value),
                    None => return Ok(value),
                }
            }
            complete =
                if self.approach_child()? { self.value()? } else { self.frames.pop().map(|frame| self.finish(frame)) };
        }
    }

    /// Reads what stands before the next child of the innermost container; false if it has none.
    fn approach_child(&mut self) -> Result<bool, WireError> {
        let Some(mut frame) = self.frames.pop() else {
            return Ok(false);
        };
        let follows = match &mut frame {
            Frame::Object { key, left, .. } => {
                if *left > 0 {
                    *key = self.input.text()?;
                }
                take_one(left)
            }
            Frame::Error { cause: cause @ Part::Announced, .. } => {
                self.expect_nodes(1)?;
                *cause = Part::Begun;
                true
            }
            Frame::Error { errors: errors @ Part::Announced, error, left, .. } => {
                *errors = Part::Begun;
                *left = self.count(1, 1)?;
                error.errors = Some(Vec::with_capacity(RESERVE.min(*left)));
                take_one(left)
            }
            Frame::Array { left, .. }
            | Frame::Map { left, .. }
            | Frame::Set { left, .. }
            | Frame::Error { left, .. } => take_one(left),
        };
        self.frames.push(frame);
        Ok(follows)
    }

    fn finish(&mut self, frame: Frame) -> Value {
        match frame {
            Frame::Array { mut items, .. } => {
                items.shrink_to_fit();
                Value::Array(items)
            }
            Frame::Object { mut entries, class, .. } => {
                entries.shrink_to_fit();
                let count = entries.len();
                let object = Object::from_entries(entries).of_class(class);
                self.has_duplicates |= object.len() < count;
                Value::Object(object)
            }
            Frame::Map { mut pairs, .. } => {
                pairs.shrink_to_fit();
                Value::Map(pairs)
            }
            Frame::Set { mut items, .. } => {
                items.shrink_to_fit();
                Value::Set(items)
            }
            Frame::Error { error, .. } => Value::Error(error),
        }
    }

    /// Reads a value without children whole; of a container only the head, and opens a frame for it.
    fn value(&mut self) -> Result<Option<Value>, WireError> {
        let offset = self.input.offset();
        let tag = self.input.byte()?;
        if matches!(tag, tag::ARRAY_BUFFER..=tag::ARRAY | tag::OBJECT..=tag::ERROR | tag::INSTANCE) {
            self.begun = self.begun.saturating_add(1);
        }
        Ok(Some(match tag {
            tag::UNDEFINED => Value::Undefined,
            tag::NULL => Value::Null,
            tag::FALSE => Value::Bool(false),
            tag::TRUE => Value::Bool(true),
            tag::INTEGER => Value::Number(unzigzag(self.input.varint()?).into()),
            tag::DOUBLE => Value::Number(self.input.double()?),
            tag::BIG_INT => Value::BigInt(self.big_int()?),
            tag::STRING => Value::String(self.input.text()?),
            tag::ARRAY_BUFFER => Value::ArrayBuffer(self.input.counted()?.into()),
            tag::TYPED_ARRAY => Value::TypedArray(self.typed_array()?),
            tag::DATE => Value::Date(self.input.double()?),
            tag::REG_EXP => Value::RegExp(Box::new(RegExp { source: self.input.text()?, flags: self.input.text()? })),
            tag::HOLE if matches!(self.frames.last(), Some(Frame::Array { .. })) => Value::Hole,
            tag::HOLE => return Err(WireError::Hole),
            tag::REF => self.reference()?,
            tag::DESCRIPTION => Value::Description(self.input.text()?),
            tag::HANDLE => match self.input.varint()? {
                0 => return Err(WireError::Handle),
                id => Value::Handle(Handle::new(id, self.input.text()?)),
            },
            tag::ARRAY | tag::OBJECT | tag::MAP | tag::SET | tag::ERROR | tag::INSTANCE => {
                self.open(tag)?;
                return Ok(None);
            }
            _ => return Err(WireError::UnknownTag { tag, offset }),
        }))
    }

    fn open(&mut self, tag: u8) -> Result<(), WireError> {
        let depth = self.frames.len() + 1;
        if u32::try_from(depth).is_ok_and(|depth| depth > self.bounds.depth) {
            return Err(WireError::TooDeep { depth, limit: self.bounds.depth });
        }
        let frame = match tag {
            tag::OBJECT => self.object_head(None)?,
            tag::INSTANCE => {
                let class = Box::new(Class(self.input.text()?));
                let offset = self.input.offset();
                if self.input.byte()? != tag::OBJECT {
                    return Err(WireError::Malformed { what: "instance", offset });
                }
                self.object_head(Some(class))?
            }
            tag::MAP => {
                let count = self.count(2, 2)?;
                Frame::Map { pairs: Vec::with_capacity(RESERVE.min(count)), key: None, left: count * 2 }
            }
            tag::SET => {
                let left = self.count(1, 1)?;
                Frame::Set { items: Vec::with_capacity(RESERVE.min(left)), left }
            }
            tag::ERROR => self.error_head()?,
            _ => {
                let left = self.count(1, 1)?;
                Frame::Array { items: Vec::with_capacity(RESERVE.min(left)), left }
            }
        };
        self.frames.push(frame);
        Ok(())
    }

    fn object_head(&mut self, class: Option<Box<Class>>) -> Result<Frame, WireError> {
        let left = self.count(2, 1)?;
        Ok(Frame::Object { entries: Vec::with_capacity(RESERVE.min(left)), key: String::new(), left, class })
    }

    fn error_head(&mut self) -> Result<Frame, WireError> {
        let mut error = ErrorValue::new(self.input.text()?, self.input.text()?);
        let offset = self.input.offset();
        let flags = self.input.byte()?;
        if flags & !(has::STACK | has::CAUSE | has::ERRORS | has::DETAILS) != 0 {
            return Err(WireError::Malformed { what: "error flags", offset });
        }
        if flags & has::STACK != 0 {
            error.stack = Some(self.input.text()?);
        }
        if flags & has::DETAILS != 0 {
            error.details = Some(self.input.text()?);
        }
        Ok(Frame::Error {
            error: Box::new(error),
            cause: Part::announced_by(flags, has::CAUSE),
            errors: Part::announced_by(flags, has::ERRORS),
            left: 0,
        })
    }

    fn big_int(&mut self) -> Result<BigInt, WireError> {
        let offset = self.input.offset();
        let malformed = WireError::Malformed { what: "bigint", offset };
        let negative = match self.input.byte()? {
            0 => false,
            1 => true,
            _ => return Err(malformed),
        };
        let hex = self.input.counted()?;
        let number = BigInt::from_hex(negative, hex).ok_or(malformed)?;
        if number.is_within_bound() { Ok(number) } else { Err(WireError::BigInt { bits: number.bits() }) }
    }

    fn typed_array(&mut self) -> Result<TypedArray, WireError> {
        let offset = self.input.offset();
        let kind = TypedArrayKind::from_wire(self.input.byte()?)
            .ok_or(WireError::Malformed { what: "typed array kind", offset })?;
        let array = TypedArray { kind, bytes: self.input.counted()?.into() };
        if array.is_whole() {
            return Ok(array);
        }
        Err(WireError::TypedArray { bytes: array.bytes.len(), size: kind.element_size() })
    }

    fn reference(&mut self) -> Result<Value, WireError> {
        let index = self.input.varint()?;
        if index >= self.begun {
            let begun = usize::try_from(self.begun).unwrap_or(usize::MAX);
            return Err(WireError::DanglingRef { index, begun });
        }
        self.has_refs = true;
        Ok(Value::Ref(index))
    }

    /// Reads how many children come, of which each takes at least so many bytes and is so many values.
    fn count(&mut self, least_bytes: usize, values: u64) -> Result<usize, WireError> {
        let count = self.input.varint()?;
        self.expect_nodes(u64::from(count) * values)?;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if count > self.input.rest.len() / least_bytes {
            return Err(WireError::Truncated { offset: self.input.all.len() });
        }
        Ok(count)
    }

    fn expect_nodes(&mut self, more: u64) -> Result<(), WireError> {
        self.nodes += more;
        if self.nodes > u64::from(self.bounds.nodes) {
            return Err(WireError::TooManyNodes { nodes: self.nodes, limit: self.bounds.nodes });
        }
        Ok(())
    }
}

impl Frame {
    fn push(&mut self, value: Value) {
        match self {
            Self::Array { items, .. } | Self::Set { items, .. } => items.push(value),
            Self::Object { entries, key, .. } => entries.push((std::mem::take(key), value)),
            Self::Map { pairs, key, .. } => match key.take() {
                Some(key) => pairs.push((key, value)),
                None => *key = Some(value),
            },
            Self::Error { error, .. } => match &mut error.errors {
                Some(errors) => errors.push(value),
                None => error.cause = Some(value),
            },
        }
    }
}

fn take_one(left: &mut usize) -> bool {
    let follows = *left > 0;
    *left = left.saturating_sub(1);
    follows
}

fn unzigzag(bits: u32) -> i32 {
    (bits >> 1).cast_signed() ^ -(bits & 1).cast_signed()
}

struct Input<'b> {
    all: &'b [u8],
    rest: &'b [u8],
}

impl<'b> Input<'b> {
    fn offset(&self) -> usize {
        self.all.len() - self.rest.len()
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8], WireError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(WireError::Truncated { offset: self.all.len() })?;
        self.rest = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, WireError> {
        let (byte, rest) = self.rest.split_first().ok_or(WireError::Truncated { offset: self.all.len() })?;
        self.rest = rest;
        Ok(*byte)
    }

    fn varint(&mut self) -> Result<u32, WireError> {
        let malformed = WireError::Malformed { what: "varint", offset: self.offset() };
        let mut number = 0u64;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let minimal = byte != 0 || shift == 0;
                return u32::try_from(number).ok().filter(|_| minimal).ok_or(malformed);
            }
        }
        Err(malformed)
    }

    fn double(&mut self) -> Result<f64, WireError> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(WireError::Truncated { offset: self.all.len() })?;
        self.rest = rest;
        let number = f64::from_le_bytes(*bytes);
        Ok(if number.is_nan() { f64::NAN } else { number })
    }

    /// A varint length and so many bytes.
    fn counted(&mut self) -> Result<&'b [u8], WireError> {
        let count = self.varint()?;
        self.take(usize::try_from(count).unwrap_or(usize::MAX))
    }

    fn text(&mut self) -> Result<String, WireError> {
        let bytes = self.counted()?;
        Ok(std::str::from_utf8(bytes).map_or_else(|_| lossy(bytes), Into::into))
    }
}

/// As `String::from_utf8_lossy`, but the three bytes that the guest writes for a lone surrogate give one U+FFFD.
fn lossy(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut surrogate = 0;
    for chunk in bytes.utf8_chunks() {
        if !chunk.valid().is_empty() {
            surrogate = 0;
        }
        text.push_str(chunk.valid());
        surrogate = match (surrogate, chunk.invalid()) {
            (1, [0xa0..=0xbf]) => 2,
            (2, [0x80..=0xbf]) | (_, []) => 0,
            (_, invalid) => {
                text.push(char::REPLACEMENT_CHARACTER);
                u8::from(invalid == [0xed])
            }
        };
    }
    text
}
