//! The text of a `tools.toml`. An error names the file, the line, and what could have stood there.
//!
//! ```toml
//! [tools."mail.send"]
//! description = "Sends a mail."
//! command = ["python3", "mail.py"]       # run in this file's folder: arguments on stdin, one JSON value on stdout
//! effects = ["acts"]                     # of "private", "untrusted", "acts"
//! approval = "ask"                       # or "never", the default
//! approval_role = "treasurer"            # or a list: roles that whoever decides must have
//! approval_expires = "24h"               # how long a call waits for a person: ms, s, m, h
//! deliver = "value"                      # or "handle", or "declassified", which needs a narrow output schema
//! subagent = false                       # whether a call spawns a subagent
//! timeout = "30s"                        # ms, s, m, h
//! concurrency = 2                        # calls at one time
//! max_calls = 10                         # calls of one program
//! max_calls_per_session = 50             # calls of all programs of a session
//! idempotent = false                     # whether a second call with the same key does nothing new
//! input = { type = "object" }            # JSON Schema of the argument
//! output = { type = "object" }           # JSON Schema of the result, for whoever writes programs
//! ```

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrysalid::{Delivery, Effects};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use toml::Spanned;

use crate::arguments::duration;
use crate::exit::Refusal;
use crate::text_file;

/// Largest file that is read, in bytes.
const MAX_SIZE: usize = 4 << 20;

/// A `tools.toml` that was read.
pub(crate) struct Manifest {
    path: PathBuf,
    text: String,
    tools: BTreeMap<Spanned<String>, Tool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    tools: BTreeMap<Spanned<String>, Tool>,
}

/// One tool as it was written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tool {
    #[serde(default)]
    pub(crate) description: String,
    #[serde(deserialize_with = "command_line")]
    pub(crate) command: Vec<String>,
    pub(crate) input: Option<serde_json::Map<String, serde_json::Value>>,
    pub(crate) output: Option<serde_json::Map<String, serde_json::Value>>,
    effects: Option<Vec<Effect>>,
    #[serde(default)]
    pub(crate) approval: Ask,
    #[serde(default)]
    pub(crate) approval_role: Roles,
    pub(crate) approval_expires: Option<Timeout>,
    #[serde(default)]
    pub(crate) deliver: Delivery,
    #[serde(default)]
    pub(crate) subagent: bool,
    pub(crate) timeout: Option<Timeout>,
    pub(crate) concurrency: Option<NonZeroU32>,
    pub(crate) max_calls: Option<u32>,
    pub(crate) max_calls_per_session: Option<u32>,
    #[serde(default)]
    pub(crate) idempotent: bool,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Effect {
    Private,
    Untrusted,
    Acts,
}

/// Whether a person is asked before each call.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Ask {
    #[default]
    Never,
    Ask,
}

/// One role, or several.
#[derive(Clone, Default, Deserialize)]
#[serde(untagged, expecting = "a role, or a list of roles")]
pub(crate) enum Roles {
    #[default]
    None,
    One(String),
    Several(Vec<String>),
}

impl Roles {
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, String> {
        match self {
            Self::None => [].iter(),
            Self::One(role) => std::slice::from_ref(role).iter(),
            Self::Several(roles) => roles.iter(),
        }
    }
}

/// How long one call may run.
#[derive(Clone, Copy)]
pub(crate) struct Timeout(pub(crate) Duration);

impl<'de> Deserialize<'de> for Timeout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match duration(&text).map_err(D::Error::custom)? {
            Duration::ZERO => Err(D::Error::custom("a timeout of 0 lets no call end")),
            timeout => Ok(Self(timeout)),
        }
    }
}

fn command_line<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let words = Vec::<String>::deserialize(deserializer)?;
    if words.first().is_none_or(String::is_empty) {
        return Err(D::Error::custom("command names no program: write [\"program\", \"argument\", …]"));
    }
    if words.iter().any(|word| word.contains('\0')) {
        return Err(D::Error::custom("a word of a command contains a null character"));
    }
    Ok(words)
}

impl Tool {
    /// Whether it asks a person each time.
    pub(crate) fn asks(&self) -> bool {
        matches!(self.approval, Ask::Ask)
    }

    pub(crate) fn effects(&self) -> Option<Effects> {
        let effects = self.effects.as_ref()?;
        Some(effects.iter().fold(Effects::NONE, |sum, effect| {
            sum | match effect {
                Effect::Private => Effects::PRIVATE,
                Effect::Untrusted => Effects::UNTRUSTED,
                Effect::Acts => Effects::ACTS,
            }
        }))
    }
}

impl Manifest {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Refusal> {
        let text = text_file::of_regular(path, MAX_SIZE).map_err(|wrong| wrong.refusal("tools file", path))?;
        Self::parse(path, text)
    }

    pub(crate) fn parse(path: &Path, text: String) -> Result<Self, Refusal> {
        let mut manifest = Self { path: path.to_owned(), text, tools: BTreeMap::new() };
        match toml::from_str::<Document>(&manifest.text) {
            Ok(document) => manifest.tools = document.tools,
            Err(error) => {
                let message = error.message().replacen("unknown field", "unknown key", 1);
                return Err(manifest.refuse(error.span().map_or(0, |span| span.start), &message));
            }
        }
        Ok(manifest)
    }

    /// Where it was read.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The tools, by name.
    pub(crate) fn tools(&self) -> impl Iterator<Item = (&Spanned<String>, &Tool)> {
        self.tools.iter()
    }

    /// A refusal about what stands at a place of the text, in bytes.
    pub(crate) fn refuse(&self, place: usize, message: &str) -> Refusal {
        let line = self.text.get(..place).unwrap_or_default().matches('\n').count() + 1;
        let hint = match self.text.lines().nth(line - 1) {
            // `[tools.mail.send]` is a table `send` inside of a tool `mail`.
            Some(header) if header.starts_with("[tools.") && message.starts_with("unknown key") => {
                " (a name with dots stands in quotes: [tools.\"mail.send\"])"
            }
            _ => "",
        };
        Refusal::usage(format!("{}:{line}: {message}{hint}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Effects, Manifest, Path};

    fn parse(text: &str) -> Result<Manifest, String> {
        Manifest::parse(Path::new("tools.toml"), text.to_owned()).map_err(|refusal| refusal.message)
    }

    #[test]
    fn every_key_is_read() {
        let manifest = parse(
            r#"
            [tools."mail.send"]
            description = "Sends a mail."
            command = ["python3", "mail.py"]
            effects = ["acts", "private"]
            approval = "ask"
            timeout = "500ms"
            concurrency = 2
            max_calls = 10
            idempotent = true
            [tools."mail.send".input]
            type = "object"
            required = ["to"]
            properties = { to = { type = "string", maxLength = 9 } }
            [tools."mail.send".output]
            type = "string"
            "#,
        )
        .unwrap();
        let (name, tool) = manifest.tools().next().unwrap();
        assert_eq!(name.get_ref(), "mail.send");
        assert_eq!(tool.command, ["python3", "mail.py"]);
        assert_eq!(tool.effects(), Some(Effects::ACTS | Effects::PRIVATE));
        assert_eq!(tool.timeout.map(|timeout| timeout.0), Some(Duration::from_millis(500)));
        let schema = serde_json::json!({
            "type": "object", "required": ["to"], "properties": { "to": { "type": "string", "maxLength": 9 } },
        });
        assert_eq!(tool.input.as_ref(), schema.as_object());
        assert_eq!(tool.output.as_ref(), serde_json::json!({ "type": "string" }).as_object());
    }

    #[test]
    fn errors_name_the_line_and_what_is_expected() {
        let keys = "expected one of `description`, `command`, `input`, `output`, `effects`, `approval`, \
                    `approval_role`, `approval_expires`, `deliver`, `subagent`, `timeout`, `concurrency`, `max_calls`, \
                    `max_calls_per_session`, `idempotent`";
        let cases = [
            ("[tools.a]\ncommand = [\"x\"]\ntimeot = \"3s\"", format!("tools.toml:3: unknown key `timeot`, {keys}")),
            (
                "[tools.a]\ncommand = [\"x\"]\n\n[tools.mail.send]\ncommand = [\"x\"]",
                format!(
                    "tools.toml:4: unknown key `send`, {keys} (a name with dots stands in quotes: [tools.\"mail.send\"])"
                ),
            ),
            ("tool = 1", "tools.toml:1: unknown key `tool`, expected `tools`".into()),
            ("\n[tools.a]\n", "tools.toml:2: missing field `command`".into()),
            (
                "[tools.a]\ncommand = []",
                "tools.toml:2: command names no program: write [\"program\", \"argument\", …]".into(),
            ),
            (
                "[tools.a]\ncommand = [\"x\"]\ntimeout = \"30\"",
                "tools.toml:3: \"30\" has no unit: write ms, s, m or h, as in \"30s\"".into(),
            ),
            ("[tools.a]\ncommand = [\"x\"]\ntimeout = \"0s\"", "tools.toml:3: a timeout of 0 lets no call end".into()),
            (
                "[tools.a]\ncommand = [\"x\"]\napproval = \"maybe\"",
                "tools.toml:3: unknown variant `maybe`, expected `never` or `ask`".into(),
            ),
            (
                "[tools.a]\ncommand = [\"x\"]\neffects = [\"acts\",\n\"reads\"]",
                "tools.toml:4: unknown variant `reads`, expected one of `private`, `untrusted`, `acts`".into(),
            ),
        ];
        for (text, message) in cases {
            assert_eq!(parse(text).map(|_| ()).unwrap_err(), message, "{text}");
        }
        assert!(parse("[tools.a]\ncommand = ").is_err_and(|message| message.starts_with("tools.toml:2: ")));
        assert!(parse("[tools.a]\ncommand = [\"x\"]\nconcurrency = 0").is_err());
    }
    #[test]
    fn kept_inputs_of_the_fuzz_target_are_read_or_refused_with_a_line() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/tools_toml");
        let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(files.len() >= 10, "{} inputs", files.len());
        for file in files {
            let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
            let Err(message) = parse(&text) else { continue };
            let line = message.strip_prefix("tools.toml:").and_then(|rest| rest.split(':').next()?.parse().ok());
            let lines = 1..=text.matches('\n').count() + 1;
            assert!(line.is_some_and(|line: usize| lines.contains(&line)), "{}: {message}", file.display());
        }
    }
}
