//! `chrysalid`: runs programs of AI agents in a sandbox, pauses them for a person, and goes on later.
//!
//! One command is one file: `run`, `resume`, `inspect`, `repl`. All but the last end in a document that is printed as text
//! or as one JSON object (`report`); all end in an exit status (`exit`).

mod arguments;
mod claim;
mod console;
mod drive;
mod exit;
mod guests;
mod host;
mod inspect;
mod prompt;
mod repl;
mod report;
mod resume;
mod run;
mod save;
mod signals;
mod tools;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use arguments::{Arguments, Command};
use exit::{Exit, Refusal};
use report::{Form, Report};

fn main() -> ExitCode {
    // Known before the arguments are, because an error in them is a document too.
    let form = if std::env::args_os().any(|argument| argument == "--json") { Form::Json } else { Form::Text };
    let exit = catch_unwind(AssertUnwindSafe(|| answer(form))).unwrap_or_else(|_| {
        Report::refused(Refusal::internal("a fault of chrysalid, described on stderr")).print(form)
    });
    exit.into()
}

fn answer(form: Form) -> Exit {
    let arguments = match Arguments::read() {
        Ok(arguments) => arguments,
        Err(error) if !error.use_stderr() => {
            // Help and version were asked for.
            let _ = error.print();
            return Exit::Done;
        }
        Err(error) if form == Form::Text => {
            let _ = error.print();
            return Exit::Usage;
        }
        Err(error) => return Report::refused(Refusal::arguments(&error)).print(form),
    };
    let report = match arguments.command {
        Command::Run(run) => in_runtime(run::run(&run)),
        Command::Resume(resume) => in_runtime(resume::resume(&resume)),
        Command::Inspect(inspect) => {
            return match inspect::inspect(&inspect) {
                Ok(inspection) => inspection.print(form),
                Err(refusal) => Report::refused(refusal).print(form),
            };
        }
        Command::Repl(repl) => {
            return in_runtime(repl::repl(&repl)).unwrap_or_else(|refusal| Report::refused(refusal).print(form));
        }
    };
    report.unwrap_or_else(Report::refused).print(form)
}

fn in_runtime<T>(command: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Refusal::internal(format!("no runtime: {error}")))?;
    let result = runtime.block_on(command);
    // A thread may still wait for a line of the terminal.
    runtime.shutdown_background();
    result
}
