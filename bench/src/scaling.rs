//! How costs grow, for `cargo xtask bench --scaling`: with sessions that live side by side, with threads, with the heap, and
//! with programs that a session has run.
//!
//! ```text
//! scaling.rs            the run, its JSON and its page
//! scaling/sandboxes.rs  sandboxes and programs a second beside many live sessions
//! scaling/heap.rs       pause and resume of a growing heap
//! scaling/programs.rs   a session that has run many programs
//! ```

mod heap;
mod programs;
mod sandboxes;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};

use crate::page;
use crate::plot::Chart;

pub(crate) const USAGE: &str =
    "usage: chrysalid-bench scaling --json FILE [--page FILE] [--quick] [--version NAME=VERSION]...";

struct Options {
    json: PathBuf,
    /// Gets the tables, between its marks; charts go into the folder of its name beside it.
    page: Option<PathBuf>,
    quick: bool,
    versions: Map<String, Value>,
}

/// One thing that grows.
struct Study {
    /// Name of its part of the page, and of its charts.
    name: &'static str,
    markdown: String,
    json: Value,
    charts: Vec<(&'static str, Chart)>,
}

pub(crate) fn run(words: impl Iterator<Item = String>) -> Result<ExitCode> {
    let options = Options::parse(words)?;
    let machine = crate::report::machine();
    let studies = [sandboxes::study(options.quick)?, heap::study(options.quick)?, programs::study(options.quick)?];
    for study in &studies {
        println!("{}", study.markdown);
        if let Some(path) = &options.page {
            record(study, path)?;
        }
    }
    let all: Map<_, _> = studies.iter().map(|study| (study.name.to_owned(), study.json.clone())).collect();
    let all = json!({ "machine": machine, "versions": options.versions, "quick": options.quick, "studies": all });
    let text = serde_json::to_string_pretty(&all)? + "\n";
    write(&options.json, &text)?;
    if let Some(path) = &options.page {
        write(&path.with_extension("").join("scaling.json"), &text)?;
        page::replace(path, "scaling", &crate::report::provenance(&machine, &options.versions, ""))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn record(study: &Study, page: &Path) -> Result<()> {
    let folder = page.with_extension("");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let stem = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut text = String::new();
    for (name, chart) in &study.charts {
        write(&folder.join(format!("{name}.svg")), &chart.svg())?;
        writeln!(text, "![{}]({stem}/{name}.svg)\n", chart.title)?;
    }
    text += &study.markdown;
    page::replace(page, study.name, &text)
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

impl Options {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let (mut json, mut page, mut quick, mut versions) = (None, None, false, Map::new());
        while let Some(word) = words.next() {
            if word == "--quick" {
                quick = true;
                continue;
            }
            let value = words.next().with_context(|| format!("{word} needs a value\n{USAGE}"))?;
            match word.as_str() {
                "--json" => json = Some(PathBuf::from(value)),
                "--page" => page = Some(PathBuf::from(value)),
                "--version" => {
                    let (name, version) = value.split_once('=').context(USAGE)?;
                    versions.insert(name.to_owned(), Value::from(version));
                }
                _ => bail!("unknown option {word}\n{USAGE}"),
            }
        }
        Ok(Self { json: json.context(USAGE)?, page, quick, versions })
    }
}
