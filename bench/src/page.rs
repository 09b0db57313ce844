//! Pages of docs/ of which a part is written by the benchmark, between two marks:
//!
//! ```text
//! <!-- measured: NAME -->
//! …
//! <!-- end: NAME -->
//! ```

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

/// Replaces the part of that name.
pub(crate) fn replace(path: &Path, name: &str, text: &str) -> Result<()> {
    let page = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let page = replaced(&page, name, text).with_context(|| format!("{} has no marks for {name}", path.display()))?;
    fs::write(path, page).with_context(|| format!("cannot write {}", path.display()))
}

fn replaced(page: &str, name: &str, text: &str) -> Option<String> {
    let begin = format!("<!-- measured: {name} -->\n");
    let end = format!("<!-- end: {name} -->\n");
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{}\n\n{end}{after}", text.trim()))
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn only_what_is_between_the_marks_changes() {
        let page = "a\n<!-- measured: x -->\nold\n<!-- end: x -->\nb\n";
        let expected = "a\n<!-- measured: x -->\n\nnew\n\n<!-- end: x -->\nb\n";
        assert_eq!(replaced(page, "x", "new\n").as_deref(), Some(expected));
        assert_eq!(replaced(expected, "x", "new").as_deref(), Some(expected));
        assert_eq!(replaced(page, "y", "new"), None);
    }
}
