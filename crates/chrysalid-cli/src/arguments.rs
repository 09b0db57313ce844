//! What the command line says. Decisions keep the order in which they were given, so that a `--reason` belongs to the
//! `--reject` before it.

mod amount;
mod decisions;

use std::path::PathBuf;
use std::time::Duration;

use chrysalid::{Effects, Grant};
use clap::{Args, Parser, Subcommand};

pub(crate) use amount::duration;
pub(crate) use decisions::{Decided, Decisions};

const EXIT_STATUSES: &str = "Exit status: 0 done, 1 the program failed, 2 usage, 3 paused, 4 a limit, \
5 an uncaught denial, 6 a saved file was refused, 70 internal.";

/// Runs programs that an AI agent wrote, in a sandbox, with nothing but the tools they are handed. A program that
/// needs a person's decision is paused, saved, and resumed from the same point.
#[derive(Debug, Parser)]
#[command(name = "chrysalid", version, after_help = EXIT_STATUSES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a program
    Run(RunArguments),
    /// Go on with a saved program
    Resume(ResumeArguments),
    /// Tell what a saved program waits for
    Inspect(InspectArguments),
    /// Run programs one after the other in one session, as they are typed
    Repl(ReplArguments),
    /// Print what a model is told of the interpreter and its tools
    Tools(ToolsArguments),
    /// Tell which tools a program can reach, without running it
    Plan(PlanArguments),
    /// Check a policy, or explain what it decides
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Look into an audit trail
    #[command(subcommand)]
    Audit(AuditCommand),
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The program, JavaScript; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) program: PathBuf,
    /// Tools that the program may call
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// Where the program is saved when it pauses
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Ask a person about the program as a whole before any of it runs
    #[arg(long)]
    pub(crate) approve_program: bool,
    #[command(flatten)]
    pub(crate) given: GivenArguments,
    #[command(flatten)]
    pub(crate) host: HostArguments,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArguments {
    /// The saved program
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Tools that the program may call
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) decisions: Decisions,
    #[command(flatten)]
    pub(crate) given: GivenArguments,
    /// Go on without the policy that the program was saved under
    #[arg(long)]
    pub(crate) without_policy: bool,
    /// Let the session make so many more calls than --session-calls
    #[arg(long, value_name = "N")]
    pub(crate) more_calls: Option<u32>,
    /// Save the next pause there instead of in FILE, which then says so
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Go on beside the original, as a run with its own id; after a crash, go on from the pause before it
    #[arg(long)]
    pub(crate) fork: bool,
    #[command(flatten)]
    pub(crate) host: HostArguments,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// The saved program
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Show the arguments of waiting calls
    #[arg(long)]
    pub(crate) values: bool,
    /// The key that opens it; else `CHRYSALID_KEY`, `CHRYSALID_KEY_FILE`, or the key in the state folder
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplArguments {
    /// Tools that programs may call
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) who: WhoArguments,
    #[command(flatten)]
    pub(crate) host: HostArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ToolsArguments {
    /// The tools
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: PathBuf,
    /// Folder whose files programs may import
    #[arg(long, value_name = "DIR")]
    pub(crate) modules: Option<PathBuf>,
    /// Characters up to which the declarations of tools are printed in full [default: 4000]
    #[arg(long, value_name = "N")]
    pub(crate) budget: Option<usize>,
    /// Print one JSON document, with the schemas
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    /// The program, JavaScript; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) program: PathBuf,
    /// Tools that the program may call
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Read a policy and try its examples
    Check(CheckArguments),
    /// Tell what would be decided about a call, and why
    Explain(ExplainArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The policy
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Tools that it is for: patterns that none of them fits are told
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The tool
    #[arg(long, value_name = "NAME")]
    pub(crate) call: String,
    /// Its arguments
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) args: String,
    /// What the session has met, of private, untrusted, acts
    #[arg(long, value_name = "EFFECTS", value_delimiter = ',', value_parser = effect)]
    pub(crate) taint: Vec<Effects>,
    /// What the tool does, where no tools file says so
    #[arg(long, value_name = "EFFECTS", value_delimiter = ',', value_parser = effect)]
    pub(crate) effects: Option<Vec<Effects>>,
    /// The policy; without one, the rule of two alone
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// The tools, which say what each does
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Check that no line of a trail was changed, removed or put in
    Verify(VerifyArguments),
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// The trail
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// A saved program whose lines must all be there
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// The key that opens the saved program
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Who decides.
#[derive(Debug, Args)]
pub(crate) struct WhoArguments {
    /// Who decides, as records name them
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// A role of whoever decides; any number of times
    #[arg(long = "role", value_name = "ROLE")]
    pub(crate) roles: Vec<String>,
}

/// Who decides, what they allow beforehand, and where that is written down.
#[derive(Debug, Args)]
pub(crate) struct GivenArguments {
    #[command(flatten)]
    pub(crate) who: WhoArguments,
    /// Allow some calls beforehand, such as 'tools = "mail.send", count = 5, lasts = "1h"'; any number of times
    #[arg(long = "grant", value_name = "TOML", value_parser = grant)]
    pub(crate) grants: Vec<Grant>,
    /// Append a line for each decision to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
}

fn effect(name: &str) -> Result<Effects, String> {
    Effects::from_name(name).ok_or_else(|| format!("{name:?} is none of: private, untrusted, acts"))
}

fn grant(text: &str) -> Result<Grant, String> {
    Grant::parse(text).map_err(|error| error.to_string())
}

/// What `run`, `resume` and `repl` share.
#[derive(Debug, Args)]
pub(crate) struct HostArguments {
    /// Rules for the calls of programs
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Folder whose files programs may import
    #[arg(long, value_name = "DIR")]
    pub(crate) modules: Option<PathBuf>,
    /// The key that seals saved programs; else `CHRYSALID_KEY`, `CHRYSALID_KEY_FILE`, or the key in the state folder
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Most memory of the program, such as 64MiB
    #[arg(long, value_name = "SIZE", value_parser = amount::size)]
    pub(crate) memory: Option<usize>,
    /// Most CPU time of the program, such as 5s or 500ms
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) cpu_time: Option<Duration>,
    /// Most time of the program outside of pauses, such as 2m [default: none]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) wall_time: Option<Duration>,
    /// Most calls of all programs of the session [default: none]
    #[arg(long, value_name = "N")]
    pub(crate) session_calls: Option<u32>,
    /// Ask a person about a call for which a budget of calls has no room, instead of refusing it
    #[arg(long)]
    pub(crate) ask_when_spent: bool,
}

impl Arguments {
    /// The arguments of this process.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        Self::try_parse()
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Arguments;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
