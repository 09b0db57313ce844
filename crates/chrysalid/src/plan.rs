//! Which capabilities a program can reach, told from its text before any of it runs.
//!
//! A [`Plan`] is for whoever approves a program as a whole, and for the check of each call against what was approved.
//! What cannot be told from the text is listed, never left out: see [`Plan::unknown`]. How the text is read is in
//! `program/plan.rs`.

use std::fmt;

use serde::Serialize;

use crate::capability::Capabilities;
use crate::error::{Error, ErrorKind, Result};
use crate::program;
use crate::value::printable;

/// Bytes of source that are looked at.
const MAX_SOURCE: usize = 256 << 10;

/// The capabilities that the text of a program can reach.
///
/// ```
/// use chrysalid::{Capabilities, Capability, Plan};
///
/// # fn main() -> chrysalid::Result<()> {
/// let tools = Capabilities::new(["pay", "mail.send", "mail.read"].map(Capability::external))?;
/// let plan = Plan::of("const { send } = tools.mail;\nawait tools.pay({ amount: 5 });", &tools)?;
/// assert!(plan.is_complete() && plan.reaches("pay") && !plan.reaches("mail.read"));
/// assert_eq!(plan.to_string(), "mail.send: mentioned, line 1\npay: called, line 2");
/// # Ok(())
/// # }
/// ```
///
/// A plan is about the text alone. It does not see what the text of a module does ([`Plan::modules`]), nor what earlier
/// programs of the session left under a name ([`Plan::names`]). And a program can look for a property by a name that it
/// computes, as `[]["const" + "ructor"]`: on objects other than `tools` and the global one, that has no entry.
/// A host that holds a program to its plan therefore checks each call as well.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Plan {
    /// The capabilities that were seen, sorted by name. They stay what was seen where something is unknown, too.
    pub tools: Vec<PlanTool>,
    /// Where it cannot be told which capability is meant, in the order of the text; at most 32.
    pub unknown: Vec<PlanUnknown>,
    /// How many more such places there are.
    pub more_unknown: usize,
    /// Names under `tools` that are called and that no capability has; at most 32.
    pub missing: Vec<PlanName>,
    /// How many more such places there are.
    pub more_missing: usize,
    /// The modules that the program imports by name, without repeats; at most 32, names cut to 200 characters. Their text
    /// was not looked at: it can reach every capability.
    pub modules: Vec<String>,
    /// How many more modules there are.
    pub more_modules: usize,
    /// Names that the program reads, that it does not declare and the language does not have; at most 32, each where it
    /// is first seen. An earlier program of the session can have put anything there, a capability too.
    pub names: Vec<PlanName>,
    /// How many more such names there are.
    pub more_names: usize,
    /// Why nothing of the program would run: it does not parse. The plan is empty then.
    pub refused: Option<PlanRefusal>,
}

/// A capability that a program's text can reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PlanTool {
    /// Its name.
    pub name: String,
    /// How the program writes it, such as `tools.getUser`, without what stands between; where it is written in several
    /// ways, the first.
    pub path: String,
    /// What is done with it.
    pub usage: PlanUsage,
    /// Where it is named, in order; at most 16.
    pub places: Vec<PlanPlace>,
    /// In how many more places it is named.
    pub more_places: usize,
}

/// What a program does with a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlanUsage {
    /// It is called by its name, in one place at least.
    Called,
    /// It is only passed on, stored, compared or destructured, or its namespace is.
    Mentioned,
}

/// A place at which it cannot be told which capability is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PlanUnknown {
    /// Why, in lower case and without a full stop.
    pub reason: &'static str,
    /// Where.
    pub place: PlanPlace,
}

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PlanName {
    /// As the program writes it, a tool as it stands under `tools`; cut to 200 characters.
    pub name: String,
    /// Where.
    pub place: PlanPlace,
}

/// Why a program does not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PlanRefusal {
    /// In lower case and without a full stop.
    pub reason: String,
    /// Where, as far as that is known.
    pub place: Option<PlanPlace>,
}

/// A place in the source as it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub struct PlanPlace {
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in code points.
    pub column: u32,
}

impl Plan {
    /// The plan of a program.
    ///
    /// A program that does not parse is no error, as in [`Session::start`](crate::Session::start): nothing of it runs, so
    /// it reaches nothing, and [`Plan::refused`] says why.
    ///
    /// # Errors
    /// [`ErrorKind::SourceTooLarge`] over 256 KiB, whatever the limits of a session are.
    pub fn of(source: &str, capabilities: &Capabilities) -> Result<Self> {
        if source.len() > MAX_SOURCE {
            return Err(Error::new(
                ErrorKind::SourceTooLarge,
                format!("source of {} bytes is more than {MAX_SOURCE}", source.len()),
            ));
        }
        Ok(program::plan(source, capabilities))
    }

    /// Whether nothing is unknown: the program's text reaches no other capability than those of [`Plan::tools`].
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.unknown.is_empty()
    }

    /// Whether the program's text may reach the capability with this name: it is listed, or something is unknown.
    #[must_use]
    pub fn reaches(&self, name: &str) -> bool {
        !self.is_complete() || self.tool(name).is_some()
    }

    /// What was seen of the capability with this name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&PlanTool> {
        let at = self.tools.binary_search_by(|tool| tool.name.as_str().cmp(name)).ok()?;
        self.tools.get(at)
    }

    fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.tools.iter().map(PlanTool::line).collect();
        lines.extend(self.unknown.iter().map(|it| format!("unknown: {}, line {}", it.reason, it.place.line)));
        lines.extend(more("unknown", self.more_unknown));
        lines.extend(self.missing.iter().map(|it| format!("missing: {}, line {}", it.name, it.place.line)));
        lines.extend(more("missing", self.more_missing));
        lines.extend(self.modules.iter().map(|name| format!("module, not looked at: {name}")));
        lines.extend(more("module, not looked at", self.more_modules));
        lines.extend(self.names.iter().map(|it| format!("declared elsewhere: {}, line {}", it.name, it.place.line)));
        lines.extend(more("declared elsewhere", self.more_names));
        if let Some(refused) = &self.refused {
            let place = refused.place.map(|place| format!(", line {}", place.line)).unwrap_or_default();
            lines.push(format!("does not run: {}{place}", refused.reason));
        }
        if lines.is_empty() {
            lines.push("no tools".to_owned());
        }
        lines
    }
}

/// One line for each tool, then one for each place that is unknown, each name that is missing, each module, and each name
/// that is declared elsewhere.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.lines().join("\n")))
    }
}

impl PlanTool {
    fn line(&self) -> String {
        let usage = match self.usage {
            PlanUsage::Called => "called",
            PlanUsage::Mentioned => "mentioned",
        };
        let mut numbers: Vec<u32> = self.places.iter().map(|place| place.line).collect();
        numbers.dedup();
        let heading = if numbers.len() == 1 { "line" } else { "lines" };
        let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        let more = if self.more_places == 0 { String::new() } else { format!(" and {} more places", self.more_places) };
        let path =
            if self.path == format!("tools.{}", self.name) { String::new() } else { format!(" as {}", self.path) };
        format!("{}{path}: {usage}, {heading} {}{more}", self.name, numbers.join(", "))
    }
}

fn more(what: &str, count: usize) -> Option<String> {
    (count > 0).then(|| format!("{what}: {count} more"))
}
