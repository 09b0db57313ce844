//! What was measured, as Markdown tables for people and as JSON for what compares runs.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use serde_json::{Map, Value, json};

use super::cell::{Cell, Gap};
use super::rows::{MEAN_TARGET, MEMORY, ROWS, Row};
use super::sides::{NATIVE, PYTHON, REPLAYING, RUST, SIDES, Side, Sort};
use super::{Cells, Options, PATIENCE, is_peer};
use crate::report::provenance;
use crate::samples::geometric_mean;

pub(super) struct Table<'a> {
    pub(super) cells: &'a Cells,
    pub(super) machine: &'a Value,
    pub(super) options: &'a Options,
}

impl Table<'_> {
    pub(super) fn markdown(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        let turns = format!("; {} turns", self.options.turns);
        writeln!(text, "{}", provenance(self.machine, &self.options.versions, &turns))?;
        writeln!(text, "\n| work | Chrysalid | quartiles | target | | the same kind | other |")?;
        writeln!(text, "|---|---:|---:|---:|---|---|---|")?;
        ROWS.iter().try_for_each(|row| self.write_row(text, row))?;
        self.write_programs(text)?;
        writeln!(text, "\n{}", self.ahead())
    }

    fn cell(&self, work: &str, side: &'static str) -> Option<&Cell> {
        self.cells.get(&(work.to_owned(), side))
    }

    fn write_row(&self, text: &mut String, row: &Row) -> fmt::Result {
        let Some(ours) = self.cell(row.work, row.side) else { return Ok(()) };
        let Some(summary) = ours.summary() else { return Ok(()) };
        let show = |value| if row.work == MEMORY { kibibytes(value) } else { duration(value) };
        let size = ours.bytes.map(|bytes| format!(", {}", bytes_text(bytes))).unwrap_or_default();
        let (low, high) = (show(summary.first_quartile), show(summary.third_quartile));
        write!(text, "| {} | {}{size} | {low}–{high} ", row.title, show(summary.median))?;
        let (target, verdict) = row.judge(summary.median, ours.bytes, show);
        write!(text, "| {target} | {verdict} ")?;
        for comparable in [true, false] {
            let sides = SIDES.iter().filter(|side| side.sort != Sort::Ours && row.compares_with(side) == comparable);
            write!(text, "| {} ", self.others(row, summary.median, sides, show))?;
        }
        writeln!(text, "|")
    }

    /// Peers with their figures, the fastest first, then who cannot do it.
    fn others(
        &self,
        row: &Row,
        ours: f64,
        sides: impl Iterator<Item = &'static Side>,
        show: impl Fn(f64) -> String,
    ) -> String {
        let mut found: Vec<(f64, String)> = sides
            .filter_map(|side| {
                let cell = self.cell(row.theirs, side.key)?;
                let text = match (cell.median(), &cell.gap) {
                    (Some(median), _) => {
                        let size = cell.bytes.map(|bytes| format!(", {}", bytes_text(bytes))).unwrap_or_default();
                        let zipped = cell
                            .zipped
                            .map(|(bytes, seconds)| format!(" (gzip: {}, +{})", bytes_text(bytes), duration(seconds)));
                        let (name, value) = (side.title, show(median));
                        let ratio = ratio(median / ours);
                        format!("{name} {value}{size}{} ({ratio})", zipped.unwrap_or_default())
                    }
                    (None, Some(Gap::Absent(why))) => format!("{}: {why}", side.title),
                    (None, Some(Gap::Over(seconds))) => format!("{}: over {seconds} s", side.title),
                    (None, Some(Gap::Failed(_))) => format!("{}: failed", side.title),
                    (None, None) => return None,
                };
                Some((cell.median().unwrap_or(f64::INFINITY), text))
            })
            .collect();
        found.sort_by(|one, two| one.0.total_cmp(&two.0));
        found.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("; ")
    }

    fn write_programs(&self, text: &mut String) -> fmt::Result {
        let names = self.programs();
        let sides: Vec<&Side> = SIDES.iter().filter(|side| self.ran_programs(side)).collect();
        write!(text, "\n| CPU work, in ms and as a multiple of native QuickJS-ng ")?;
        sides.iter().try_for_each(|side| write!(text, "| {} ", side.title))?;
        write!(text, "|\n|---")?;
        sides.iter().try_for_each(|_| write!(text, "|---:"))?;
        writeln!(text, "|")?;
        for name in &names {
            write!(text, "| {} ", name.trim_start_matches("program: "))?;
            let native = self.cell(name, NATIVE).and_then(Cell::median);
            for side in &sides {
                let cell = self.cell(name, side.key);
                let shown = match (cell.and_then(Cell::median), native) {
                    (Some(median), Some(_)) if side.key == NATIVE => format!("{:.1}", median * 1e3),
                    (Some(median), Some(native)) => format!("{:.1} ({:.2})", median * 1e3, median / native),
                    _ if cell.is_some_and(|cell| matches!(cell.gap, Some(Gap::Over(_)))) => {
                        format!("over {PATIENCE} s")
                    }
                    _ => "failed".to_owned(),
                };
                write!(text, "| {shown} ")?;
            }
            writeln!(text, "|")?;
        }
        write!(text, "| geometric mean (target {MEAN_TARGET}) ")?;
        for side in &sides {
            let (mean, all) = self.mean(side.key);
            write!(text, "| {mean:.2}{} ", if all { "" } else { " of those that ended" })?;
        }
        writeln!(text, "|")
    }

    fn programs(&self) -> Vec<String> {
        let works = self.cells.keys().filter(|(_, side)| *side == NATIVE);
        works.map(|(work, _)| work.clone()).collect()
    }

    fn ran_programs(&self, side: &Side) -> bool {
        self.programs().iter().any(|name| {
            self.cell(name, side.key)
                .is_some_and(|cell| cell.median().is_some() || matches!(cell.gap, Some(Gap::Over(_))))
        })
    }

    /// Over native, and whether it is that of all programs.
    fn mean(&self, side: &'static str) -> (f64, bool) {
        let names = self.programs();
        let ratios: Vec<f64> = names
            .iter()
            .filter_map(|name| Some(self.cell(name, side)?.median()? / self.cell(name, NATIVE)?.median()?))
            .collect();
        (geometric_mean(ratios.iter().copied()), ratios.len() == names.len())
    }

    /// In which rows somebody comparable is ahead.
    fn ahead(&self) -> String {
        let mut rows = Vec::new();
        // What a peer does once may stand beside several lines of ours.
        let mut works = BTreeSet::new();
        for row in ROWS {
            let Some(ours) = self.cell(row.work, row.side) else { continue };
            let Some(median) = ours.median() else { continue };
            let mut who = Vec::new();
            for side in SIDES.iter().filter(|side| row.compares_with(side)) {
                let Some(theirs) = self.cell(row.theirs, side.key) else { continue };
                if theirs.median().is_some_and(|theirs| theirs < median) {
                    who.push(side.title.to_owned());
                }
                // A record of calls holds no heap: its size is that of another thing.
                let smaller = theirs.bytes.zip(ours.bytes).is_some_and(|(theirs, ours)| theirs < ours);
                if smaller && side.key != REPLAYING {
                    who.push(format!("{} by size", side.title));
                }
            }
            if !who.is_empty() {
                rows.push(format!("{} ({})", row.title, who.join(", ")));
                works.insert(row.theirs);
            }
        }
        let (mean, _) = self.mean(RUST);
        let whole = |side: &&Side| matches!(self.mean(side.key), (theirs, true) if theirs < mean);
        let ahead: Vec<_> = SIDES.iter().filter(|side| side.sort == Sort::SameKind).filter(whole).collect();
        if !ahead.is_empty() {
            let titles: Vec<_> = ahead.iter().map(|side| side.title).collect();
            rows.push(format!("CPU work, geometric mean ({})", titles.join(", ")));
            works.insert("program");
        }
        match rows.len() {
            0 => "No peer of the same kind is ahead in any row.".to_owned(),
            count => format!(
                "Rows in which a peer of the same kind is ahead, {count}, beside {} works of theirs: {}.",
                works.len(),
                rows.join("; ")
            ),
        }
    }

    pub(super) fn json(&self) -> Value {
        let mut works = Map::new();
        for ((work, side), cell) in self.cells {
            let entry = works.entry(work.clone()).or_insert_with(|| json!({}));
            if let Some(sides) = entry.as_object_mut() {
                sides.insert((*side).to_owned(), cell.json());
            }
        }
        let peers = SIDES.iter().filter(|side| is_peer(side));
        let peers: Vec<_> =
            peers.map(|side| json!({ "key": side.key, "same_kind": side.sort == Sort::SameKind })).collect();
        json!({
            "machine": self.machine,
            "versions": self.options.versions,
            "turns": self.options.turns,
            "units": "seconds; bytes for memory",
            "peers": peers,
            "works": works,
            "geometric_mean": self.mean(RUST).0,
        })
    }
}

impl Row {
    /// An interpreter of the same kind; for a host in Python, one that it can use.
    fn compares_with(&self, side: &Side) -> bool {
        side.sort == Sort::SameKind && (self.side != PYTHON || side.is_for_python())
    }

    /// The target, and whether it is met.
    fn judge(&self, median: f64, bytes: Option<u64>, show: impl Fn(f64) -> String) -> (String, &'static str) {
        let Some(target) = self.target else { return (String::new(), "") };
        let size = self.size_target.map(|size| format!(", {}", bytes_text(size))).unwrap_or_default();
        let small = self.size_target.is_none_or(|most| bytes.is_some_and(|bytes| bytes <= most));
        (format!("{}{size}", show(target)), if median <= target && small { "met" } else { "**missed**" })
    }
}

fn ratio(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.1}×") } else { format!("{ratio:.0}×") }
}

/// Three digits, in the unit that fits.
fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        seconds if seconds < 1e-3 => (seconds * 1e6, "µs"),
        seconds if seconds < 1.0 => (seconds * 1e3, "ms"),
        seconds => (seconds, "s"),
    };
    format!("{value:.0$} {unit}", if value < 10.0 { 2 } else { usize::from(value < 100.0) })
}

fn kibibytes(bytes: f64) -> String {
    format!("{:.0} KiB", bytes / 1024.0)
}

#[expect(clippy::cast_precision_loss, reason = "sizes of snapshots")]
fn bytes_text(bytes: u64) -> String {
    match bytes as f64 {
        bytes if bytes < 1024.0 => format!("{bytes} B"),
        bytes if bytes < 1_048_576.0 => format!("{:.1} KiB", bytes / 1024.0),
        bytes => format!("{:.2} MiB", bytes / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::beside::sides::Places;

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        assert_eq!([8.04e-6, 41.26e-6, 0.3e-3].map(duration), ["8.04 µs", "41.3 µs", "300 µs"]);
        assert_eq!([0.0041, 0.13, 34.5].map(duration), ["4.10 ms", "130 ms", "34.5 s"]);
        assert_eq!([512, 3277, 1_442_840].map(bytes_text), ["512 B", "3.2 KiB", "1.38 MiB"]);
        assert_eq!([0.5, 12.3].map(ratio), ["0.5×", "12×"]);
    }

    #[test]
    fn a_target_of_two_parts_is_met_in_both() {
        let row = ROWS.iter().find(|row| row.work == "save_small").unwrap();
        assert_eq!(row.judge(1e-4, Some(4096), duration), ("200 µs, 4.0 KiB".to_owned(), "met"));
        assert_eq!(row.judge(1e-4, Some(4097), duration).1, "**missed**");
        assert_eq!(row.judge(3e-4, Some(4096), duration).1, "**missed**");
    }

    #[test]
    fn a_peer_with_the_better_mean_is_ahead_in_a_row() {
        let (path, nothing) = (PathBuf::new, Value::Null);
        let options = Options {
            native: path(),
            places: Places { command_line: path(), python: path(), node: path(), scripts: path() },
            json: path(),
            page: None,
            turns: 1,
            only: Vec::new(),
            versions: Map::new(),
        };
        let peer = SIDES.iter().find(|side| side.sort == Sort::SameKind).unwrap();
        let ahead = |ours: f64, theirs: f64| {
            let mut cells = Cells::new();
            for (side, value) in [(NATIVE, 1.0), (RUST, ours), (peer.key, theirs)] {
                let mut cell = Cell::default();
                cell.samples.add_value(value);
                cells.insert(("program: fib".to_owned(), side), cell);
            }
            Table { cells: &cells, machine: &nothing, options: &options }.ahead()
        };
        assert_eq!(ahead(1.2, 1.2), "No peer of the same kind is ahead in any row.");
        let said = format!(
            "Rows in which a peer of the same kind is ahead, 1, beside 1 works of theirs: CPU work, geometric mean ({}).",
            peer.title
        );
        assert_eq!(ahead(1.2, 1.1), said);
    }
}
