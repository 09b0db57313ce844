//! What is known of one side's way with one work.

use serde_json::{Value, json};

use crate::samples::{Samples, Summary};

#[derive(Default)]
pub(crate) struct Cell {
    pub(crate) samples: Samples,
    /// How often in one turn; found out while warming up.
    pub(crate) repeat: u32,
    /// All that was spent, in seconds.
    pub(crate) spent: f64,
    pub(crate) bytes: Option<u64>,
    /// Bytes with gzip, and how long that takes.
    pub(crate) zipped: Option<(u64, f64)>,
    /// Why there is nothing, or nothing more.
    pub(crate) gap: Option<Gap>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Gap {
    /// The side cannot do this.
    Absent(String),
    Failed(String),
    /// It was stopped after so many seconds.
    Over(u64),
}

impl Cell {
    pub(crate) fn summary(&self) -> Option<Summary> {
        let summary = self.samples.summary();
        (summary.count > 0).then_some(summary)
    }

    pub(crate) fn median(&self) -> Option<f64> {
        self.summary().map(|summary| summary.median)
    }

    pub(crate) fn json(&self) -> Value {
        let (kind, why) = match &self.gap {
            None => ("measured", String::new()),
            Some(Gap::Absent(why)) => ("absent", why.clone()),
            Some(Gap::Failed(why)) => ("failed", why.clone()),
            Some(Gap::Over(seconds)) => ("over", seconds.to_string()),
        };
        json!({
            "state": kind,
            "why": why,
            "value": self.summary().map(|summary| summary.json_of_values()),
            "bytes": self.bytes,
            "zipped_bytes": self.zipped.map(|zipped| zipped.0),
            "zip_seconds": self.zipped.map(|zipped| zipped.1),
        })
    }
}
