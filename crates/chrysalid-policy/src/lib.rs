//! Policy decisions of Chrysalid: which effects a capability has, which of them a session has already met, and
//! what follows for the next call.
//!
//! Pure and total: no clock, no I/O, no async, no panic. The engine asks [`decide`] inside its step machine, with
//! exactly the arguments that would run.
//!
//! ```
//! use chrysalid_policy::{Decision, Effects, Request, RuleOfTwo, Rules, Taint, decide};
//!
//! let rules = Rules::with_rule_of_two(RuleOfTwo::On);
//! let mut taint = Taint::default();
//! taint.join(Effects::PRIVATE | Effects::UNTRUSTED, "1.1");
//! let mail = Request { name: "mail.send", effects: Effects::ACTS, ask: false };
//! assert!(matches!(decide(&mail, &taint, &rules), Decision::Ask { .. }));
//! ```
//!
//! Concepts, in the order one meets them: [`Effects`] of a capability, the [`Taint`] of a session, a [`Request`],
//! the [`Rules`], and the [`Decision`].

mod decide;
mod effects;
mod taint;

pub use decide::{Decision, Reason, Request, RuleOfTwo, Rules, decide};
pub use effects::Effects;
pub use taint::{Brought, Taint};
