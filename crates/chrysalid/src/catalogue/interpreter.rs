//! What a model is told about the interpreter. One text for every surface, made from the live limits and tools.

use std::time::Duration;

use super::{Catalogue, CatalogueBudget, comment, names};
use crate::limits::Limits;

/// Modules that are named one by one.
const MAX_MODULES: usize = 20;

/// Whether a later program sees what an earlier one declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// One heap for all programs.
    #[default]
    Session,
    /// A fresh heap for each program.
    Program,
}

/// What the surface adds to the text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InterpreterOptions {
    /// Name of the function through which the model runs programs. Default `eval`.
    pub function: String,
    /// How long top-level names live. Default [`Lifetime::Session`].
    pub lifetime: Lifetime,
    /// Modules that a program may import. Default none.
    pub modules: Vec<String>,
    /// How much of the catalogue is shown. Default [`CatalogueBudget::default`].
    pub budget: CatalogueBudget,
}

impl Default for InterpreterOptions {
    fn default() -> Self {
        Self {
            function: "eval".to_owned(),
            lifetime: Lifetime::Session,
            modules: Vec::new(),
            budget: CatalogueBudget::default(),
        }
    }
}

/// The description of the interpreter for a model: rules, limits, then the tools. Equal inputs give equal bytes; without
/// the tools it has less than 1,500 characters as long as no modules are named.
pub fn interpreter_description(catalogue: &Catalogue, limits: &Limits, options: &InterpreterOptions) -> String {
    let lines = [
        format!(
            "`{}` runs one JavaScript or TypeScript program in a sandbox.",
            comment::line(&options.function, 80).replace('`', "'")
        ),
        String::new(),
        "- Top-level `await` and `return` work. The value is what you return, else the last expression. `console.log` output \
         comes back, too."
            .to_owned(),
        lifetime(options.lifetime).to_owned(),
        modules(&options.modules),
        "- Tools are the functions under `tools`. Each takes one object and returns a promise: \
         `const page = await tools.name({ key: 1 })`. Run independent calls together with `Promise.all`. A failed call \
         throws; catch it if you can go on without it."
            .to_owned(),
        "- A call that a person must approve takes as long as they need: the program stands still and then goes on, with \
         nothing lost. Do not call again and do not poll."
            .to_owned(),
        "- Work on large results inside the program and return only what you need.".to_owned(),
        format!("- Limits: {}.", bounds(limits)),
    ];
    let tools = if catalogue.is_empty() { "There are no tools.\n".to_owned() } else { catalogue.text(&options.budget) };
    format!("{}\n\n{tools}", lines.join("\n"))
}

fn lifetime(lifetime: Lifetime) -> &'static str {
    match lifetime {
        Lifetime::Session => {
            "- What you declare at the top level is still there in the next program, and may be declared again."
        }
        Lifetime::Program => "- Each program starts fresh: nothing is left of earlier ones.",
    }
}

fn modules(modules: &[String]) -> String {
    let without = "- There is no network, no file system, no `require`, no `process`";
    if modules.is_empty() {
        return format!("{without} and no `import`; tools are the only way out.");
    }
    let named: Vec<String> = modules.iter().take(MAX_MODULES).map(|name| names::quote(name)).collect();
    let more = modules.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{without}; tools are the only way out. `import` finds only {}{more}.", named.join(", "))
}

fn bounds(limits: &Limits) -> String {
    let mut parts = vec![
        format!("{} of CPU time (waiting is free)", duration(limits.cpu_time)),
        format!("{} of memory", size(limits.memory)),
        format!("{} tool calls a program, {} at a time (the rest queue)", limits.calls, limits.calls_in_flight),
        format!("{} of console output", size(limits.console_size)),
        format!("{} of result", size(limits.result_size)),
    ];
    if let Some(wall) = limits.wall_time {
        parts.insert(1, format!("{} in all, pauses not counted", duration(wall)));
    }
    parts.join("; ")
}

fn duration(duration: Duration) -> String {
    match duration.subsec_nanos() {
        0 => format!("{} s", duration.as_secs()),
        _ => format!("{} ms", duration.as_millis()),
    }
}

fn size(bytes: usize) -> String {
    match bytes {
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}
