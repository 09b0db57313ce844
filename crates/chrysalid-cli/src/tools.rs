//! The tools of a `tools.toml`: commands that a program may call. `manifest` reads the file, `command` runs one call.

mod command;
mod manifest;

use std::path::Path;
use std::sync::Arc;

use chrysalid::{Approval, Capabilities, Capability};

use crate::console::Console;
use crate::exit::Refusal;
use command::ToolCommand;
pub(crate) use manifest::Manifest;
use manifest::{Ask, Tool};

/// The tools of a file; none without one. A call asks `console` before its command starts.
pub(crate) fn load(path: Option<&Path>, console: &Arc<Console>) -> Result<Capabilities, Refusal> {
    path.map_or_else(|| Ok(Capabilities::none()), |path| capabilities(&Manifest::read(path)?, console))
}

/// The tools of a file that was read.
pub(crate) fn capabilities(manifest: &Manifest, console: &Arc<Console>) -> Result<Capabilities, Refusal> {
    let path = manifest.path();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Commands run elsewhere than this process.
    let folder = folder.canonicalize().map_err(|error| Refusal::unreadable(path, &error))?;
    let mut capabilities = Vec::new();
    for (name, tool) in manifest.tools() {
        let capability = capability(name.get_ref(), tool, &folder, console);
        // One at a time, so that the error can name the line.
        Capabilities::new([capability.clone()])
            .map_err(|error| manifest.refuse(name.span().start, &error.to_string()))?;
        capabilities.push(capability);
    }
    // What is wrong now is between two of them, and names both.
    Capabilities::new(capabilities).map_err(|error| Refusal::from(error).within(path))
}

fn capability(name: &str, tool: &Tool, folder: &Path, console: &Arc<Console>) -> Capability {
    let command = Arc::new(ToolCommand::new(name, &tool.command, folder));
    let console = console.clone();
    let mut capability = Capability::raw(name, move |context, argument| {
        let (command, console) = (command.clone(), console.clone());
        async move {
            console.may_start()?;
            command.run(&context, &argument).await
        }
    })
    .description(&*tool.description)
    .approval(match tool.approval {
        Ask::Never => Approval::Never,
        Ask::Ask => Approval::Ask,
    })
    .idempotent(tool.idempotent);
    if let Some(input) = &tool.input {
        capability = capability.input_schema(serde_json::Value::Object(input.clone()));
    }
    if let Some(output) = &tool.output {
        capability = capability.output_schema(serde_json::Value::Object(output.clone()));
    }
    if let Some(effects) = tool.effects() {
        capability = capability.effects(effects);
    }
    if let Some(timeout) = tool.timeout {
        capability = capability.timeout(timeout.0);
    }
    if let Some(calls) = tool.concurrency {
        capability = capability.concurrency(calls.get());
    }
    if let Some(calls) = tool.max_calls {
        capability = capability.max_calls(calls);
    }
    if let Some(calls) = tool.max_calls_per_session {
        capability = capability.max_calls_per_session(calls);
    }
    if let Some(expires) = tool.approval_expires {
        capability = capability.approval_expiry(expires.0);
    }
    if tool.subagent {
        capability = capability.subagent();
    }
    capability = tool.approval_role.iter().fold(capability.delivery(tool.deliver), Capability::approval_role);
    capability
}
