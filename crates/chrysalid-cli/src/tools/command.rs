//! One call of a tool: its command, run in a process group of its own.
//!
//! The command gets the argument as JSON on stdin and answers with one JSON value on stdout. It runs in the folder of
//! `tools.toml`, with this process's environment less every `CHRYSALID_*`, among them the key, plus `CHRYSALID_CALL` and
//! `CHRYSALID_IDEMPOTENCY_KEY`. Whatever of its group still runs when the call is over, timed out or cancelled is
//! killed: a call's processes end with it.

use std::ffi::OsString;
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use chrysalid::{CallContext, CallResult, ToolError, Value};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::json;

/// Most values, and most bytes of text, that an argument may come to as JSON.
const MAX_INPUT: usize = 1 << 20;
/// Most bytes that a command may print on stdout.
const MAX_STDOUT: usize = 4 << 20;
/// Bytes of stderr that are kept, the last ones.
const MAX_STDERR: usize = 64 << 10;
/// Bytes of a message that comes from a command.
const MAX_MESSAGE: usize = 2 << 10;
/// How long output is read after the command has ended, if something that it started holds it open.
const GRACE: Duration = Duration::from_millis(250);
/// Prefix of the variables that are no business of a tool.
const OWN_VARIABLES: &str = "CHRYSALID_";

/// The command of one tool.
pub(crate) struct ToolCommand {
    tool: String,
    program: OsString,
    words: Vec<String>,
    folder: OsString,
}

impl ToolCommand {
    /// A command line as it stands in the file, run in `folder`.
    pub(crate) fn new(tool: &str, line: &[String], folder: &Path) -> Self {
        let (program, words) = line.split_first().map_or(("", &[][..]), |(program, words)| (program.as_str(), words));
        // A path is meant from the folder; a bare name is looked up in the PATH.
        let program = if program.contains('/') { folder.join(program).into() } else { program.into() };
        Self { tool: tool.to_owned(), program, words: words.to_vec(), folder: folder.into() }
    }

    /// The argument as JSON; its shared parts, small in the program, may come to no more than an argument itself.
    fn input(&self, argument: &Value) -> Result<Vec<u8>, ToolError> {
        let wrong = |error: String| ToolError::input(format!("{}: {error}", self.tool));
        let json = argument.to_json_within(MAX_INPUT, MAX_INPUT).map_err(|error| wrong(error.to_string()))?;
        serde_json::to_vec(&json).map_err(|error| wrong(error.to_string()))
    }

    /// Runs it for one call. Dropping the future kills its processes.
    pub(crate) async fn run(&self, context: &CallContext, argument: &Value) -> CallResult {
        let input = self.input(argument)?;
        let mut child = self.spawn(context)?;
        let group = Group::of(&child);
        let mut output = Output::default();
        let status = output.collect(&mut child, &group, &input).await;
        drop(input);
        drop(group);
        let status = status.map_err(|error| ToolError::new(format!("tool {}: {error}", self.tool)))?;
        self.read(status, &output)
    }

    fn spawn(&self, context: &CallContext) -> Result<Child, ToolError> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.words)
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with(OWN_VARIABLES)) {
            command.env_remove(name);
        }
        command.env("CHRYSALID_CALL", context.id.to_string());
        command.env("CHRYSALID_IDEMPOTENCY_KEY", context.idempotency_key());
        command.spawn().map_err(|error| self.not_started(&error))
    }

    fn not_started(&self, error: &io::Error) -> ToolError {
        let name = Path::new(&self.program).file_name().unwrap_or(&self.program).to_string_lossy();
        ToolError::new(match error.kind() {
            io::ErrorKind::NotFound => format!("tool {}: its command {name:?} was not found", self.tool),
            io::ErrorKind::PermissionDenied => format!("tool {}: its command {name:?} may not be run", self.tool),
            kind => format!("tool {}: its command {name:?} did not start: {kind}", self.tool),
        })
    }

    /// What the command said.
    fn read(&self, status: ExitStatus, output: &Output) -> CallResult {
        let tool = &self.tool;
        if output.overflowed {
            return Err(ToolError::new(format!("tool {tool} printed more than {MAX_STDOUT} bytes")));
        }
        if let Some(code) = status.code().filter(|code| *code != 0) {
            let message = output.last_line().unwrap_or_else(|| format!("tool {tool} ended with exit status {code}"));
            return Err(ToolError::new(message));
        }
        if !status.success() {
            return Err(ToolError::new(format!("tool {tool} was ended by {}", signal(status))));
        }
        let not_json = |error: String| {
            ToolError::new(format!("tool {tool} printed something that is not one JSON value: {error}"))
        };
        json::value(&output.stdout).map_err(not_json)
    }
}

/// `signal 9 (SIGKILL)`, from the `signal: 9 (SIGKILL)` of the standard library.
fn signal(status: ExitStatus) -> String {
    status.to_string().replacen("signal: ", "signal ", 1)
}

/// The process group of a command; what is left of it is killed on drop.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    fn kill(&self) {
        if let Some(group) = self.0 {
            // Nothing may be left of it.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

#[derive(Default)]
struct Output {
    stdout: Vec<u8>,
    overflowed: bool,
    /// The last bytes of stderr.
    stderr: Vec<u8>,
}

impl Output {
    /// Feeds the command and reads it until it has ended.
    async fn collect(&mut self, child: &mut Child, group: &Group, input: &[u8]) -> io::Result<ExitStatus> {
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let feed = async {
            if let Some(mut stdin) = stdin {
                // A command that does not read its input need not.
                let _ = stdin.write_all(input).await;
            }
        };
        let overflowed = &mut self.overflowed;
        let read_stdout = async {
            *overflowed = read_bounded(stdout, &mut self.stdout).await == Fit::Over;
            if *overflowed {
                group.kill();
            }
        };
        let read_stderr = read_tail(stderr, &mut self.stderr);
        let exchange = async { tokio::join!(feed, read_stdout, read_stderr) };
        wait(child, group, exchange).await
    }

    /// The last line on stderr that says something.
    fn last_line(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.stderr);
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        let end = (0..=MAX_MESSAGE.min(line.len())).rev().find(|end| line.is_char_boundary(*end))?;
        line.get(..end).map(str::to_owned)
    }
}

/// Waits for the command's end; its output counts only for a moment longer.
async fn wait<T>(child: &mut Child, group: &Group, exchange: impl Future<Output = T>) -> io::Result<ExitStatus> {
    let mut exchange = pin!(exchange);
    tokio::select! {
        _ = &mut exchange => child.wait().await,
        status = child.wait() => {
            if timeout(GRACE, &mut exchange).await.is_err() {
                group.kill();
                let _ = timeout(GRACE, &mut exchange).await;
            }
            status
        }
    }
}

#[derive(PartialEq, Eq)]
enum Fit {
    Whole,
    Over,
}

async fn read_bounded(pipe: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) -> Fit {
    let Some(pipe) = pipe else { return Fit::Whole };
    // A pipe that breaks ends like one that is closed: the JSON tells whether something is missing.
    let _ = pipe.take(MAX_STDOUT as u64 + 1).read_to_end(into).await;
    if into.len() > MAX_STDOUT { Fit::Over } else { Fit::Whole }
}

async fn read_tail(pipe: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; 8 << 10];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        into.extend_from_slice(buffer.get(..count).unwrap_or_default());
        into.drain(..into.len().saturating_sub(MAX_STDERR));
    }
}
