//! What is written to the guest beside programs: its limits, the tree of tools, and answers to calls.

use super::Session;
use super::lookup::{DESCRIBE, SEARCH};
use super::state::{Answer, AnswerError};
use crate::defence::{Defence, stands};
use crate::engine::{GUEST_STACK, abi};
use crate::value::{Value, message};

/// Part of the guest's heap that is left to the allocator: blocks do not fill what they are cut from.
const HEAP_SLACK: usize = 16;

/// For a limit that is gone; half of what a word holds, so that sums with it do not wrap.
const UNBOUNDED: u32 = u32::MAX / 2;

impl Session {
    /// The limits that the guest keeps by itself.
    pub(super) fn configuration(&self) -> [u32; abi::CONFIGURE_WORDS] {
        let word = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        let baseline = self.making.baseline().map_or(0, |baseline| baseline.len());
        let heap = self.limits.memory.saturating_sub(baseline);
        let heap = heap - heap / HEAP_SLACK;
        let mut words = [0; abi::CONFIGURE_WORDS];
        for (at, value, defence) in [
            (abi::CONFIGURE_MEMORY, word(heap), Defence::MemoryCount),
            (abi::CONFIGURE_STACK, GUEST_STACK, Defence::StackBound),
            (abi::CONFIGURE_ARGUMENT_BYTES, word(self.limits.argument_size), Defence::ArgumentSize),
            (abi::CONFIGURE_DEPTH, self.limits.value_depth, Defence::ValueDepth),
            (abi::CONFIGURE_NODES, self.limits.value_nodes, Defence::ValueNodes),
            (abi::CONFIGURE_RESULT_BYTES, word(self.limits.result_size), Defence::ResultSize),
            (abi::CONFIGURE_LOG_BYTES, word(self.limits.console_size), Defence::ConsoleSize),
        ] {
            if let Some(place) = words.get_mut(at) {
                *place = if stands(defence) { value } else { UNBOUNDED };
            }
        }
        words
    }

    /// The tree of tools, for the guest.
    pub(super) fn tool_names(&self) -> Vec<u8> {
        let lookups = [SEARCH, DESCRIBE].map(|name| (true, name, name));
        let reveal = if self.has_reveal() { Reveal::Present } else { Reveal::Absent };
        tools_message(self.capabilities.paths().chain(lookups), self.capabilities.globals(), reveal)
    }

    /// Whether a program may come by a handle.
    fn has_reveal(&self) -> bool {
        self.capabilities.deliver_handles() || !self.state.handles.is_empty()
    }

    /// Tells one message of `tool_names` from another.
    pub(super) fn tools_digest(&self) -> [u8; 32] {
        let mut digest = self.capabilities.names_digest();
        if let Some(first) = digest.first_mut().filter(|_| self.has_reveal()) {
            *first ^= 1;
        }
        digest
    }
}

/// Whether programs get the global function `reveal`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reveal {
    Absent,
    Present,
}

/// From each tool whether it is hidden, its path in `tools` and its name; then those that are global functions too.
pub(super) fn tools_message<'a>(
    tools: impl IntoIterator<Item = (bool, &'a str, &'a str)>,
    globals: impl IntoIterator<Item = &'a str>,
    reveal: Reveal,
) -> Vec<u8> {
    let kind = |hidden: bool| if hidden { abi::TOOL_HIDDEN } else { abi::TOOL_LISTED };
    let tools = tools.into_iter().map(|(hidden, path, name)| (kind(hidden), path, name));
    let reveal = (reveal == Reveal::Present).then_some((abi::TOOL_REVEAL, abi::REVEAL_FUNCTION, abi::REVEAL_CALL));
    let globals = globals.into_iter().map(|name| (abi::TOOL_GLOBAL, name, name));
    let names: Vec<(u8, &str, &str)> = tools.chain(reveal).chain(globals).collect();
    let mut message = Vec::new();
    message::put_varint(&mut message, names.len());
    for (kind, path, name) in names {
        message.push(kind);
        message::put_text(&mut message, path);
        message::put_text(&mut message, name);
    }
    message
}

/// Appends an answer to a batch.
pub(super) fn put_answer(batch: &mut Vec<u8>, answer: Answer) {
    let (kind, body) = match answer.result {
        Ok(graph) if answer.module => (abi::ANSWER_MODULE, graph),
        Ok(value) => (abi::ANSWER_VALUE, value),
        Err(failed) => (abi::ANSWER_ERROR, error_body(failed)),
    };
    batch.extend_from_slice(&answer.call.to_le_bytes());
    batch.push(kind);
    batch.extend_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes());
    batch.extend_from_slice(&body);
}

fn error_body(failed: AnswerError) -> Vec<u8> {
    let mut body = Vec::new();
    message::put_text(&mut body, &failed.error.name);
    message::put_text(&mut body, &failed.error.message);
    let fields = [
        ("tool", Value::from(failed.tool)),
        ("code", Value::from(snake(&failed.error.name))),
        ("retryable", Value::from(failed.error.retryable)),
    ];
    message::put_fields(&mut body, &fields);
    body
}

/// `ToolTimeout` as `tool_timeout`.
fn snake(name: &str) -> String {
    let mut code = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !code.is_empty() {
            code.push('_');
        }
        code.push(letter.to_ascii_lowercase());
    }
    code
}

#[cfg(test)]
mod tests {
    use super::snake;

    #[test]
    fn names_become_codes() {
        assert_eq!(snake("ToolTimeout"), "tool_timeout");
        assert_eq!(snake("Denied"), "denied");
    }
}
