//! Typed arrays: bytes and what they are read as. Elements are decoded here for JSON, serde and text alike.

use super::{BigInt, Value, number};

/// A typed array or a `DataView`, with exactly the bytes it shows; the buffer behind it does not cross.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedArray {
    /// How the bytes are read.
    pub kind: TypedArrayKind,
    /// The elements, little-endian. A length that is no multiple of the element's size is an error on encoding.
    pub bytes: Vec<u8>,
}

/// Which typed array it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypedArrayKind {
    /// `Int8Array`
    Int8,
    /// `Uint8Array`
    Uint8,
    /// `Uint8ClampedArray`
    Uint8Clamped,
    /// `Int16Array`
    Int16,
    /// `Uint16Array`
    Uint16,
    /// `Int32Array`
    Int32,
    /// `Uint32Array`
    Uint32,
    /// `BigInt64Array`
    BigInt64,
    /// `BigUint64Array`
    BigUint64,
    /// `Float16Array`
    Float16,
    /// `Float32Array`
    Float32,
    /// `Float64Array`
    Float64,
    /// `DataView`
    DataView,
}

use TypedArrayKind as Kind;

/// In the order of the wire's kind byte.
const KINDS: [Kind; 13] = [
    Kind::Int8,
    Kind::Uint8,
    Kind::Uint8Clamped,
    Kind::Int16,
    Kind::Uint16,
    Kind::Int32,
    Kind::Uint32,
    Kind::BigInt64,
    Kind::BigUint64,
    Kind::Float16,
    Kind::Float32,
    Kind::Float64,
    Kind::DataView,
];

impl TypedArrayKind {
    /// The name of the constructor, such as `Uint8Array`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int8 => "Int8Array",
            Self::Uint8 => "Uint8Array",
            Self::Uint8Clamped => "Uint8ClampedArray",
            Self::Int16 => "Int16Array",
            Self::Uint16 => "Uint16Array",
            Self::Int32 => "Int32Array",
            Self::Uint32 => "Uint32Array",
            Self::BigInt64 => "BigInt64Array",
            Self::BigUint64 => "BigUint64Array",
            Self::Float16 => "Float16Array",
            Self::Float32 => "Float32Array",
            Self::Float64 => "Float64Array",
            Self::DataView => "DataView",
        }
    }

    /// The size of an element in bytes; 1 for a `DataView`.
    pub fn element_size(self) -> usize {
        match self {
            Self::Int8 | Self::Uint8 | Self::Uint8Clamped | Self::DataView => 1,
            Self::Int16 | Self::Uint16 | Self::Float16 => 2,
            Self::Int32 | Self::Uint32 | Self::Float32 => 4,
            Self::BigInt64 | Self::BigUint64 | Self::Float64 => 8,
        }
    }

    pub(super) fn from_wire(byte: u8) -> Option<Self> {
        KINDS.get(usize::from(byte)).copied()
    }

    pub(super) fn to_wire(self) -> u8 {
        self as u8
    }
}

impl TypedArray {
    /// A `Uint8Array` of these bytes.
    pub fn uint8(bytes: Vec<u8>) -> Self {
        Self { kind: Kind::Uint8, bytes }
    }

    /// How many whole elements there are.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.kind.element_size()
    }

    /// Whether there is no whole element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements: [`Value::BigInt`] of the two 64-bit kinds and else [`Value::Number`]; of a `DataView` its bytes.
    pub fn elements(&self) -> impl ExactSizeIterator<Item = Value> {
        let kind = self.kind;
        self.bytes.chunks_exact(kind.element_size()).map(move |element| read(kind, element).unwrap_or_default())
    }

    /// Whether it stands for bytes rather than for numbers.
    pub(super) fn is_bytes(&self) -> bool {
        matches!(self.kind, Kind::Uint8 | Kind::Uint8Clamped | Kind::DataView)
    }

    pub(super) fn is_whole(&self) -> bool {
        self.bytes.len().is_multiple_of(self.kind.element_size())
    }
}

/// `None` only for a slice that is not one element, which `chunks_exact` never gives.
fn read(kind: Kind, element: &[u8]) -> Option<Value> {
    Some(match kind {
        Kind::Int8 => Value::Number(i8::from_le_bytes(element.try_into().ok()?).into()),
        Kind::Uint8 | Kind::Uint8Clamped | Kind::DataView => Value::Number((*element.first()?).into()),
        Kind::Int16 => Value::Number(i16::from_le_bytes(element.try_into().ok()?).into()),
        Kind::Uint16 => Value::Number(u16::from_le_bytes(element.try_into().ok()?).into()),
        Kind::Int32 => Value::Number(i32::from_le_bytes(element.try_into().ok()?).into()),
        Kind::Uint32 => Value::Number(u32::from_le_bytes(element.try_into().ok()?).into()),
        Kind::BigInt64 => Value::BigInt(BigInt::from(i64::from_le_bytes(element.try_into().ok()?))),
        Kind::BigUint64 => Value::BigInt(BigInt::from(u64::from_le_bytes(element.try_into().ok()?))),
        Kind::Float16 => Value::Number(number::from_half(u16::from_le_bytes(element.try_into().ok()?))),
        Kind::Float32 => Value::Number(f32::from_le_bytes(element.try_into().ok()?).into()),
        Kind::Float64 => Value::Number(f64::from_le_bytes(element.try_into().ok()?)),
    })
}

/// Standard base64 with padding.
pub(super) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = bits >> (18 - 6 * place) & 63;
            let symbol = usize::try_from(digit).ok().and_then(|digit| ALPHABET.get(digit));
            text.push(if place > group.len() { '=' } else { symbol.map_or('=', |byte| char::from(*byte)) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_bytes_are_those_of_the_table() {
        for (place, kind) in KINDS.into_iter().enumerate() {
            assert_eq!(usize::from(kind.to_wire()), place);
            assert_eq!(TypedArrayKind::from_wire(kind.to_wire()), Some(kind));
        }
        assert_eq!(TypedArrayKind::from_wire(13), None);
    }

    #[test]
    fn elements_are_little_endian() {
        let of = |kind, bytes: &[u8]| TypedArray { kind, bytes: bytes.into() }.elements().collect::<Vec<_>>();
        assert_eq!(of(Kind::Int8, &[255]), [Value::from(-1)]);
        assert_eq!(of(Kind::Uint16, &[1, 2, 3]), [Value::from(513)]);
        assert_eq!(of(Kind::Int32, &[254, 255, 255, 255]), [Value::from(-2)]);
        assert_eq!(of(Kind::BigUint64, &[255; 8]), [Value::BigInt(u64::MAX.into())]);
        assert_eq!(of(Kind::Float16, &[0, 0x3c, 0, 0xc0]), [Value::from(1), Value::from(-2)]);
        assert_eq!(of(Kind::Float32, &1.5f32.to_le_bytes()), [Value::from(1.5)]);
    }

    #[test]
    fn base64_is_that_of_the_rfc() {
        let pairs =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("\u{fb}ÿ", "w7vDvw==")];
        for (plain, coded) in pairs {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
