//! Messages to the guest that are not values themselves: lists of names, and the fields of an error answer. They use the
//! numbers and texts of the wire form.

use super::Value;
use super::wire;

const TAG_OBJECT: u8 = 0x0e;

/// Appends a number; more than 32 bits count as the largest.
pub(crate) fn put_varint(out: &mut Vec<u8>, number: usize) {
    let mut rest = u32::try_from(number).unwrap_or(u32::MAX);
    loop {
        let [low, ..] = rest.to_le_bytes();
        rest >>= 7;
        if rest == 0 {
            return out.push(low & 0x7f);
        }
        out.push(low | 0x80);
    }
}

/// Appends a text with its length.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_varint(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

/// Appends an object of simple values.
pub(crate) fn put_fields(out: &mut Vec<u8>, fields: &[(&str, Value)]) {
    const BOUNDS: wire::Bounds = wire::Bounds { bytes: 1 << 20, depth: 1, nodes: 1 };
    out.push(TAG_OBJECT);
    put_varint(out, fields.len());
    for (name, value) in fields {
        put_text(out, name);
        // A field that cannot be written is left undefined, which is one byte.
        out.extend(wire::encode(value, &BOUNDS).unwrap_or_else(|_| vec![0]));
    }
}

#[cfg(test)]
mod tests {
    use super::{Value, put_fields, put_varint};
    use crate::value::wire::{Bounds, decode};

    #[test]
    fn fields_are_an_object_of_the_wire() {
        let mut out = Vec::new();
        put_fields(&mut out, &[("tool", Value::from("pay")), ("retryable", Value::from(true))]);
        let value = decode(&out, &Bounds { bytes: 100, depth: 2, nodes: 9 }).unwrap();
        assert_eq!(value.to_string(), "{ tool: 'pay', retryable: true }");
    }

    #[test]
    fn numbers_take_as_few_bytes_as_they_need() {
        let mut out = Vec::new();
        put_varint(&mut out, 127);
        put_varint(&mut out, 300);
        assert_eq!(out, [127, 0xac, 2]);
    }
}
