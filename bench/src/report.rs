//! What was measured, as a Markdown table for people and as JSON for what compares runs.

use std::fmt::{self, Write as _};
use std::fs;
use std::time::SystemTime;

use serde_json::{Map, Value, json};

use crate::Options;
use crate::micro::{Micro, Size};
use crate::samples::{Summary, geometric_mean};
use crate::work::{MOST, Rule, Work};

/// The geometric mean over all programs that the design aims at.
const MEAN_TARGET: f64 = 1.3;

pub(crate) struct Report {
    pub(crate) machine: Value,
    pub(crate) work: Vec<Work>,
    pub(crate) micros: Vec<Micro>,
    pub(crate) sizes: Vec<Size>,
}

impl Report {
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        writeln!(
            text,
            "| work in the guest | native ms | Chrysalid ms | ratio of medians | ratio by turn (quartiles) | at most |"
        )?;
        writeln!(text, "|---|---:|---:|---:|---:|---|")?;
        for work in &self.work {
            let (native, guest) = (work.native.summary(), work.guest.summary());
            let (name, ratio, turns) = (work.name, work.ratio(), work.ratios_by_turn());
            write!(text, "| {name} | {} | {} | {ratio:.2} ", millis(native.median), millis(guest.median))?;
            write!(text, "| {:.2} ({:.2}–{:.2}) ", turns.median, turns.first_quartile, turns.third_quartile)?;
            writeln!(text, "| {} |", verdict(work))?;
        }
        writeln!(text, "| geometric mean of the musts | | | {:.2} | | |", self.mean(Some(Rule::Must)))?;
        writeln!(text, "| geometric mean of all | | | {:.2} | | target {MEAN_TARGET} |", self.mean(None))?;
        self.write_micros(text)
    }

    fn write_micros(&self, text: &mut String) -> fmt::Result {
        writeln!(text, "\n| around the guest | median µs | quartiles | target | |")?;
        writeln!(text, "|---|---:|---:|---:|---|")?;
        for micro in &self.micros {
            let Summary { median, first_quartile, third_quartile, .. } = micro.samples.summary();
            let target = micro.target.as_secs_f64();
            write!(text, "| {} | {} ", micro.name, micros(median))?;
            write!(text, "| {}–{} ", micros(first_quartile), micros(third_quartile))?;
            writeln!(text, "| {} | {} |", micros(target), met(median <= target))?;
        }
        writeln!(text, "\n| size | bytes | target | |")?;
        writeln!(text, "|---|---:|---:|---|")?;
        for Size { name, target, bytes } in &self.sizes {
            writeln!(text, "| {name} | {bytes} | {target} | {} |", met(bytes <= target))?;
        }
        Ok(())
    }

    fn mean(&self, rule: Option<Rule>) -> f64 {
        let counted = self.work.iter().filter(|work| rule.is_none_or(|rule| work.rule == rule));
        geometric_mean(counted.map(Work::ratio))
    }

    pub(crate) fn json(&self, options: &Options) -> Value {
        let versions: Map<String, Value> =
            options.versions.iter().map(|(name, version)| (name.clone(), Value::from(version.as_str()))).collect();
        json!({
            "quick": options.quick,
            "machine": self.machine,
            "versions": versions,
            "must_ratio": MOST,
            "work": self.work.iter().map(work_json).collect::<Vec<_>>(),
            "geometric_mean_of_musts": self.mean(Some(Rule::Must)),
            "geometric_mean": self.mean(None),
            "micro": self.micros.iter().map(micro_json).collect::<Vec<_>>(),
            "sizes": self.sizes.iter().map(size_json).collect::<Vec<_>>(),
        })
    }
}

fn verdict(work: &Work) -> String {
    match work.rule {
        Rule::Told => String::new(),
        Rule::Must if work.breaks_the_rule() => format!("**{MOST:.1}, broken**"),
        Rule::Must => format!("{MOST:.1}, kept"),
    }
}

fn met(met: bool) -> &'static str {
    if met { "met" } else { "missed" }
}

fn millis(seconds: f64) -> String {
    format!("{:.1}", seconds * 1e3)
}

fn micros(seconds: f64) -> String {
    format!("{:.1}", seconds * 1e6)
}

fn work_json(work: &Work) -> Value {
    json!({
        "name": work.name,
        "must": work.rule == Rule::Must,
        "native": work.native.summary().json(),
        "guest": work.guest.summary().json(),
        "ratio": work.ratio(),
        "ratio_by_turn": ratio_json(&work.ratios_by_turn()),
        "kept": !work.breaks_the_rule(),
    })
}

fn ratio_json(ratios: &Summary) -> Value {
    json!({
        "first_quartile": ratios.first_quartile,
        "median": ratios.median,
        "third_quartile": ratios.third_quartile,
    })
}

fn micro_json(micro: &Micro) -> Value {
    json!({
        "name": micro.name,
        "target_seconds": micro.target.as_secs_f64(),
        "time": micro.samples.summary().json(),
    })
}

fn size_json(size: &Size) -> Value {
    json!({ "name": size.name, "target_bytes": size.target, "bytes": size.bytes })
}

/// What ran here, and how busy it was: a ratio of one run is worth more than a time.
pub(crate) fn machine() -> Value {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let cpu_info = read("/proc/cpuinfo");
    let model = cpu_info.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.map(|rest| rest.trim_start_matches([' ', '\t', ':']));
    json!({
        "date": today(),
        "architecture": std::env::consts::ARCH,
        "system": std::env::consts::OS,
        "kernel": read("/proc/sys/kernel/osrelease").trim(),
        "processor": model,
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "load_of_the_last_minute": read("/proc/loadavg").split(' ').next(),
    })
}

/// When, where, and of what: a sentence for pages.
pub(crate) fn provenance(machine: &Value, versions: &Map<String, Value>, more: &str) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let machine = |key: &str| machine.get(key).map(plain).unwrap_or_default();
    let versions: Vec<_> = versions.iter().map(|(name, version)| format!("{name} {}", plain(version))).collect();
    format!(
        "Measured on {}: {}, {} cores, {} {}, load {} at the start{more}. Versions: {}.",
        machine("date"),
        machine("processor"),
        machine("cores"),
        machine("system"),
        machine("kernel"),
        machine("load_of_the_last_minute"),
        versions.join(", ")
    )
}

/// In UTC, as `2026-01-31`.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    date_of(seconds / 86_400)
}

/// Counts years from March, so that the leap day is a year's last.
fn date_of(days_since_1970: u64) -> String {
    let days = days_since_1970 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::date_of;

    #[test]
    fn days_have_dates() {
        assert_eq!(date_of(0), "1970-01-01");
        assert_eq!(date_of(19_782), "2024-02-29");
        assert_eq!(date_of(20_819), "2027-01-01");
    }
}
