//! The text of a value for people: console lines, arguments of a call that waits for approval, messages.
//!
//! It reads like Node's `util.inspect`, and it is bounded in depth, items, text and length, whatever the value. A
//! program chose the value, so no control character, terminal sequence or mark that reorders text is passed through.

mod layout;
mod scalar;
#[cfg(test)]
mod tests;

use super::tree::Objects;
use super::{ErrorValue, TypedArray, TypedArrayKind, Value, date, number};
use layout::join;
use scalar::{big_int, bytes, cut, escaped_line, key, limit, more, quoted};
pub(crate) use scalar::{printable, reorders_or_hides};

/// How a value is shown, and how much of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) layout: Layout,
    /// Containers within each other before `[Object]` stands for one; at most 32 [5].
    pub(crate) depth: usize,
    /// Items of one container before `… more items` [100].
    pub(crate) items: usize,
    /// Characters of one string before `… more characters` [1000].
    pub(crate) text: usize,
    /// The whole text in bytes [16 KiB]; the rest is cut off and `…` put in its place.
    pub(crate) bytes: usize,
}

/// Where lines may break.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layout {
    /// Nowhere; an error is shown without its stack.
    Line,
    /// After each item of a container that does not fit in so many columns.
    Broken {
        /// The width to keep to where possible.
        columns: usize,
    },
}

impl Default for Style {
    fn default() -> Self {
        Self { layout: Layout::Broken { columns: 76 }, depth: 5, items: 100, text: 1000, bytes: 16 << 10 }
    }
}

/// The recursion here goes no deeper, whatever the style asks for.
const DEPTH: usize = 32;

/// Characters of a string within a container, whatever the style asks for.
const NESTED_TEXT: usize = 1000;

/// The text of one value; a string in quotes.
pub(crate) fn render(value: &Value, style: &Style) -> String {
    let mut printer = Printer::new(value, style);
    let text = printer.value(value, 0);
    cut(text, style.bytes)
}

/// The text of a value within another, to which its references belong.
pub(crate) fn render_part<'v>(root: &'v Value, part: &'v Value, style: &Style) -> String {
    cut(Printer::new(root, style).value(part, 0), style.bytes)
}

/// The line of a console call from the array of its arguments: separated by spaces, strings without quotes.
pub(crate) fn console_line(arguments: &Value, style: &Style) -> String {
    let Value::Array(items) = arguments else {
        return render(arguments, style);
    };
    let mut printer = Printer::new(arguments, style);
    let mut line = String::new();
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            line.push(' ');
        }
        if printer.left == 0 {
            line.push('…');
            break;
        }
        match item {
            Value::String(text) => {
                let shown = printable(limit(text, printer.left).0);
                printer.pay(shown.len());
                line.push_str(&shown);
            }
            _ => line.push_str(&printer.value(item, 0)),
        }
    }
    cut(line, style.bytes)
}

struct Printer<'v> {
    style: Style,
    /// Absent if some reference is dangling; then each is shown by its number.
    objects: Option<Objects<'v>>,
    /// The containers around the place that is being written.
    open: Vec<&'v Value>,
    /// Those that contain themselves, in the order in which that was seen.
    circular: Vec<&'v Value>,
    /// What may still be written, roughly; [`cut`] is exact.
    left: usize,
}

impl<'v> Printer<'v> {
    fn new(root: &'v Value, style: &Style) -> Self {
        Self {
            style: Style { depth: style.depth.min(DEPTH), ..*style },
            objects: Objects::of(root).ok(),
            open: Vec::new(),
            circular: Vec::new(),
            left: style.bytes,
        }
    }

    fn pay(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes.max(1));
    }

    fn value(&mut self, value: &'v Value, indent: usize) -> String {
        let target = match value {
            Value::Ref(index) => match self.objects.as_ref().and_then(|objects| objects.get(*index).ok()) {
                Some(target) => target,
                None => return format!("[Object *{index}]"),
            },
            _ => value,
        };
        if self.open.iter().any(|open| std::ptr::eq(*open, target)) {
            let number = self.circular_number(target).unwrap_or_else(|| {
                self.circular.push(target);
                self.circular.len()
            });
            return format!("[Circular *{number}]");
        }
        if !matches!(target, Value::Array(_) | Value::Set(_) | Value::Map(_) | Value::Object(_) | Value::Error(_)) {
            let text = self.leaf(target, indent);
            self.pay(text.len());
            return text;
        }
        if self.open.len() >= self.style.depth {
            self.pay(8);
            return format!("[{}]", target.kind_name());
        }
        self.open.push(target);
        let text = self.container(target, indent);
        self.open.pop();
        match self.circular_number(target) {
            Some(number) => format!("<ref *{number}> {text}"),
            None => text,
        }
    }

    /// Counts from 1.
    fn circular_number(&self, target: &Value) -> Option<usize> {
        self.circular.iter().position(|circular| std::ptr::eq(*circular, target)).map(|place| place + 1)
    }

    fn leaf(&self, value: &Value, indent: usize) -> String {
        match value {
            Value::Null => "null".into(),
            Value::Bool(truth) => truth.to_string(),
            Value::Number(number) => number::text(*number),
            Value::BigInt(number) => big_int(number),
            Value::String(text) => {
                let most = if self.open.is_empty() { self.style.text } else { self.style.text.min(NESTED_TEXT) };
                quoted(text, most.min(self.left))
            }
            Value::ArrayBuffer(content) => {
                format!("ArrayBuffer {{ {}, byteLength: {} }}", bytes(content), content.len())
            }
            Value::TypedArray(array) => self.typed_array(array, indent),
            Value::Date(milliseconds) => date::iso_text(*milliseconds).unwrap_or_else(|| "Invalid Date".into()),
            Value::RegExp(pattern) => {
                let source = escaped_line(&pattern.source, self.style.text);
                format!("/{source}/{}", escaped_line(&pattern.flags, self.style.text))
            }
            Value::Description(text) => escaped_line(text, self.style.text),
            Value::Handle(handle) => escaped_line(&handle.to_string(), self.style.text),
            _ => "undefined".into(),
        }
    }

    fn typed_array(&self, array: &TypedArray, indent: usize) -> String {
        let name = array.kind.name();
        if array.kind == TypedArrayKind::DataView {
            return format!("{name} {{ {}, byteLength: {} }}", bytes(&array.bytes), array.bytes.len());
        }
        let shown = self.style.items.min(self.left);
        let elements = array.elements().take(shown);
        let mut parts: Vec<_> = elements.map(|element| self.leaf(&element, indent)).collect();
        parts.extend(more(array.len().saturating_sub(shown), "item", "items"));
        self.join(&format!("{name}({}) [", array.len()), &parts, "]", indent)
    }

    fn container(&mut self, value: &'v Value, indent: usize) -> String {
        match value {
            Value::Array(items) => {
                let parts = self.array_items(items, indent + 2);
                self.join("[", &parts, "]", indent)
            }
            Value::Set(items) => {
                let parts = self.parts(items.iter(), 0, |printer, item| printer.value(item, indent + 2));
                self.join(&format!("Set({}) {{", items.len()), &parts, "}", indent)
            }
            Value::Map(pairs) => {
                let parts = self.parts(pairs.iter(), 0, |printer, (key, item)| {
                    format!("{} => {}", printer.value(key, indent + 2), printer.value(item, indent + 2))
                });
                self.join(&format!("Map({}) {{", pairs.len()), &parts, "}", indent)
            }
            Value::Object(object) => {
                let entries = object.entries();
                let marked = entries.split_last().and_then(|((_, last), kept)| Some((kept, cut_off(last)?)));
                let (entries, cut) = marked.unwrap_or((entries, 0));
                let parts = self.parts(entries.iter(), cut, |printer, (name, property)| {
                    printer.property(&key(name), property, indent + 2)
                });
                let class = object.class().map(|class| format!("{} ", escaped_line(class, self.style.text)));
                self.join(&format!("{}{{", class.unwrap_or_default()), &parts, "}", indent)
            }
            Value::Error(error) => self.error(error, indent),
            _ => String::new(),
        }
    }

    fn array_items(&mut self, items: &'v [Value], indent: usize) -> Vec<String> {
        let mut parts = Vec::new();
        let marked = items.split_last().and_then(|(last, kept)| Some((kept, cut_off(last)?)));
        let (mut rest, cut) = marked.unwrap_or((items, 0));
        while let Some((item, others)) = rest.split_first() {
            if parts.len() >= self.style.items || self.left == 0 {
                break;
            }
            let holes = rest.iter().take_while(|item| matches!(item, Value::Hole)).count();
            if holes > 0 {
                let items = if holes == 1 { "item" } else { "items" };
                parts.push(format!("<{holes} empty {items}>"));
                self.pay(16);
                rest = rest.get(holes..).unwrap_or_default();
            } else {
                parts.push(self.value(item, indent));
                rest = others;
            }
        }
        parts.extend(more(rest.len() + cut, "item", "items"));
        parts
    }

    fn parts<T>(
        &mut self,
        source: impl ExactSizeIterator<Item = T>,
        cut: usize,
        show: impl Fn(&mut Self, T) -> String,
    ) -> Vec<String> {
        let mut parts = Vec::new();
        let total = source.len();
        for item in source.take(self.style.items) {
            if self.left == 0 {
                break;
            }
            parts.push(show(self, item));
        }
        parts.extend(more(total - parts.len() + cut, "item", "items"));
        parts
    }

    fn property(&mut self, name: &str, value: &'v Value, indent: usize) -> String {
        self.pay(name.len());
        format!("{name}: {}", self.value(value, indent))
    }

    fn error(&mut self, error: &'v ErrorValue, indent: usize) -> String {
        let name = escaped_line(&error.name, self.style.text);
        let message = limit(&error.message, self.style.text).0;
        let message = match self.style.layout {
            Layout::Line => escaped_line(message, self.style.text),
            Layout::Broken { .. } => printable(message),
        };
        let head = if message.is_empty() { name } else { format!("{name}: {message}") };
        let text = match (&error.stack, self.style.layout) {
            (Some(stack), Layout::Broken { .. }) if !stack.trim().is_empty() => {
                let stack = printable(limit(stack.trim_end(), self.style.text).0);
                let whole = if stack.starts_with(&head) { stack } else { format!("{head}\n{stack}") };
                whole.replace('\n', &format!("\n{:indent$}", ""))
            }
            _ => format!("[{head}]"),
        };
        let details = error.details.as_deref().map(|details| escaped_line(details, self.style.text));
        let text = details.map_or(text.clone(), |details| format!("{text} {details}"));
        self.pay(text.len());
        let mut parts = Vec::new();
        if let Some(cause) = &error.cause {
            parts.push(self.property("[cause]", cause, indent + 2));
        }
        if let Some(errors) = &error.errors {
            let items = self.array_items(errors, indent + 4);
            parts.push(format!("[errors]: {}", self.join("[", &items, "]", indent + 2)));
        }
        if parts.is_empty() { text } else { self.join(&format!("{text} {{"), &parts, "}", indent) }
    }

    fn join(&self, open: &str, parts: &[String], close: &str, indent: usize) -> String {
        join(self.style.layout, open, parts, close, indent)
    }
}

/// How many more parts a long container had, if this is the last part that the guest has left of one.
fn cut_off(last: &Value) -> Option<usize> {
    let Value::Description(text) = last else { return None };
    text.strip_prefix("... ")?.strip_suffix(" more items")?.parse().ok()
}
