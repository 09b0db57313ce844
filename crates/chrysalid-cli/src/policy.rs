//! `chrysalid policy`: reads a policy and tries its examples, and explains what it would decide.

use std::io::Write;
use std::path::Path;

use chrysalid::policy::{Ask, Decision, Request, decide};
use chrysalid::{Effects, Rules, Taint};
use serde::Serialize;

use crate::arguments::{CheckArguments, ExplainArguments, PolicyCommand};
use crate::exit::{Exit, Refusal};
use crate::json;
use crate::report::{Form, print_json, printable};
use crate::text_file;
use crate::tools::Manifest;

/// Largest policy that is read, in bytes; the library's own bound.
const MAX_SIZE: usize = 1 << 20;

/// Reads a policy. An error names file, line and column.
pub(crate) fn read(path: &Path) -> Result<Rules, Refusal> {
    let text = text_file::of_regular(path, MAX_SIZE).map_err(|wrong| wrong.refusal("policy", path))?;
    Rules::parse(&text).map_err(|error| {
        Refusal::usage(format!("{}:{}:{}: {}", path.display(), error.line, error.column, error.message))
    })
}

/// `check` and `explain`.
pub(crate) fn policy(command: &PolicyCommand) -> Result<Exit, Refusal> {
    match command {
        PolicyCommand::Check(arguments) => check(arguments),
        PolicyCommand::Explain(arguments) => explain(arguments),
    }
}

#[derive(Serialize)]
struct Checked {
    file: String,
    version: String,
    rules: usize,
    examples: usize,
    /// Patterns that no tool fits.
    unused: Vec<String>,
}

fn check(arguments: &CheckArguments) -> Result<Exit, Refusal> {
    let rules = read(&arguments.file)?;
    let unused = match &arguments.tools {
        Some(path) => {
            let manifest = Manifest::read(path)?;
            let names: Vec<&str> = manifest.tools().map(|(name, _)| name.get_ref().as_str()).collect();
            rules.patterns_without(&names)
        }
        None => Vec::new(),
    };
    let checked = Checked {
        file: arguments.file.display().to_string(),
        version: rules.version().to_owned(),
        rules: rules.len(),
        examples: rules.examples(),
        unused,
    };
    if arguments.json {
        print_json(&checked);
        return Ok(Exit::Done);
    }
    let Checked { file, version, rules, examples, unused } = &checked;
    let mut text = format!("{file}: {rules} rules, {examples} examples hold; version {version}\n");
    for pattern in unused {
        text.push_str(&format!("no tool is named {pattern}\n"));
    }
    let _ = write!(std::io::stdout(), "{}", printable(&text));
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct Explained {
    call: String,
    decision: &'static str,
    effects: Vec<&'static str>,
    met: Vec<&'static str>,
    reasons: Vec<String>,
    roles: Vec<String>,
    expires_s: Option<u64>,
}

/// What a call is, as far as the files tell.
struct Told {
    effects: Effects,
    asks: bool,
    /// Whether any tool says what it does.
    labelled: bool,
}

fn explain(arguments: &ExplainArguments) -> Result<Exit, Refusal> {
    let rules = arguments.policy.as_deref().map_or_else(|| Ok(Rules::default()), read)?;
    let told = told(arguments)?;
    let argument = json::value(arguments.args.as_bytes())
        .map_err(|error| Refusal::usage(format!("--args: {:?} is not one JSON value: {error}", arguments.args)))?;
    let rules = rules.resolve(told.labelled);
    let mut taint = Taint::default();
    for effect in &arguments.taint {
        taint.join(*effect, "something before");
    }
    let request = Request {
        name: &arguments.call,
        argument: &argument,
        effects: told.effects,
        carried: Effects::NONE,
        ask: told.asks,
    };
    let (decision, reasons, terms) = match decide(&request, &taint, &rules) {
        Decision::Allow => ("allow", Vec::new(), None),
        Decision::Ask(Ask { reasons, terms }) => ("ask", reasons, Some(terms)),
        Decision::Deny { reasons } => ("deny", reasons, None),
    };
    let explained = Explained {
        call: arguments.call.clone(),
        decision,
        effects: rules.effects(&request).names().collect(),
        met: taint.effects().names().collect(),
        reasons: reasons.iter().map(ToString::to_string).collect(),
        roles: terms.as_ref().map(|terms| terms.roles.clone()).unwrap_or_default(),
        expires_s: terms.and_then(|terms| terms.expires).map(|expires| expires.as_secs()),
    };
    explained.print(Form::of(arguments.json));
    Ok(Exit::Done)
}

fn told(arguments: &ExplainArguments) -> Result<Told, Refusal> {
    let given =
        arguments.effects.as_ref().map(|effects| effects.iter().fold(Effects::NONE, |sum, effect| sum | *effect));
    let Some(path) = &arguments.tools else {
        return Ok(Told {
            effects: given.unwrap_or_default(),
            asks: false,
            labelled: given.is_some() || !arguments.taint.is_empty(),
        });
    };
    let manifest = Manifest::read(path)?;
    let labelled = manifest.tools().any(|(_, tool)| tool.effects().is_some());
    let tool = manifest.tools().find(|(name, _)| *name.get_ref() == arguments.call);
    let (_, tool) = tool.ok_or_else(|| Refusal::usage(format!("has no tool {:?}", arguments.call)).within(path))?;
    let unlabelled = if labelled { Effects::ALL } else { Effects::NONE };
    let effects = given.or(tool.effects()).unwrap_or(unlabelled);
    Ok(Told { effects, asks: tool.asks(), labelled })
}

impl Explained {
    fn print(&self, form: Form) {
        if form == Form::Json {
            return print_json(self);
        }
        let words = |words: &[&str]| if words.is_empty() { "nothing".to_owned() } else { words.join(", ") };
        let mut text = format!("{}: {}\n", self.call, self.decision);
        text.push_str(&format!("  does: {}\n  session has met: {}\n", words(&self.effects), words(&self.met)));
        for reason in &self.reasons {
            text.push_str(&format!("  because: {reason}\n"));
        }
        if !self.roles.is_empty() {
            text.push_str(&format!("  decided by: {}\n", self.roles.join(", ")));
        }
        if let Some(seconds) = self.expires_s {
            text.push_str(&format!("  waits for at most: {seconds} s\n"));
        }
        let _ = write!(std::io::stdout(), "{}", printable(&text));
    }
}
