//! Bytes as a row of choices: what a structured input is made from. When they are used up, each choice is the first.

use serde_json::{Map, Value as Json};

pub(super) struct Choices<'b> {
    rest: &'b [u8],
}

impl<'b> Choices<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        *first
    }

    pub(super) fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// Less than `count`.
    pub(super) fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count.max(1)
    }

    pub(super) fn one_of<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        let index = self.below(items.len());
        items.get(index).copied()
    }

    pub(super) fn number(&mut self) -> u32 {
        u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    pub(super) fn bytes(&mut self, count: usize) -> &'b [u8] {
        let (taken, rest) = self.rest.split_at(count.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    /// Up to a zero byte, or all; what is not UTF-8 is replaced.
    pub(super) fn text(&mut self) -> String {
        let end = self.rest.iter().position(|byte| *byte == 0).unwrap_or(self.rest.len());
        let text = String::from_utf8_lossy(self.bytes(end)).into_owned();
        self.bytes(1);
        text
    }

    pub(super) fn option<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flag().then(|| make(self))
    }

    /// At most seven.
    pub(super) fn list<T>(&mut self, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = self.below(8);
        (0..count).map(|_| make(self)).collect()
    }

    /// JSON whose keys are from a list, as far as they are not the bytes' own.
    pub(super) fn json(&mut self, keys: &[&str], words: &[&str], depth: u32) -> Json {
        let kinds = if depth == 0 || self.is_empty() { 6 } else { 12 };
        match self.below(kinds) {
            0 => Json::Null,
            1 => Json::Bool(self.flag()),
            2 => Json::from(self.byte()),
            3 => Json::from(f64::from(self.number()) / 1000.0 - 1e6),
            4 => Json::from(self.text()),
            5 => Json::from(self.one_of(words).unwrap_or_default()),
            6 | 7 => Json::Array(self.list(|choices| choices.json(keys, words, depth - 1))),
            _ => {
                let fields = self.list(|choices| {
                    let key = match choices.below(4) {
                        0 => choices.text(),
                        _ => choices.one_of(keys).unwrap_or_default().to_owned(),
                    };
                    (key, choices.json(keys, words, depth - 1))
                });
                Json::Object(fields.into_iter().collect::<Map<_, _>>())
            }
        }
    }
}
