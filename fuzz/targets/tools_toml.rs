//! A file of tools as an operator could have written it, or a model for him.

#![no_main]

extern crate chrysalid_parts as chrysalid;

#[path = "../../crates/chrysalid-cli/src/arguments/amount.rs"]
#[allow(dead_code)]
mod amount;
#[path = "../../crates/chrysalid-cli/src/tools/manifest.rs"]
#[allow(dead_code)]
mod manifest;

mod arguments {
    pub(crate) use super::amount::duration;
}

/// What the command line's refusal is to the reader of the file.
mod exit {
    pub(crate) struct Refusal {
        pub(crate) message: String,
    }

    impl Refusal {
        pub(crate) fn usage(message: impl Into<String>) -> Self {
            Self { message: message.into() }
        }
    }
}

/// No file is read here.
mod text_file {
    use std::path::Path;

    use super::exit::Refusal;

    pub(crate) struct Wrong;

    impl Wrong {
        #[allow(clippy::unused_self)]
        pub(crate) fn refusal(self, what: &str, _: &Path) -> Refusal {
            Refusal::usage(what)
        }
    }

    pub(crate) fn of_regular(_: &Path, _: usize) -> Result<String, Wrong> {
        Err(Wrong)
    }
}

use std::path::Path;

use chrysalid::{Capabilities, Capability, Value};
use manifest::Manifest;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Manifest::parse(Path::new("tools.toml"), text.to_owned()) {
        Ok(manifest) => {
            for (name, tool) in manifest.tools() {
                assert!(!tool.command.is_empty());
                let _ = tool.effects();
                let mut capability = Capability::raw(name.get_ref(), |_, _| std::future::ready(Ok(Value::Undefined)));
                if let Some(schema) = &tool.input {
                    capability = capability.input_schema(serde_json::Value::Object(schema.clone()));
                }
                if let Err(error) = Capabilities::new([capability]) {
                    names_a_line(&manifest.refuse(name.span().start, &error.to_string()).message, text);
                }
            }
        }
        Err(refusal) => names_a_line(&refusal.message, text),
    }
});

fn names_a_line(message: &str, text: &str) {
    let line = message.strip_prefix("tools.toml:").and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
    let line = line.expect("a refusal names its line");
    assert!((1..=text.matches('\n').count() + 1).contains(&line), "{message}");
}
