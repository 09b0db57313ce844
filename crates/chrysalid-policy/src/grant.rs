//! Grants: approvals in advance, for calls that surely are what was granted.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toml::de::{DeTable, DeValue};

use crate::decide::Request;
use crate::document::{Node, Result, RulesError, Source, Table};
use crate::duration;
use crate::pattern::Pattern;
use crate::quote::quoted;
use crate::rules::tools;
use crate::test::When;

/// The longest text of a grant, in bytes.
const MAX_TEXT: usize = 64 * 1024;

/// How far a grant reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GrantScope {
    /// The program it was given to.
    #[default]
    Program,
    /// All programs of the session.
    Session,
}

impl GrantScope {
    const NAMES: [(&'static str, Self); 2] = [("program", Self::Program), ("session", Self::Session)];

    /// Its name: `program` or `session`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Session => "session",
        }
    }
}

/// An approval in advance: of which calls, how many, and for how long.
///
/// Shown, and serialised, as text that [`Grant::parse`] reads. Who counts its uses and keeps its time is the engine.
///
/// ```
/// use chrysalid_policy::Grant;
///
/// let grant = Grant::parse(r#"tools = "pay", when = { amount = { at_most = 10 } }, count = 3, lasts = "1h""#)?;
/// assert_eq!(
///     grant.to_string(),
///     r#"tools = ["pay"], when = { amount = { at_most = 10 } }, count = 3, lasts = "1h", scope = "program""#
/// );
/// assert_eq!(grant, Grant::new("pay", 3)?.when("amount", "{ at_most = 10 }")?.lasting(std::time::Duration::from_secs(3600)));
/// # Ok::<(), chrysalid_policy::RulesError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Grant {
    tools: Vec<Pattern>,
    when: When,
    count: u32,
    lasts: Option<Duration>,
    scope: GrantScope,
}

impl Grant {
    /// Reads a grant: the keys `tools` (a pattern or a list), `when` (left out: any argument), `count` (calls, from 1),
    /// `lasts` (such as `"1h"`; left out: for ever) and `scope` (`"program"`, or `"session"`), on lines of their own, or
    /// with commas, or as an inline table.
    pub fn parse(text: &str) -> Result<Self> {
        if text.len() > MAX_TEXT {
            let message = format!("a grant has at most {MAX_TEXT} bytes, not {}", text.len());
            return Err(Source { text, shift: 0 }.error(&(0..0), message));
        }
        Self::read(text)
    }

    /// A grant of `count` calls, at least one, of the tools that fit a pattern, with any argument.
    pub fn new(tools: &str, count: u32) -> Result<Self> {
        let source = Source { text: tools, shift: 0 };
        let pattern = Pattern::parse(tools).map_err(|message| source.error(&(0..0), message))?;
        Ok(Self {
            tools: vec![pattern],
            when: When::default(),
            count: count.max(1),
            lasts: None,
            scope: GrantScope::Program,
        })
    }

    /// The same for arguments only where the value at `path` passes `test`: a value, or a table of tests, as in a rule.
    pub fn when(mut self, path: &str, test: &str) -> Result<Self> {
        let source = Source { text: test, shift: 0 };
        let value = DeValue::parse(test).map_err(|error| source.toml_error(&error))?;
        self.when.add(path, Node { source, name: path, value: &value })?;
        Ok(self)
    }

    /// The same for a time: whole milliseconds, from one to 36,500 days.
    #[must_use]
    pub fn lasting(mut self, time: Duration) -> Self {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1);
        self.lasts = Some(Duration::from_millis(millis).min(duration::MAX));
        self
    }

    /// The same for all programs of the session.
    #[must_use]
    pub fn for_session(mut self) -> Self {
        self.scope = GrantScope::Session;
        self
    }

    /// How many calls it is for; at least one.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// How long it lasts from when it was given. None: for ever.
    #[must_use]
    pub fn lasts(&self) -> Option<Duration> {
        self.lasts
    }

    /// How far it reaches.
    #[must_use]
    pub fn scope(&self) -> GrantScope {
        self.scope
    }

    /// Whether a call surely is one of those granted. Where a test cannot be told it is not.
    #[must_use]
    pub fn covers(&self, request: &Request<'_>) -> bool {
        self.tools.iter().any(|pattern| pattern.matches(request.name)) && self.when.outcome(request.argument).surely
    }

    fn read(text: &str) -> Result<Self> {
        let source = Source { text, shift: 0 };
        if text.trim_start().starts_with('{') {
            return Self::from_inline(source);
        }
        match DeTable::parse(text) {
            Ok(table) => Self::from_table(&Table::new(source, table.span(), table.get_ref())),
            // One line with commas is the inside of an inline table.
            Err(_) if !text.trim().contains('\n') => {
                let inline = Source { text: &format!("{{{text}\n}}"), shift: 1 };
                // What ends too early would be told of our own bracket.
                Self::from_inline(inline).map_err(|error| if error.line > 1 { end(source, error) } else { error })
            }
            Err(error) => Err(source.toml_error(&error)),
        }
    }

    fn from_inline(source: Source<'_>) -> Result<Self> {
        let value = DeValue::parse(source.text).map_err(|error| source.toml_error(&error))?;
        let node = Node { source, name: "a grant", value: &value };
        Self::from_table(&node.table("a table")?)
    }

    fn from_table(table: &Table<'_>) -> Result<Self> {
        table.allow_keys(&["tools", "when", "count", "lasts", "scope"])?;
        let needed = |key: &str| table.get(key).ok_or_else(|| table.error(format!("a grant needs {key}")));
        let count = needed("count")?;
        let calls = count.integer().and_then(|calls| u32::try_from(calls).ok()).filter(|calls| *calls > 0);
        Ok(Self {
            tools: tools(needed("tools")?)?,
            when: table.get("when").map(When::parse).transpose()?.unwrap_or_default(),
            count: calls.ok_or_else(|| count.wrong("a whole number from 1 to 4294967295"))?,
            lasts: table.get("lasts").map(Node::duration).transpose()?,
            scope: table.get("scope").map(|node| node.choice(&GrantScope::NAMES)).transpose()?.unwrap_or_default(),
        })
    }
}

fn end(source: Source<'_>, error: RulesError) -> RulesError {
    source.error(&(source.text.len()..source.text.len()), error.message)
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<String> = self.tools.iter().map(|pattern| quoted(&pattern.to_string())).collect();
        write!(f, "tools = [{}]", tools.join(", "))?;
        if !self.when.is_empty() {
            write!(f, ", when = {}", self.when)?;
        }
        write!(f, ", count = {}", self.count)?;
        if let Some(lasts) = self.lasts {
            write!(f, ", lasts = \"{}\"", duration::show(lasts))?;
        }
        write!(f, ", scope = \"{}\"", self.scope.name())
    }
}

impl From<Grant> for String {
    fn from(grant: Grant) -> Self {
        grant.to_string()
    }
}

impl TryFrom<String> for Grant {
    type Error = RulesError;

    /// The text as [`Grant`] is shown, of whatever length.
    fn try_from(text: String) -> Result<Self> {
        Self::read(&text)
    }
}

#[cfg(test)]
mod tests;
