//! `chrysalid tools`: what a model would be told of the interpreter and of the tools of a file.

use std::collections::BTreeMap;
use std::io::Write;

use chrysalid::{InterpreterOptions, Limits, interpreter_description};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::arguments::ToolsArguments;
use crate::console::Console;
use crate::exit::{Exit, Refusal};
use crate::modules;
use crate::report::{Form, print_json, printable};
use crate::tools::{self, Manifest};

/// The document.
#[derive(Debug, Serialize)]
pub(crate) struct Catalogued {
    /// The text for the model.
    description: String,
    tools: Vec<ToolReport>,
}

#[derive(Debug, Serialize)]
struct ToolReport {
    name: String,
    /// The path under `tools` by which programs reach it, where that is not its name.
    alias: Option<String>,
    description: String,
    input: Option<Map<String, Json>>,
    output: Option<Map<String, Json>>,
}

/// Reads the tools; none of them is run.
pub(crate) fn catalogue(arguments: &ToolsArguments) -> Result<Catalogued, Refusal> {
    let manifest = Manifest::read(&arguments.tools)?;
    let capabilities = tools::capabilities(&manifest, &Console::new(Form::of(arguments.json)))?;
    let limits = Limits::default();
    let mut options = InterpreterOptions::default();
    options.modules = modules::load(arguments.modules.as_deref(), limits.source_size)?.names().to_vec();
    options.budget.characters = arguments.budget.unwrap_or(options.budget.characters);
    let catalogue = capabilities.catalogue();
    let aliases: BTreeMap<&str, &str> = catalogue.aliases().map(|(alias, name)| (name, alias)).collect();
    let tools = manifest.tools().map(|(name, tool)| ToolReport {
        name: name.get_ref().clone(),
        alias: aliases.get(name.get_ref().as_str()).map(|alias| (*alias).to_owned()),
        description: tool.description.clone(),
        input: tool.input.clone(),
        output: tool.output.clone(),
    });
    Ok(Catalogued { description: interpreter_description(catalogue, &limits, &options), tools: tools.collect() })
}

impl Catalogued {
    /// Prints the document, or the text for the model.
    pub(crate) fn print(&self, form: Form) -> Exit {
        match form {
            Form::Json => print_json(self),
            Form::Text => {
                let _ = writeln!(std::io::stdout(), "{}", printable(self.description.trim_end()));
            }
        }
        Exit::Done
    }
}
