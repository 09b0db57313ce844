//! `chrysalid run`: a program from a file or stdin.

use std::sync::Arc;

use chrysalid::EventSink;

use crate::arguments::RunArguments;
use crate::console::Console;
use crate::drive::Drive;
use crate::exit::Refusal;
use crate::host::{KeyUse, session_options};
use crate::prompt::Terminal;
use crate::report::{Document, Form};
use crate::save::Keeping;
use crate::signals::Signals;
use crate::text_file;
use crate::tools;

/// Runs a program until it ends or pauses.
pub(crate) async fn run(arguments: &RunArguments) -> Result<Document, Refusal> {
    let form = Form::of(arguments.json);
    let console = Console::new(form);
    let limits = arguments.host.limits();
    let reads_stdin = arguments.program.as_os_str() == "-";
    let source = if reads_stdin {
        text_file::of_stdin(limits.source_size)
    } else {
        text_file::of_any(&arguments.program, limits.source_size)
    };
    let source = source.map_err(|wrong| wrong.source_refusal(&arguments.program))?;
    let capabilities = tools::load(arguments.tools.as_deref(), &console)?;
    let modules = arguments.host.load_modules()?;
    let key_use = if arguments.save.is_some() { KeyUse::Seal } else { KeyUse::None };
    let engine = arguments.host.engine(key_use)?;
    let keeping = match &arguments.save {
        Some(path) => Keeping::named(path)?,
        None => Keeping::nowhere(),
    };
    // Only from here on is there something to end in order; before, a signal ends the process as usual.
    let signals = Signals::listen();
    let mut options = session_options(console.clone() as Arc<dyn EventSink>, modules);
    options.approve_program = arguments.approve_program;
    arguments.given.open_audit(&mut options)?;
    let mut session = engine.session_with(&capabilities, options)?;
    session.start(&source)?;
    arguments.given.give_grants(&mut session)?;
    let mut notes = Vec::new();
    notes.extend(arguments.host.rule_of_two_note(&capabilities)?);
    let terminal =
        if form == Form::Text && !reads_stdin { Terminal::open(arguments.given.who.reviewer()) } else { None };
    Ok(Drive { session, console, keeping, terminal, signals, notes }.finish().await)
}
