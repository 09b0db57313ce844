//! JSON that others wrote, as a value, and as deep as a value may be.

use chrysalid::Value;
use serde::Deserialize;

/// Most levels of nesting, as in a value.
const MAX_DEPTH: usize = 512;
/// Stack for the parser at that depth, in bytes.
const STACK: usize = 4 << 20;

/// The one value that a text is; else what is wrong with it.
pub(crate) fn value(text: &[u8]) -> Result<Value, String> {
    if is_deep(text) {
        return Err(format!("it is nested deeper than {MAX_DEPTH} levels"));
    }
    let json = stacker::maybe_grow(STACK, STACK, || {
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        deserializer.disable_recursion_limit();
        let json = serde_json::Value::deserialize(&mut deserializer)?;
        deserializer.end().map(|()| json)
    });
    Value::from_json(json.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
}

/// Whether a text opens more brackets than the parser may follow, up to the first place that is no JSON.
fn is_deep(text: &[u8]) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::value;

    fn nested(levels: usize) -> String {
        "[".repeat(levels) + &"]".repeat(levels)
    }

    #[test]
    fn as_deep_as_a_value_may_be() {
        assert!(value(nested(512).as_bytes()).is_ok());
        let deep = Err("it is nested deeper than 512 levels".to_owned());
        assert_eq!(value(nested(513).as_bytes()), deep);
        assert_eq!(value("[".repeat(5_000_000).as_bytes()), deep);
        let objects = "{\"a\":".repeat(512) + "1" + &"}".repeat(512);
        assert!(value(objects.as_bytes()).is_ok());
    }

    #[test]
    fn brackets_in_a_string_are_text() {
        let text = format!("[\"\\\"{}\"]", "[".repeat(600));
        assert!(value(text.as_bytes()).is_ok());
    }

    #[test]
    fn what_is_no_json_is_told() {
        assert_eq!(value(b"1 2"), Err("trailing characters at line 1 column 3".into()));
        assert_eq!(value(b"{"), Err("EOF while parsing an object at line 1 column 1".into()));
    }
}
