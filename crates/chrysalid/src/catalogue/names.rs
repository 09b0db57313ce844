//! Names: identifiers, their other spellings, and how a name is written in TypeScript.

mod nearest;

use super::comment::{is_invisible, opens_tag};
pub(super) use nearest::near;
pub(crate) use nearest::nearest;

/// Whether the text can stand behind a dot. ASCII only: what is not is quoted, which is right everywhere.
pub(super) fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, b'_' | b'$'))
        && bytes.all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$'))
}

/// The camelCase identifier of one segment of a name, `None` when its letters do not give one.
pub(super) fn camel(segment: &str) -> Option<String> {
    if !segment.is_ascii() {
        return None;
    }
    let mut words = segment.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut name = decapitalised(words.next()?);
    words.for_each(|word| name.push_str(&capitalised(word)));
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    Some(name)
}

/// A type's name from any text: letters and digits of ASCII, at most 40, the first a capital letter.
pub(super) fn type_name(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut name: String = words.map(capitalised).collect();
    name.truncate(40);
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert_str(0, "Type");
    }
    // What the declarations use themselves.
    if name == "Promise" {
        name.push('_');
    }
    name
}

/// Lower-case words of a name: parts between other characters, and humps.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    let mut last = ' ';
    while let Some(c) = chars.next() {
        let hump = c.is_uppercase()
            && (last.is_lowercase() || last.is_numeric() || chars.peek().is_some_and(|next| next.is_lowercase()));
        if (hump || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        last = c;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// A name as the key of a member: bare when it is an identifier, else quoted. `new` would declare a constructor.
pub(super) fn key(name: &str) -> String {
    if is_identifier(name) && name != "new" { name.to_owned() } else { quote(name) }
}

/// How a program writes the tool at this path: `tools.a.b`, `tools["a b"]`.
pub(super) fn expression(path: &str) -> String {
    path.split('.').fold("tools".to_owned(), |mut text, segment| {
        if is_identifier(segment) {
            text.push('.');
            text.push_str(segment);
        } else {
            text.push('[');
            text.push_str(&quote(segment));
            text.push(']');
        }
        text
    })
}

/// A string literal of exactly this value, in which no comment ends, no fence or tag opens, and nothing hides.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    let mut chars = text.chars().peekable();
    let mut last = ' ';
    out.push('"');
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let escaped = match c {
            '`' | '~' => last == c || next == Some(c),
            '<' => opens_tag(next),
            c => is_invisible(c) || matches!(c, '\u{200c}' | '\u{200d}'),
        };
        match c {
            '\n' => out.push_str("\\n"),
            '"' | '\\' => out.extend(['\\', c]),
            '/' if last == '*' => out.push_str("\\/"),
            c if escaped => out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}"))),
            c => out.push(c),
        }
        last = c;
    }
    out.push('"');
    out
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + chars.as_str())
}

fn decapitalised(word: &str) -> String {
    if word.bytes().all(|c| !c.is_ascii_lowercase()) {
        return word.to_ascii_lowercase();
    }
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_ascii_lowercase().to_string() + chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::{camel, expression, key, quote, type_name, words};

    #[test]
    fn camel_case() {
        let pairs = [
            ("get-user", Some("getUser")),
            ("Get User", Some("getUser")),
            ("GET-URL", Some("getURL")),
            ("2fa", Some("_2fa")),
            ("slack/send_message", Some("slackSendMessage")),
            ("-$search", Some("search")),
            ("größe", None),
            ("!!", None),
        ];
        for (name, alias) in pairs {
            assert_eq!(camel(name).as_deref(), alias, "{name}");
        }
    }

    #[test]
    fn words_of_every_spelling() {
        for name in ["search_docs", "searchDocs", "SearchDocs", "search-docs", "SEARCH DOCS"] {
            assert_eq!(words(name), ["search", "docs"], "{name}");
        }
        assert_eq!(words("getHTTPUrl2x"), ["get", "http", "url2x"]);
    }

    #[test]
    fn t10_keys_are_quoted_where_they_must_be() {
        let keys = ["user-id", "class", "2nd", "a b", "*/", "new", "__proto__", ""].map(key);
        assert_eq!(keys, ["\"user-id\"", "class", "\"2nd\"", "\"a b\"", "\"*\\/\"", "\"new\"", "__proto__", "\"\""]);
    }

    #[test]
    fn literals_keep_their_value_and_hide_nothing() {
        assert_eq!(quote("a\"\\\n\u{202e}</x> ``` <= `"), r#""a\"\\\n\u202e\u003c/x> \u0060\u0060\u0060 <= `""#);
        assert_eq!(quote("\u{e0041}"), r#""\udb40\udc41""#);
    }

    #[test]
    fn types_have_plain_names() {
        let names = ["node", "my-type", "foo.Bar[int]", "2d", "größe", "Promise", ""].map(type_name);
        assert_eq!(names, ["Node", "MyType", "FooBarInt", "Type2d", "GrE", "Promise_", "Type"]);
    }

    #[test]
    fn expressions() {
        assert_eq!(expression("budget.read"), "tools.budget.read");
        assert_eq!(expression("a b.delete"), "tools[\"a b\"].delete");
    }
}
