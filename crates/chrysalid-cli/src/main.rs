//! `chrysalid`: runs programs of AI agents in a sandbox, pauses them for a person, and goes on later.
//!
//! One command is one file: `run`, `resume`, `inspect`, `repl`, `plan`, `policy`, `audit`, and `catalogue` for `tools`. All but `repl` end in a document
//! that is printed as text or as one JSON object (`report`); all end in an exit status (`exit`).

mod arguments;
mod audit;
mod catalogue;
mod claim;
mod console;
mod drive;
mod exit;
mod guests;
mod host;
mod inspect;
mod json;
mod look;
mod modules;
mod plan;
mod policy;
mod prompt;
mod repl;
mod report;
mod resume;
mod run;
mod save;
mod signals;
mod text_file;
mod tools;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use arguments::{Arguments, Command};
use exit::{Exit, Refusal};
use report::{Document, Form};

fn main() -> ExitCode {
    // Known before the arguments are, because an error in them is a document too.
    let form = if std::env::args_os().any(|argument| argument == "--json") { Form::Json } else { Form::Text };
    let exit = catch_unwind(AssertUnwindSafe(|| answer(form))).unwrap_or_else(|_| {
        Document::refused(Refusal::internal("a fault of chrysalid, described on stderr")).print(form)
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
        Err(error) => return Document::refused(Refusal::arguments(&error)).print(form),
    };
    let document = match arguments.command {
        Command::Run(run) => in_runtime(run::run(&run)),
        Command::Resume(resume) => in_runtime(resume::resume(&resume)),
        Command::Inspect(inspect) => {
            return match inspect::inspect(&inspect) {
                Ok(inspection) => inspection.print(form),
                Err(refusal) => Document::refused(refusal).print(form),
            };
        }
        Command::Tools(tools) => {
            return match catalogue::catalogue(&tools) {
                Ok(catalogued) => catalogued.print(form),
                Err(refusal) => Document::refused(refusal).print(form),
            };
        }
        Command::Plan(plan) => return ended(plan::plan(&plan), form),
        Command::Policy(command) => return ended(policy::policy(&command), form),
        Command::Audit(command) => return ended(audit::audit(&command), form),
        Command::Repl(repl) => {
            return in_runtime(repl::repl(&repl)).unwrap_or_else(|refusal| Document::refused(refusal).print(form));
        }
    };
    document.unwrap_or_else(Document::refused).print(form)
}

fn ended(result: Result<Exit, Refusal>, form: Form) -> Exit {
    result.unwrap_or_else(|refusal| Document::refused(refusal).print(form))
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
