//! The native side: one process of `bench/native.c`, which runs the programs it is sent one after the other.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result};

/// What a side of the comparison says about one run of a program.
pub(crate) struct Run {
    /// From the source text to the value.
    pub(crate) took: Duration,
    /// The program's value: both sides must have the same.
    pub(crate) value: String,
}

pub(crate) struct Native {
    process: Child,
    programs: ChildStdin,
    results: ChildStdout,
}

impl Native {
    pub(crate) fn start(runner: &Path) -> Result<Self> {
        let mut process = Command::new(runner)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {}", runner.display()))?;
        let programs = process.stdin.take().context("the native runner has no input")?;
        let results = process.stdout.take().context("the native runner has no output")?;
        Ok(Self { process, programs, results })
    }

    pub(crate) fn run(&mut self, source: &str) -> Result<Run> {
        self.exchange(source).context("the native runner ended early; its message is above")
    }

    fn exchange(&mut self, source: &str) -> Result<Run> {
        let length = u32::try_from(source.len())?;
        self.programs.write_all(&length.to_le_bytes())?;
        self.programs.write_all(source.as_bytes())?;
        self.programs.flush()?;

        let mut nanos = [0; 8];
        self.results.read_exact(&mut nanos)?;
        let mut length = [0; 4];
        self.results.read_exact(&mut length)?;
        let mut value = vec![0; u32::from_le_bytes(length) as usize];
        self.results.read_exact(&mut value)?;
        Ok(Run { took: Duration::from_nanos(u64::from_le_bytes(nanos)), value: String::from_utf8(value)? })
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        // A killed or ended runner is gone either way.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
