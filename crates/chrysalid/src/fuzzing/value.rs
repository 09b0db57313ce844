//! Values from the guest: whatever decodes has one encoding, a JSON form that leads back, and a bounded text.

use crate::value::wire::{self, Bounds};
use crate::value::{Layout, Style, Value, console_line, from_value, printable, render};

const BOUNDS: Bounds = Bounds { bytes: 1 << 20, depth: 512, nodes: 50_000 };
/// What is not UTF-8 is replaced by something longer, and a canonical form may be deeper.
const ROOM: Bounds = Bounds { bytes: 4 << 20, depth: u32::MAX, nodes: u32::MAX };

/// The first byte chooses how the value is shown; the rest is what the guest sent.
pub fn value_decoding(bytes: &[u8]) {
    let Some((style, bytes)) = bytes.split_first() else { return };
    let Ok(value) = wire::decode(bytes, &BOUNDS) else { return };
    encodes_as_itself(&value);
    goes_to_json_and_back(&value);
    is_shown_within_bounds(&value, usize::from(*style));
    // A reader that takes anything follows the whole value.
    drop(from_value::<serde_json::Value>(value));
}

fn encodes_as_itself(value: &Value) {
    let encoded = wire::encode_record(value, &ROOM).expect("what was decoded can be encoded");
    let again = wire::decode(&encoded, &ROOM).expect("what was encoded can be decoded");
    assert_eq!(&again, value);
    assert_eq!(wire::encode_record(&again, &ROOM).as_ref(), Ok(&encoded));
    // Toward a program descriptions are refused, and nothing else is.
    if let Ok(sent) = wire::encode(value, &ROOM) {
        let sent = wire::decode(&sent, &ROOM).expect("what is sent can be decoded");
        assert_eq!(wire::encode(&sent, &ROOM), wire::encode(value, &ROOM));
    }
    let canonical = wire::encode_canonical(value, &ROOM).expect("what was decoded has a canonical form");
    let ordered = wire::decode(&canonical, &ROOM).expect("the canonical form can be decoded");
    assert_eq!(wire::encode_canonical(&ordered, &ROOM), Ok(canonical));
}

fn goes_to_json_and_back(value: &Value) {
    let Ok(json) = value.to_json_within(100_000, 1 << 20) else { return };
    let back = Value::from_json(json.clone()).expect("JSON of a value is a value");
    assert_eq!(back.to_json().expect("a value from JSON has JSON"), json);
}

fn is_shown_within_bounds(value: &Value, choice: usize) {
    let layout = if choice & 1 == 0 { Layout::Line } else { Layout::Broken { columns: choice } };
    let styles =
        [Style::default(), Style { layout, depth: choice % 64, items: choice % 16, text: choice, bytes: choice * 4 }];
    for style in styles {
        for text in [render(value, &style), console_line(value, &style)] {
            assert!(text.len() <= style.bytes, "{} bytes, not {}", text.len(), style.bytes);
            assert_eq!(printable(&text), text);
        }
    }
}
