//! What the command line says. Decisions keep the order in which they were given, so that a `--reason` belongs to the
//! `--reject` before it.

mod amount;
mod decisions;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

pub(crate) use amount::duration;
pub(crate) use decisions::Decisions;

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

/// What `run`, `resume` and `repl` share.
#[derive(Debug, Args)]
pub(crate) struct HostArguments {
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
