//! `chrysalid policy`: reads a policy and tries its examples, and explains what it would decide.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use chrysalid::policy::{Ask, Decision, Reason, Request, Terms, decide};
use chrysalid::{DecisionKind, Delivery, Effects, Rules, Taint};
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
            let names = manifest.tools().map(|(name, _)| name.get_ref().as_str());
            // Reading a handle is ruled on under a name of its own.
            let names: Vec<&str> = names.chain(["$reveal"]).collect();
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
    let counted =
        |count: usize, one: &str, several: &str| format!("{count} {}", if count == 1 { one } else { several });
    let mut text = format!(
        "{file}: {}, {}; version {version}\n",
        counted(*rules, "rule", "rules"),
        counted(*examples, "example holds", "examples hold")
    );
    for pattern in unused {
        let _ = writeln!(text, "no tool is named {pattern}");
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
    /// The answers that are taken, where not all are.
    decisions: Option<Vec<DecisionKind>>,
    expires_s: Option<u64>,
}

/// What a call is, as far as the files tell.
struct Told {
    effects: Effects,
    asks: bool,
    /// Whether any tool says what it does.
    labelled: bool,
    /// What the tool itself demands of whoever decides.
    terms: Terms,
    delivery: Delivery,
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
    let effects = rules.effects(&request);
    let mut decision = decide(&request, &taint, &rules);
    if told.delivery != Delivery::Value && !effects.contains(Effects::ACTS) {
        decision = without_rule_of_two(decision);
    }
    let (decision, reasons, terms) = match decision {
        Decision::Allow => ("allow", Vec::new(), None),
        Decision::Ask(Ask { reasons, mut terms }) => {
            terms.join(&told.terms);
            ("ask", reasons, Some(terms))
        }
        Decision::Deny { reasons } => ("deny", reasons, None),
    };
    let explained = Explained {
        call: arguments.call.clone(),
        decision,
        effects: effects.names().collect(),
        met: taint.effects().names().collect(),
        reasons: reasons.iter().map(ToString::to_string).collect(),
        roles: terms.as_ref().map(|terms| terms.roles.clone()).unwrap_or_default(),
        decisions: terms.as_ref().and_then(|terms| terms.decisions.clone()),
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
            terms: Terms::default(),
            delivery: Delivery::Value,
        });
    };
    let manifest = Manifest::read(path)?;
    let labelled = manifest.tools().any(|(_, tool)| tool.effects().is_some());
    let tool = manifest.tools().find(|(name, _)| *name.get_ref() == arguments.call);
    let (_, tool) = tool.ok_or_else(|| Refusal::usage(format!("has no tool {:?}", arguments.call)).within(path))?;
    let unlabelled = if labelled { Effects::ALL } else { Effects::NONE };
    let effects = given.or(tool.effects()).unwrap_or(unlabelled);
    let mut roles: Vec<String> = tool.approval_role.iter().cloned().collect();
    roles.sort_unstable();
    roles.dedup();
    let terms = Terms { roles, expires: tool.approval_expires.map(|expires| expires.0), decisions: None };
    Ok(Told { effects, asks: tool.asks(), labelled, terms, delivery: tool.deliver })
}

/// As a session does where the program cannot read the result, and so meets nothing by it.
fn without_rule_of_two(decision: Decision) -> Decision {
    let Decision::Ask(mut ask) = decision else { return decision };
    ask.reasons.retain(|reason| !matches!(reason, Reason::RuleOfTwo { .. }));
    if ask.reasons.is_empty() { Decision::Allow } else { Decision::Ask(ask) }
}

impl Explained {
    fn print(&self, form: Form) {
        if form == Form::Json {
            return print_json(self);
        }
        let words = |words: &[&str]| if words.is_empty() { "nothing".to_owned() } else { words.join(", ") };
        let mut text = format!("{}: {}\n", self.call, self.decision);
        let _ = writeln!(text, "  does: {}\n  session has met: {}", words(&self.effects), words(&self.met));
        for reason in &self.reasons {
            let _ = writeln!(text, "  because: {reason}");
        }
        if !self.roles.is_empty() {
            let _ = writeln!(text, "  decided by: {}", self.roles.join(", "));
        }
        if let Some(decisions) = &self.decisions {
            let names: Vec<&str> = decisions.iter().map(|decision| decision.name()).collect();
            let _ = writeln!(text, "  answers: {}", names.join(", "));
        }
        if let Some(seconds) = self.expires_s {
            let _ = writeln!(text, "  waits for at most: {seconds} s");
        }
        let _ = write!(std::io::stdout(), "{}", printable(&text));
    }
}
