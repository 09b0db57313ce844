//! How a capability is made: from an async closure, whose types are erased at the door, with its options.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use chrysalid_policy::{DecisionKind, Effects, Terms};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::handler::{self, Handler};
use super::{Approval, Capability, Delivery};
use crate::call::{CallContext, CallResult, ToolError};
use crate::value::Value;

impl Capability {
    /// A capability from an async closure. The argument is read with serde, the result written with it.
    pub fn new<A, R, E, F, Fut>(name: impl Into<String>, function: F) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        R: Serialize + 'static,
        E: Into<ToolError> + 'static,
        F: Fn(A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = std::result::Result<R, E>> + Send + 'static,
    {
        Self::with_context(name, move |_, argument| function(argument))
    }

    /// As [`Capability::new`]; the closure also gets the call's id, idempotency key and cancel signal.
    pub fn with_context<A, R, E, F, Fut>(name: impl Into<String>, function: F) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        R: Serialize + 'static,
        E: Into<ToolError> + 'static,
        F: Fn(CallContext, A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = std::result::Result<R, E>> + Send + 'static,
    {
        Self::bare(name.into(), Some(handler::erase(function)))
    }

    /// As [`Capability::with_context`] without serde: for arguments and results that keep every JavaScript type.
    pub fn raw<F, Fut>(name: impl Into<String>, function: F) -> Self
    where
        F: Fn(CallContext, Value) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = CallResult> + Send + 'static,
    {
        Self::bare(name.into(), Some(handler::erase_raw(function)))
    }

    /// A capability that something outside answers, by [`crate::Session::settle`]; it keeps no `run` waiting.
    pub fn external(name: impl Into<String>) -> Self {
        Self::bare(name.into(), None)
    }

    fn bare(name: String, handler: Option<Arc<dyn Handler>>) -> Self {
        Self {
            name,
            description: String::new(),
            handler,
            input: None,
            output: None,
            schema: None,
            effects: None,
            approval: Approval::Never,
            ask_when: None,
            delivery: Delivery::Value,
            narrow: None,
            definition: [0; 16],
            subagent: false,
            global: false,
            terms: Terms::default(),
            session_calls: None,
            timeout: None,
            max_calls: None,
            concurrency: None,
            idempotent: false,
        }
    }

    /// What it does, for the model and for the person who approves.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = text.into();
        self
    }

    /// JSON Schema of the argument; checked on the host before anything else happens.
    #[must_use]
    pub fn input_schema(mut self, schema: serde_json::Value) -> Self {
        self.input = Some(schema);
        self
    }

    /// JSON Schema of the result, for whoever reads the catalogue. Results are checked against it only under
    /// [`Delivery::Declassified`].
    #[must_use]
    pub fn output_schema(mut self, schema: serde_json::Value) -> Self {
        self.output = Some(schema);
        self
    }

    /// What it does to the world. Declaring effects on one capability of a set switches the rule of two on for the set.
    #[must_use]
    pub fn effects(mut self, effects: Effects) -> Self {
        self.effects = Some(effects);
        self
    }

    /// Whether each call asks a person. Default [`Approval::Never`].
    #[must_use]
    pub fn approval(mut self, approval: Approval) -> Self {
        self.approval = approval;
        self
    }

    /// Asks a person when the predicate says so, or fails by panicking.
    #[must_use]
    pub fn ask_when(mut self, predicate: impl Fn(&Value) -> bool + Send + Sync + 'static) -> Self {
        self.ask_when = Some(Arc::new(predicate));
        self
    }

    /// How its results reach the program. Default [`Delivery::Value`].
    #[must_use]
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// That each call spawns a subagent, for [`Budget::spawns`](crate::Budget::spawns). Default no.
    #[must_use]
    pub fn subagent(mut self) -> Self {
        self.subagent = true;
        self
    }

    /// That a program may call it as `name(argument)`, a global function that no program can replace; `tools` does not list it
    /// then. Its name must be an identifier to which the language gives no meaning. Default no.
    #[must_use]
    pub fn global(mut self) -> Self {
        self.global = true;
        self
    }

    /// A role that whoever decides about a call must have. May be given several times: every one is needed.
    #[must_use]
    pub fn approval_role(mut self, role: impl Into<String>) -> Self {
        self.terms.join(&Terms { roles: vec![role.into()], ..Terms::default() });
        self
    }

    /// How long a call waits for a person before the program gets `ApprovalExpired`. Default for ever.
    #[must_use]
    pub fn approval_expiry(mut self, expiry: Duration) -> Self {
        self.terms.expires = Some(expiry);
        self
    }

    /// What whoever decides may answer. Default everything.
    #[must_use]
    pub fn approval_decisions(mut self, decisions: impl IntoIterator<Item = DecisionKind>) -> Self {
        self.terms.decisions = Some(decisions.into_iter().collect());
        self
    }

    /// Calls per session, over all of its programs. Default the session's budget.
    #[must_use]
    pub fn max_calls_per_session(mut self, calls: u32) -> Self {
        self.session_calls = Some(calls);
        self
    }

    /// How long one call may run. Default: as long as the program.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Calls per program. Default: the budget of the program.
    #[must_use]
    pub fn max_calls(mut self, calls: u32) -> Self {
        self.max_calls = Some(calls);
        self
    }

    /// Calls at one time; the rest queue. Default: the program's.
    #[must_use]
    pub fn concurrency(mut self, calls: u32) -> Self {
        self.concurrency = Some(calls);
        self
    }

    /// Whether a second call with the same idempotency key does nothing new. Default `false`.
    #[must_use]
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = idempotent;
        self
    }
}
