//! What a program is handed: named host functions with a schema, effects, approval and limits.
//!
//! A [`Capability`] reads like an ordinary async function; its types are erased at the door. [`Capabilities`] is the
//! set that a session has. The order of checks for a call is in `session/admit.rs`.

mod builder;
mod handler;
mod narrow;
mod schema;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use chrysalid_policy::{Effects, Terms};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::catalogue::{self, Catalogue};
use crate::error::{Error, ErrorKind, Result};
use crate::value::Value;
pub(crate) use handler::{Handler, HandlerFuture, erase_raw};
pub(crate) use narrow::Narrow;
pub(crate) use schema::Schema;

/// Whether a person is asked before each call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Approval {
    /// The rules alone decide.
    #[default]
    Never,
    /// Each call waits for a person.
    Ask,
}

/// How the result of a capability reaches the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Delivery {
    /// As a value. The session meets the capability's effects.
    #[default]
    Value,
    /// As an opaque handle: the value stays with the host. A program may keep a handle, compare it and pass it to another
    /// call, whose tool gets the value; `await reveal(handle)` gives the program the value, and the session meets the
    /// effects then. What an error says is kept from the program as well.
    Handle,
    /// As a value that brings neither private data nor untrusted content, because its output schema lets only booleans, bounded
    /// numbers, dates and listed values through. Each result counts against
    /// [`Limits::declassified_bits`](crate::Limits::declassified_bits); when that is used up, results are delivered as
    /// [`Delivery::Value`]. A result that does not fit, and what an error says, are kept from the program.
    Declassified,
}

type Predicate = Arc<dyn Fn(&Value) -> bool + Send + Sync>;

/// A named host function that a program may call as `tools.<name>(argument)`.
///
/// ```
/// use chrysalid::{Approval, Capability, Effects};
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct Mail { to: String, text: String }
///
/// let mail = Capability::new("mail.send", |mail: Mail| async move {
///     Ok::<_, chrysalid::ToolError>(format!("{} bytes to {}", mail.text.len(), mail.to))
/// })
/// .description("Sends a mail.")
/// .effects(Effects::ACTS)
/// .approval(Approval::Ask);
/// assert_eq!(mail.name(), "mail.send");
/// ```
#[derive(Clone)]
pub struct Capability {
    name: String,
    description: String,
    handler: Option<Arc<dyn Handler>>,
    input: Option<serde_json::Value>,
    output: Option<serde_json::Value>,
    schema: Option<Arc<Schema>>,
    effects: Option<Effects>,
    approval: Approval,
    ask_when: Option<Predicate>,
    delivery: Delivery,
    narrow: Option<Arc<Narrow>>,
    /// [`Capability::definition`], once it is one of [`Capabilities`].
    definition: [u8; 16],
    subagent: bool,
    global: bool,
    terms: Terms,
    session_calls: Option<u32>,
    timeout: Option<Duration>,
    max_calls: Option<u32>,
    concurrency: Option<u32>,
    idempotent: bool,
}

impl Capability {
    /// Its name; dots make namespaces.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its description.
    #[must_use]
    pub fn description_text(&self) -> &str {
        &self.description
    }

    pub(crate) fn schema(&self) -> Option<&Schema> {
        self.schema.as_deref()
    }

    pub(crate) fn handler(&self) -> Option<&Arc<dyn Handler>> {
        self.handler.as_ref()
    }

    pub(crate) fn declared_effects(&self) -> Option<Effects> {
        self.effects
    }

    /// Whether a person is asked about each call.
    pub(crate) fn asks(&self) -> bool {
        self.approval == Approval::Ask
    }

    /// Whether a person is asked about these arguments. A predicate that panics means yes.
    pub(crate) fn asks_about(&self, argument: &Value) -> bool {
        self.ask_when.as_ref().is_some_and(|predicate| {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| predicate(argument))).unwrap_or(true)
        })
    }

    pub(crate) fn delivers(&self) -> Delivery {
        self.delivery
    }

    /// The schema of declassified results.
    pub(crate) fn narrow(&self) -> Option<&Narrow> {
        self.narrow.as_deref()
    }

    pub(crate) fn is_subagent(&self) -> bool {
        self.subagent
    }

    /// Who decides about a call, for how long, and how.
    pub(crate) fn terms(&self) -> Terms {
        self.terms.clone()
    }

    pub(crate) fn session_calls_limit(&self) -> Option<u32> {
        self.session_calls
    }

    pub(crate) fn timeout_limit(&self) -> Option<Duration> {
        self.timeout
    }

    pub(crate) fn max_calls_limit(&self) -> Option<u32> {
        self.max_calls
    }

    pub(crate) fn concurrency_limit(&self) -> Option<u32> {
        self.concurrency
    }

    /// Whether a second call with the same key does nothing new.
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        self.idempotent
    }

    fn declassifies(&self) -> Result<Narrow> {
        let refuse = |problem: String| {
            Error::new(ErrorKind::Capability, format!("capability {:?} cannot be declassified: {problem}", self.name))
        };
        let output = self.output.as_ref().ok_or_else(|| refuse("it has no output schema".to_owned()))?;
        Narrow::of(output).map_err(refuse)
    }

    fn catalogued(&self) -> catalogue::Tool {
        catalogue::Tool {
            name: self.name.clone(),
            description: self.description.clone(),
            schema: self.input.clone(),
            returns: self.output.clone(),
            asks: self.approval == Approval::Ask || self.ask_when.is_some(),
            gives_handle: self.delivery == Delivery::Handle,
            global: self.global,
        }
    }

    /// Digest over what an approver relies on; a change while a call waits is shown to them.
    pub(crate) fn definition(&self) -> [u8; 16] {
        self.definition
    }

    /// Takes writing out the schema.
    fn define(&self) -> [u8; 16] {
        let mut hash = Sha256::new();
        for part in [self.name.as_str(), self.description.as_str()] {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
        hash.update(self.input.as_ref().map(ToString::to_string).unwrap_or_default());
        hash.update([u8::from(self.approval == Approval::Ask), self.delivery as u8]);
        hash.finalize().first_chunk().copied().unwrap_or_default()
    }
}

impl fmt::Debug for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capability")
            .field("name", &self.name)
            .field("effects", &self.effects)
            .field("approval", &self.approval)
            .finish_non_exhaustive()
    }
}

/// The capabilities of a session, by name. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Capabilities {
    by_name: Arc<BTreeMap<String, Arc<Capability>>>,
    catalogue: Catalogue,
    digest: [u8; 32],
}

impl Capabilities {
    /// The empty set: a program starts with nothing but the language.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// A set of capabilities.
    ///
    /// Any text may be a name; dots make namespaces. What is no identifier is called by its name, as
    /// `tools["get-user"](...)`, and by an alias, `tools.getUser(...)`, unless another tool could be meant. `then` and
    /// `toJSON`, to which the language gives a meaning, are reached as `then_` and `toJSON_`.
    ///
    /// # Errors
    /// [`ErrorKind::Capability`] when a name is empty, has an empty part or control characters, begins with `$` or is
    /// longer than 256 bytes, when that of a global means something else, when two capabilities could not both be reached, when a schema does not compile, or when the
    /// output schema of a declassified one is missing or lets too much through.
    pub fn new(capabilities: impl IntoIterator<Item = Capability>) -> Result<Self> {
        let mut by_name = BTreeMap::new();
        for mut capability in capabilities {
            if let Some(input) = &capability.input {
                capability.schema = Some(Arc::new(Schema::compile(&capability.name, input)?));
            }
            if capability.delivery == Delivery::Declassified {
                capability.narrow = Some(Arc::new(capability.declassifies()?));
            }
            if by_name.contains_key(&capability.name) {
                return Err(Error::new(
                    ErrorKind::Capability,
                    format!("two capabilities are named {:?}", capability.name),
                ));
            }
            capability.definition = capability.define();
            by_name.insert(capability.name.clone(), Arc::new(capability));
        }
        if by_name.is_empty() {
            return Ok(Self::none());
        }
        let mut hash = Sha256::new();
        for capability in by_name.values() {
            hash.update(capability.name.len().to_le_bytes());
            hash.update(&capability.name);
            hash.update([u8::from(capability.global)]);
        }
        let catalogue = Catalogue::new(by_name.values().map(|capability| capability.catalogued()).collect())
            .map_err(|error| Error::new(ErrorKind::Capability, error.to_string()))?;
        Ok(Self { by_name: Arc::new(by_name), catalogue, digest: hash.finalize().into() })
    }

    /// The capability with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Capability> {
        self.by_name.get(name).map(Arc::as_ref)
    }

    pub(crate) fn shared(&self, name: &str) -> Option<Arc<Capability>> {
        self.by_name.get(name).cloned()
    }

    /// All of them, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Capability> {
        self.by_name.values().map(Arc::as_ref)
    }

    /// The set in words for a model.
    #[must_use]
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Where the program finds them: whether the path is hidden from enumeration, the path, and the name. A name that
    /// is a path of its own hides the other path to it.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (bool, &str, &str)> {
        let plain: std::collections::BTreeSet<&str> =
            self.catalogue.paths().filter(|(path, name)| path == name).map(|(_, name)| name).collect();
        let global = |name: &str| self.get(name).is_some_and(|capability| capability.global);
        self.catalogue
            .paths()
            .map(move |(path, name)| (path != name && plain.contains(name) || global(name), path, name))
    }

    /// Names of those that are global functions.
    pub(crate) fn globals(&self) -> impl Iterator<Item = &str> {
        self.iter().filter(|capability| capability.global).map(Capability::name)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Whether the rule of two holds for this set by default: as soon as one capability declares effects.
    #[must_use]
    pub fn declare_effects(&self) -> bool {
        self.iter().any(|capability| capability.effects.is_some())
    }

    /// Whether programs get handles.
    pub(crate) fn deliver_handles(&self) -> bool {
        self.iter().any(|capability| capability.delivery == Delivery::Handle)
    }

    /// Digest over what decides what `tools` and the globals look like.
    pub(crate) fn names_digest(&self) -> [u8; 32] {
        self.digest
    }
}

#[cfg(test)]
mod tests {
    use super::{Capabilities, Capability};
    use crate::ErrorKind;

    fn refusal(names: &[&str]) -> String {
        let error = Capabilities::new(names.iter().map(|name| Capability::external(*name))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Capability);
        error.to_string()
    }

    #[test]
    fn names() {
        for good in
            ["a", "orders.find", "get-weather", "_x", "2fa", "a b", "delete", "__proto__", "constructor", "then"]
        {
            Capabilities::new([Capability::external(good)]).unwrap();
        }
        for bad in ["", ".", "a.", ".a", "a..b", "a\nb", "$x"] {
            refusal(&[bad]);
        }
    }

    #[test]
    fn two_of_one_name_are_refused() {
        assert_eq!(refusal(&["a", "a"]), "two capabilities are named \"a\"");
    }

    #[test]
    fn two_that_hide_each_other_are_refused_in_any_order() {
        for names in [["get-user", "getUser"], ["getUser", "get-user"]] {
            let message = refusal(&names);
            assert!(message.contains("\"get-user\"") && message.contains("\"getUser\""), "{message}");
        }
        for names in [["a", "a.b"], ["a.b", "a"]] {
            let message = refusal(&names);
            assert!(message.contains("\"a\"") && message.contains("\"a.b\""), "{message}");
        }
    }
}
