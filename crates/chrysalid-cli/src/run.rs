//! `chrysalid run`: a program from a file or stdin.

use std::fs::File;
use std::io::{Read, Stdin};
use std::path::Path;
use std::sync::Arc;

use chrysalid::{ErrorKind, EventSink};

use crate::arguments::RunArguments;
use crate::console::Console;
use crate::drive::Drive;
use crate::exit::Refusal;
use crate::host::{KeyUse, session_options};
use crate::prompt::Terminal;
use crate::report::{Form, Report};
use crate::save::Keeping;
use crate::signals::Signals;
use crate::tools;

/// Runs a program until it ends or pauses.
pub(crate) async fn run(arguments: &RunArguments) -> Result<Report, Refusal> {
    let form = Form::of(arguments.json);
    let console = Console::new(form);
    let limits = arguments.host.limits();
    let source = Source::open(&arguments.program)?.read(&arguments.program, limits.source_size)?;
    let capabilities = tools::load(arguments.tools.as_deref(), &console)?;
    let key_use = if arguments.save.is_some() { KeyUse::Seal } else { KeyUse::None };
    let engine = arguments.host.engine(key_use)?;
    let keeping = match &arguments.save {
        Some(path) => Keeping::named(path)?,
        None => Keeping::nowhere(),
    };
    // Only from here on is there something to end in order; before, a signal ends the process as usual.
    let signals = Signals::listen();
    let mut session = engine.session_with(&capabilities, session_options(console.clone() as Arc<dyn EventSink>))?;
    session.start(&source)?;
    let mut notes = Vec::new();
    if !capabilities.is_empty() && !capabilities.declare_effects() {
        notes.push("no tool declares effects, so the rule of two is off".to_owned());
    }
    let reads_stdin = is_stdin(&arguments.program);
    let terminal = if form == Form::Text && !reads_stdin { Terminal::open() } else { None };
    Ok(Drive { session, console, keeping, terminal, signals, notes }.finish().await)
}

enum Source {
    File(File),
    Stdin(Stdin),
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

impl Source {
    fn open(path: &Path) -> Result<Self, Refusal> {
        if is_stdin(path) {
            return Ok(Self::Stdin(std::io::stdin()));
        }
        File::open(path).map(Self::File).map_err(|error| Refusal::unreadable(path, &error))
    }

    /// The text; no more of it than the limit is read.
    fn read(self, path: &Path, bound: usize) -> Result<String, Refusal> {
        let mut bytes = Vec::new();
        let at_most = bound as u64 + 1;
        let (read, size) = match self {
            Self::File(file) => {
                let size = file.metadata().ok().map(|metadata| metadata.len());
                (file.take(at_most).read_to_end(&mut bytes), size)
            }
            Self::Stdin(stdin) => (stdin.lock().take(at_most).read_to_end(&mut bytes), None),
        };
        read.map_err(|error| Refusal::unreadable(path, &error))?;
        if bytes.len() > bound {
            let size = size.map_or_else(|| "source".to_owned(), |size| format!("source of {size} bytes"));
            let message = format!("{size} is more than the limit of {bound} bytes");
            return Err(Refusal::of_kind(ErrorKind::SourceTooLarge, message).within(path));
        }
        String::from_utf8(bytes).map_err(|_| Refusal::usage("not UTF-8 text").within(path))
    }
}
