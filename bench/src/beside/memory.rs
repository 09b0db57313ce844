//! Resident memory of a process and of those that it started: each page by its share, so that what many have in common
//! counts once.

use std::fs;

use anyhow::{Context as _, Result};

/// Bytes.
pub(crate) fn resident(process: u32) -> Result<u64> {
    let mut total = own(process)?;
    for child in children(process) {
        // One that has just ended takes nothing.
        total += resident(child).unwrap_or_default();
    }
    Ok(total)
}

fn own(process: u32) -> Result<u64> {
    let path = format!("/proc/{process}/smaps_rollup");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    proportional(&text).with_context(|| format!("{path} has no Pss"))
}

fn proportional(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Of all its threads.
fn children(process: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_read_and_not_its_parts() {
        let text = "Rss:              2000 kB\nPss:               512 kB\nPss_Dirty:         100 kB\n";
        assert_eq!(proportional(text), Some(512 * 1024));
        assert_eq!(proportional("Rss: 1 kB\n"), None);
    }
}
