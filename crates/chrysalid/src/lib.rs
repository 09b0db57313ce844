//! Runs programs that an AI agent wrote, in a sandbox, with nothing but what the host hands over; stops them in the
//! middle for a person, stores them, and goes on days later from the same heap.
//!
//! ```
//! use chrysalid::{Approval, Capabilities, Capability, Decision, Engine, Key, Outcome, Restore, TokioTimer, ToolError};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let pay = Capability::new("pay", |amount: std::collections::HashMap<String, u32>| async move {
//!     Ok::<_, ToolError>(format!("paid {}", amount["amount"]))
//! })
//! .approval(Approval::Ask);
//! let tools = Capabilities::new([pay])?;
//! let engine = Engine::builder().pool_slots(0).key(Key::generate()?).build()?;
//!
//! let mut session = engine.session(&tools)?;
//! let Outcome::Paused(pause) = session.run("await tools.pay({ amount: 5 })", &TokioTimer).await? else { panic!() };
//! let bytes = session.snapshot()?; // a few KB: store them, and let this process end
//!
//! let mut session = engine.restore(&bytes, &tools, Restore::Resume)?;
//! session.decide(pause.pending[0].id, Decision::Approve)?;
//! let Outcome::Done(done) = session.resume(&TokioTimer).await? else { panic!() };
//! assert_eq!(done.result?.as_str(), Some("paid 5"));
//! # Ok(())
//! # }
//! ```
//!
//! Concepts, in the order one meets them: an [`Engine`] is what all sessions share. A [`Session`] is one JavaScript heap
//! that lives over many programs. A [`Capability`] is a host function with a schema, effects and approval;
//! [`Capabilities`] is the set that a session has. [`Session::run`] runs a program and returns an [`Outcome`]; under it
//! is the step machine, [`Session::step`] and [`Step`], without async and without a clock. A program that waits for a
//! person is [`Outcome::Paused`]; [`Session::decide`] takes the [`Decision`]. [`Session::snapshot`] and
//! [`Engine::restore`] move a session elsewhere. [`Limits`] bound everything. Values cross as [`Value`].
//!
//! Programs are JavaScript or TypeScript, in the forms in which models write them, and may import [`Modules`] that the host
//! supplies. What a model is told comes from [`Capabilities::catalogue`] and [`interpreter_description`]; what it reads
//! afterwards is a [`Report`].

mod audit;
mod call;
mod capability;
mod catalogue;
mod clock;
#[cfg(feature = "counting")]
#[doc(hidden)]
pub mod counting;
mod decision;
#[cfg(not(feature = "weaken"))]
mod defence;
#[cfg(feature = "weaken")]
#[doc(hidden)]
pub mod defence;
mod engine;
mod error;
mod event;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod idempotency;
mod key;
mod limits;
mod module;
mod outcome;
mod plan;
mod program;
mod report;
mod session;
mod snapshot;
#[cfg(test)]
mod testing;
mod value;

pub use audit::{AuditError, AuditSink, AuditTrail, AuditedRun};
pub use call::{
    Call, CallContext, CallId, CallPlace, CallRecord, CallResult, CallStatus, CancelSignal, DecidedBy, PendingCall,
    ToolError,
};
pub use capability::{Approval, Capabilities, Capability, Delivery};
pub use catalogue::{Catalogue, CatalogueBudget, CatalogueHit, InterpreterOptions, Lifetime, interpreter_description};
/// Deciding outside of a session, as `chrysalid policy explain` does.
pub use chrysalid_policy as policy;
pub use chrysalid_policy::{
    Brought, Budget, Cost, DecisionKind, Effects, Exhausted, Grant, GrantScope, Reason, RuleOfTwo, Rules, RulesError,
    Spent, Taint,
};
#[cfg(feature = "async-io")]
pub use clock::AsyncIoTimer;
#[cfg(feature = "tokio")]
pub use clock::TokioTimer;
pub use clock::{Clock, Random, Timer};
pub use decision::{Decision, Reviewer, Verdict};
pub use engine::{Checkpoint, Engine, EngineBuilder};
pub use error::{Error, ErrorKind, Result};
pub use event::{Event, EventSink};
pub use key::{Key, KeyError, KeyId, KeyPlaces};
pub use limits::{Limits, WhenSpent};
pub use module::Modules;
pub use outcome::{Ended, Failure, FailureKind, Heap, LogLevel, LogLine, Outcome, Pause, Position, Step};
pub use plan::{Plan, PlanName, PlanPlace, PlanRefusal, PlanTool, PlanUnknown, PlanUsage};
pub use report::{
    CauseKind, Report, ReportCall, ReportCause, ReportError, ReportMet, ReportPending, ReportStatus, ReportStyle,
};
pub use session::{GrantRecord, Interrupt, Ledger, RunBudget, Session, SessionOptions, SharedSession};
pub use snapshot::{Inspection, Restore, SealedInspection, image_id};
pub use value::{
    BigInt, BigIntRangeError, ErrorValue, Handle, Object, ObjectIter, ParseBigIntError, RegExp, TypedArray,
    TypedArrayKind, Value, ValueError, from_value, to_value,
};
