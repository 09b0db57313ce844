//! Who takes part: Chrysalid from Rust, its command line, its Python package, and peers.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// What a side is, for whoever reads a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Ours,
    /// A QuickJS or Python interpreter in a sandbox: the same kind as Chrysalid.
    SameKind,
    /// QuickJS without a sandbox, or V8 with its compilers.
    Other,
    /// The interpreter that others start in, with nothing done.
    Floor,
}

/// What its process is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    Bench,
    CommandLine,
    Runner,
    Python,
    Node,
}

pub(crate) struct Side {
    /// Stem of its scripts, and its name in JSON.
    pub(crate) key: &'static str,
    pub(crate) title: &'static str,
    pub(crate) sort: Sort,
    host: Host,
    /// Whether it is a process that does work when it is asked; else it only starts, or runs programs.
    pub(crate) serves: bool,
}

const fn side(key: &'static str, title: &'static str, sort: Sort, host: Host, serves: bool) -> Side {
    Side { key, title, sort, host, serves }
}

pub(crate) const RUST: &str = "rust";
pub(crate) const COMMAND_LINE: &str = "cli";
pub(crate) const PYTHON: &str = "chrysalid";
/// It keeps a record of calls, and runs the program again from its start.
pub(crate) const REPLAYING: &str = "run";
/// QuickJS-ng of the guest's own source, which takes part in programs alone.
pub(crate) const NATIVE: &str = "native";

/// In the order in which they take turns.
pub(crate) const SIDES: &[Side] = &[
    side(RUST, "Chrysalid, Rust", Sort::Ours, Host::Bench, true),
    side(COMMAND_LINE, "Chrysalid, command line", Sort::Ours, Host::CommandLine, false),
    side(PYTHON, "Chrysalid, Python", Sort::Ours, Host::Python, true),
    side("monty", "monty", Sort::SameKind, Host::Python, true),
    side("quickjs_rs", "quickjs-rs", Sort::SameKind, Host::Python, true),
    side("quickjs_wasi", "quickjs-wasi", Sort::SameKind, Host::Node, true),
    side("quickjs_emscripten", "quickjs-emscripten", Sort::SameKind, Host::Node, true),
    side(REPLAYING, "run", Sort::SameKind, Host::Node, true),
    side("quickjs", "native QuickJS in Python", Sort::Other, Host::Python, true),
    side("isolated_vm", "isolated-vm", Sort::Other, Host::Node, true),
    side(NATIVE, "native QuickJS-ng in C", Sort::Other, Host::Runner, false),
    side("python", "Python alone", Sort::Floor, Host::Python, false),
    side("node", "Node alone", Sort::Floor, Host::Node, false),
];

/// Where the programs are that sides run in.
pub(crate) struct Places {
    pub(crate) command_line: PathBuf,
    pub(crate) python: PathBuf,
    pub(crate) node: PathBuf,
    /// Holds `work` and `cold`, and for Node `node_modules` beside them.
    pub(crate) scripts: PathBuf,
}

impl Side {
    /// The process that does work.
    pub(crate) fn command(&self, places: &Places) -> Result<Command> {
        match self.host {
            Host::Bench => Self::this_program("side"),
            Host::Python | Host::Node => Ok(self.script(places, "work")),
            Host::CommandLine | Host::Runner => bail!("{} does no work", self.title),
        }
    }

    /// The process that prints what `1+1` is and ends; none where starting it says nothing.
    pub(crate) fn cold_command(&self, places: &Places) -> Result<Option<Command>> {
        Ok(Some(match self.host {
            Host::Bench => Self::this_program("cold")?,
            Host::CommandLine => {
                let mut command = Command::new(&places.command_line);
                command.arg("run").arg(places.scripts.join("cold").join("program.js"));
                command
            }
            Host::Python | Host::Node => self.script(places, "cold"),
            Host::Runner => return Ok(None),
        }))
    }

    /// Whether a host in Python can use it as well.
    pub(crate) fn is_for_python(&self) -> bool {
        self.host == Host::Python
    }

    fn this_program(word: &str) -> Result<Command> {
        let mut command = Command::new(std::env::current_exe().context("this program has no path")?);
        command.arg(word);
        Ok(command)
    }

    fn script(&self, places: &Places, folder: &str) -> Command {
        let file = |end: &str| places.scripts.join(folder).join(format!("on_{}.{end}", self.key));
        let interpreter = |program: &Path, arguments: &[&str], script: PathBuf| {
            let mut command = Command::new(program);
            command.args(arguments).arg(script).env("NODE_NO_WARNINGS", "1");
            command
        };
        match self.host {
            Host::Python => interpreter(&places.python, &[], file("py")),
            // What isolated-vm asks for; the others start alike.
            _ => interpreter(&places.node, &["--no-node-snapshot"], file("mjs")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_apart() {
        let mut keys: Vec<_> = SIDES.iter().map(|side| side.key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), SIDES.len());
    }
}
