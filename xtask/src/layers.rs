//! `cargo xtask layers`: a crate is a fence, and this is where the fences stand (DESIGN.md, section 3).

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// Each crate of the workspace, and those of ours that it may depend on, in whatever kind of dependency.
const ARROWS: &[(&str, &[&str])] = &[
    ("chrysalid-cli", &["chrysalid", "chrysalid-harness", "chrysalid-store"]),
    ("chrysalid-python", &["chrysalid", "chrysalid-store"]),
    ("chrysalid-harness", &["chrysalid", "chrysalid-store"]),
    ("chrysalid-store", &[]),
    ("chrysalid", &["chrysalid-policy"]),
    ("chrysalid-policy", &[]),
    ("chrysalid-bench", &["chrysalid"]),
    ("xtask", &[]),
];

const PURE: &str = "chrysalid-policy";

/// Policy decides from its arguments alone. No engine, runtime, clock, randomness, network or database, not even
/// through another crate; a name stands for its family too (`tokio` for `tokio-util`).
const IMPURE: &[&str] = &[
    "async-io",
    "async-std",
    "chrono",
    "curl",
    "getrandom",
    "h2",
    "hickory",
    "hyper",
    "jiff",
    "mio",
    "native-tls",
    "openssl",
    "polling",
    "quanta",
    "quinn",
    "rand",
    "reqwest",
    "rusqlite",
    "rustix",
    "rustls",
    "smol",
    "socket2",
    "sqlx",
    "time",
    "tokio",
    "ureq",
    "wasmtime",
];

pub(crate) fn check() -> Result<ExitCode> {
    let mut wrong = wrong_edges(&crate::metadata()?);
    wrong.extend(impure(&dependencies(PURE)?));
    for edge in &wrong {
        eprintln!("wrong edge: {edge}");
    }
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn wrong_edges(metadata: &Value) -> Vec<String> {
    let names: Vec<&str> = crate::list(metadata, "packages").map(|package| crate::text(package, "name")).collect();
    let mut wrong = Vec::new();
    for package in crate::list(metadata, "packages") {
        let from = crate::text(package, "name");
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == from) else {
            wrong.push(format!("{from} has no place in the table of xtask/src/layers.rs"));
            continue;
        };
        let to = crate::list(package, "dependencies").map(|dependency| crate::text(dependency, "name"));
        let ours = to.filter(|to| names.contains(to) && !allowed.contains(to));
        wrong.extend(ours.map(|to| format!("{from} -> {to}")));
    }
    wrong
}

fn impure(dependencies: &[String]) -> Vec<String> {
    let family = |name: &str, family: &str| {
        name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
    };
    let forbidden = |name: &&String| IMPURE.iter().any(|one| family(name, one));
    dependencies.iter().filter(forbidden).map(|name| format!("{PURE} -> {name}")).collect()
}

/// All that ends up in `package`, through other crates too; what only its tests use does not count.
fn dependencies(package: &str) -> Result<Vec<String>> {
    let tree = ["tree", "--package", package, "--edges", "normal,build", "--all-features", "--target", "all"];
    let mut command = crate::cargo(&tree);
    command.args(["--prefix", "none", "--no-dedupe", "--format", "{p}"]);
    let output = command.output().context("cannot run cargo")?;
    if !output.status.success() {
        bail!("cargo tree failed: {}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut names: Vec<String> =
        lines.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn metadata(edges: &[(&str, &[&str])]) -> Value {
        let package = |(name, to): &(&str, &[&str])| {
            let dependencies: Vec<Value> = to.iter().map(|to| json!({"name": to})).collect();
            json!({"name": name, "dependencies": dependencies})
        };
        json!({"packages": edges.iter().map(package).collect::<Vec<_>>()})
    }

    #[test]
    fn the_table_admits_itself() {
        assert_eq!(wrong_edges(&metadata(ARROWS)), Vec::<String>::new());
    }

    #[test]
    fn an_arrow_against_the_table_is_named() {
        let edges: &[(&str, &[&str])] =
            &[("chrysalid", &["serde", "chrysalid-store"]), ("chrysalid-store", &["sqlx"]), ("new", &[])];
        assert_eq!(
            wrong_edges(&metadata(edges)),
            ["chrysalid -> chrysalid-store", "new has no place in the table of xtask/src/layers.rs"]
        );
    }

    #[test]
    fn policy_reaches_no_family_of_clock_or_network() {
        let names = ["serde", "timeout", "tokio-util", "wasmtime"].map(str::to_owned);
        assert_eq!(impure(&names), ["chrysalid-policy -> tokio-util", "chrysalid-policy -> wasmtime"]);
    }
}
