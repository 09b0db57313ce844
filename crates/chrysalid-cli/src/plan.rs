//! `chrysalid plan`: which tools the text of a program can reach. Nothing of it runs.

use std::io::Write;

use chrysalid::{Limits, Plan};

use crate::arguments::PlanArguments;
use crate::console::Console;
use crate::exit::{Exit, Refusal};
use crate::report::{Form, print_json, printable};
use crate::text_file;
use crate::tools;

pub(crate) fn plan(arguments: &PlanArguments) -> Result<Exit, Refusal> {
    let form = Form::of(arguments.json);
    let bound = Limits::default().source_size;
    let source = if arguments.program.as_os_str() == "-" {
        text_file::of_stdin(bound)
    } else {
        text_file::of_any(&arguments.program, bound)
    };
    let source = source.map_err(|wrong| wrong.source_refusal(&arguments.program))?;
    let capabilities = tools::load(arguments.tools.as_deref(), &Console::new(form))?;
    let plan = Plan::of(&source, &capabilities)?;
    if let Some(refused) = &plan.refused {
        let at = refused.place.as_ref().map_or_else(String::new, |place| format!(":{}:{}", place.line, place.column));
        return Err(Refusal::program(format!("{}{at}: {}", arguments.program.display(), refused.reason)));
    }
    match form {
        Form::Json => print_json(&plan),
        Form::Text => {
            let _ = writeln!(std::io::stdout(), "{}", printable(&plan.to_string()));
        }
    }
    Ok(Exit::Done)
}
