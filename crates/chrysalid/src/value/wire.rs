//! The tagged binary form in which values cross between host and guest, version 1.
//!
//! The C side is written to this table; a change is a new version. Numbers called *varint* are unsigned LEB128 of at
//! most 32 bits in the fewest bytes; *str* is a varint length in bytes and UTF-8. What is not UTF-8 is read with
//! U+FFFD in its place, one for each surrogate.
//!
//! | tag | value | then |
//! |---|---|---|
//! | 0x00, 0x01, 0x02, 0x03 | undefined, null, false, true | |
//! | 0x04 | number: an integer of 32 bits that is not -0 | varint of its zigzag |
//! | 0x05 | number: any other; NaN is 0x7ff8000000000000 | 8 bytes, little-endian |
//! | 0x06 | `BigInt` | sign 0 or 1, str of lower-case hex without leading zeros |
//! | 0x07 | string | str |
//! | 0x08 | `ArrayBuffer` | varint length, bytes |
//! | 0x09 | typed array | kind (see `TypedArrayKind`), varint length in bytes, bytes |
//! | 0x0a | `Date` | 8 bytes, milliseconds |
//! | 0x0b | `RegExp` | str source, str flags |
//! | 0x0c | array | varint count, elements |
//! | 0x0d | hole, only as an element of 0x0c | |
//! | 0x0e | object | varint count, (str key, value) each |
//! | 0x0f | `Map` | varint count, (key, value) each |
//! | 0x10 | `Set` | varint count, values |
//! | 0x11 | error | str name, str message, flags (1 stack, 2 cause, 4 errors, 8 details), str stack, str details, cause, varint count and errors; details toward the host only |
//! | 0x12 | reference to the n-th object of the tree, already begun | varint |
//! | 0x13 | description, toward the host only | str |
//! | 0x14 | instance of a class, toward the host only | str class, then an object from 0x0e on |
//! | 0x15 | handle: a value that the host keeps; no object of the tree | varint number from 1, str name |
//!
//! **Canonical form**: the same with the keys of every object sorted by their bytes. References are renumbered to the
//! new order, and an object that is now referred to before its own place is written at the first reference. Two
//! values that differ only in the order of properties have the same canonical form.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

pub(crate) use decode::decode;
pub(crate) use encode::{encode, encode_canonical, encode_record};

use super::tree::DanglingRef;

/// How large a value may be on the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The encoding as a whole.
    pub(crate) bytes: usize,
    /// How many containers (array, object, map, set, error) may be open around any place; a number alone is 0 deep.
    pub(crate) depth: u32,
    /// How many values there may be, holes and references included, keys of objects not.
    pub(crate) nodes: u32,
}

mod tag {
    pub(super) const UNDEFINED: u8 = 0x00;
    pub(super) const NULL: u8 = 0x01;
    pub(super) const FALSE: u8 = 0x02;
    pub(super) const TRUE: u8 = 0x03;
    pub(super) const INTEGER: u8 = 0x04;
    pub(super) const DOUBLE: u8 = 0x05;
    pub(super) const BIG_INT: u8 = 0x06;
    pub(super) const STRING: u8 = 0x07;
    pub(super) const ARRAY_BUFFER: u8 = 0x08;
    pub(super) const TYPED_ARRAY: u8 = 0x09;
    pub(super) const DATE: u8 = 0x0a;
    pub(super) const REG_EXP: u8 = 0x0b;
    pub(super) const ARRAY: u8 = 0x0c;
    pub(super) const HOLE: u8 = 0x0d;
    pub(super) const OBJECT: u8 = 0x0e;
    pub(super) const MAP: u8 = 0x0f;
    pub(super) const SET: u8 = 0x10;
    pub(super) const ERROR: u8 = 0x11;
    pub(super) const REF: u8 = 0x12;
    pub(super) const DESCRIPTION: u8 = 0x13;
    pub(super) const INSTANCE: u8 = 0x14;
    pub(super) const HANDLE: u8 = 0x15;
}

/// The flags byte of an error.
mod has {
    pub(super) const STACK: u8 = 1;
    pub(super) const CAUSE: u8 = 2;
    pub(super) const ERRORS: u8 = 4;
    pub(super) const DETAILS: u8 = 8;
}

/// Why bytes are not a value, or a value has no bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WireError {
    #[error("value is {bytes} bytes or more, more than {limit}")]
    TooLarge { bytes: usize, limit: usize },
    #[error("value is {depth} levels deep, more than {limit}")]
    TooDeep { depth: usize, limit: u32 },
    #[error("value has {nodes} nodes or more, more than {limit}")]
    TooManyNodes { nodes: u64, limit: u32 },
    #[error("value ends early at byte {offset}")]
    Truncated { offset: usize },
    #[error("{bytes} bytes follow the value")]
    Trailing { bytes: usize },
    #[error("unknown tag 0x{tag:02x} at byte {offset}")]
    UnknownTag { tag: u8, offset: usize },
    #[error("malformed {what} at byte {offset}")]
    Malformed { what: &'static str, offset: usize },
    #[error("hole outside an array")]
    Hole,
    #[error("reference to object {index} where only {begun} have begun")]
    DanglingRef { index: u32, begun: usize },
    #[error("references in a value with duplicate keys")]
    AmbiguousRef,
    #[error("bigint of {bits} bits is more than a program can hold")]
    BigInt { bits: u64 },
    #[error("handle with number 0")]
    Handle,
    #[error("typed array of {bytes} bytes is not whole elements of {size} bytes")]
    TypedArray { bytes: usize, size: usize },
    #[error("description of something that cannot be passed to a program: {text}")]
    Description { text: String },
}

impl WireError {
    /// Whether the value is sound but too large, in contrast to one that no sound guest sends.
    pub(crate) fn is_bound(&self) -> bool {
        matches!(self, Self::TooLarge { .. } | Self::TooDeep { .. } | Self::TooManyNodes { .. })
    }
}

impl From<DanglingRef> for WireError {
    fn from(DanglingRef { index, begun }: DanglingRef) -> Self {
        Self::DanglingRef { index, begun }
    }
}
