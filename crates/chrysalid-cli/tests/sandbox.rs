//! A folder, a key, and the binary in it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use chrysalid::{Approval, Capabilities, Capability, Engine, Session, Step, ToolError};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value as Json;
use tempfile::TempDir;

pub(crate) const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// A tool `pay` that asks and writes down each payment, and a tool `look` that does not ask.
pub(crate) const TOOLS: &str = r#"
[tools.pay]
command = ["sh", "-c", "cat >> paid.jsonl; echo >> paid.jsonl; echo '{\"paid\": true}'"]
approval = "ask"
input = { type = "object", required = ["amount"], properties = { amount = { type = "integer" }, to = { type = "string" } } }

[tools.look]
command = ["sh", "-c", "echo looked >> looked.txt; echo 7"]
"#;

pub(crate) struct Sandbox {
    folder: TempDir,
    state: TempDir,
    variables: Vec<(String, String)>,
}

/// How the binary ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Absent when a signal ended it.
    pub(crate) exit: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The one document on stdout.
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn parts(&self) -> (Option<i32>, &str, &str) {
        (self.exit, &self.stdout, &self.stderr)
    }
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let state = tempfile::tempdir().unwrap();
        let home = state.path().to_str().unwrap().to_owned();
        let variables = vec![("CHRYSALID_KEY".to_owned(), KEY.to_owned()), ("XDG_STATE_HOME".to_owned(), home)];
        Self { folder: tempfile::tempdir().unwrap(), state, variables }
    }

    /// With `tools.toml` and a program `p.js`.
    pub(crate) fn with(tools: &str, program: &str) -> Self {
        let sandbox = Self::new();
        sandbox.write("tools.toml", tools);
        sandbox.write("p.js", program);
        sandbox
    }

    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The user's state folder, as the binary sees it.
    pub(crate) fn state(&self) -> &Path {
        self.state.path()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Makes a pipe with this name.
    pub(crate) fn pipe(&self, name: &str) {
        let mode = Mode::RUSR | Mode::WUSR;
        mknodat(CWD, self.path(name), FileType::Fifo, mode, 0).unwrap();
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Lines of a file; none if it is missing.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Names in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The binary with these words, split at spaces; `~` in a word stands for a space.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chrysalid"));
        let words = line.split(' ').filter(|word| !word.is_empty()).map(|word| word.replace('~', " "));
        command.args(words).current_dir(self.folder()).stdin(Stdio::null());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CHRYSALID_")) {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn run(&self, line: &str) -> Ran {
        finish(&mut self.command(line))
    }

    /// Runs `p.js` until it is saved as `p.chry`.
    pub(crate) fn save(&self) {
        let ran = self.run("run p.js --tools tools.toml --save p.chry");
        assert_eq!(ran.exit, Some(3), "{ran:?}");
    }

    /// Resumes `p.chry` with `tools.toml`.
    pub(crate) fn resume(&self, options: &str) -> Ran {
        self.run(&format!("resume p.chry --tools tools.toml {options}"))
    }

    /// The same, without waiting for its end.
    pub(crate) fn begin_resume(&self, options: &str) -> Child {
        let mut command = self.command(&format!("resume p.chry --tools tools.toml {options}"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    pub(crate) fn inspect(&self, name: &str) -> Json {
        let ran = self.run(&format!("inspect {name} --json"));
        assert_eq!(ran.exit, Some(0), "{ran:?}");
        ran.json()
    }
}

pub(crate) fn finish(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        exit: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A session of the library whose program waits for somebody to approve its call of `pay`.
pub(crate) fn waiting_to_pay(engine: &Engine, source: &str) -> Session {
    let pay = Capability::new("pay", |(): ()| async { Ok::<_, ToolError>(()) }).approval(Approval::Ask);
    let mut session = engine.session(&Capabilities::new([pay]).unwrap()).unwrap();
    session.start(source).unwrap();
    loop {
        match session.step(SystemTime::now()).unwrap() {
            Step::Busy => {}
            Step::Paused(_) => return session,
            other => panic!("{other:?}"),
        }
    }
}

/// Looks until something holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(20), "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A text without what is only digits of hashes and keys: any digits at all come up in those.
pub(crate) fn without_hashes(text: &str) -> String {
    let is_hash = |word: &&str| word.len() >= 16 && word.bytes().all(|digit| digit.is_ascii_hexdigit());
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| !is_hash(word)).collect::<Vec<_>>().join(" ")
}
