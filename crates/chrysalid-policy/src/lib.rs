//! Policy decisions of Chrysalid: which effects a capability has, which of them a session has already met, and
//! what follows for the next call.
//!
//! Pure and total: no clock, no I/O, no async, no panic. The engine asks [`decide`] inside its step machine, with
//! exactly the arguments that would run.
//!
//! ```
//! use chrysalid_policy::{Decision, Effects, Reason, Request, Rules, Ruling, Taint, decide};
//! use serde_json::json;
//!
//! let rules = Rules::parse(r#"
//! rule_of_two = "on"      # "on", "strict" or "off"; left out: on as soon as one tool is labelled with its effects
//! default = "allow"       # where no rule decides: "allow", "ask" or "deny"
//! expires = "24h"         # of every question, unless a rule is shorter; left out: never
//!
//! [[rules]]
//! tools = ["pay", "bank.*"]                         # *: any run without a dot; **: any run
//! when = { amount = { above = 100 } }               # all must hold; or cannot be told, since to ask is stricter
//! decision = "ask"
//! reason = "more than 100 is paid by the treasurer"
//! role = "treasurer"
//! expires = "1h"
//! decisions = ["approve", "reject"]
//! allow = [{ tool = "pay", args = { amount = 100 } }]       # examples: tried when the text is read
//! ask = [{ tool = "pay", args = { amount = 100.5 } }, { tool = "bank.send", args = { amount = "7" } }]
//!
//! [[rules]]
//! tools = "mail.send"
//! when = { "to[].address" = { domain_not_in = ["own.example", "*.own.example"] } }
//! met = ["private"]                                 # once the session has met private data
//! decision = "deny"
//! reason = "private data stays in the house"
//! deny = [{ tool = "mail.send", args = { to = [{ address = "x@evil.example" }] }, met = ["private"] }]
//!
//! [[rules]]
//! tools = "web.get"
//! when = { url = { domain_in = "docs.own.example" } }
//! clears = ["untrusted"]                            # of calls that surely match
//! "#)?;
//!
//! let mut taint = Taint::default();
//! let pay = json!({"amount": 250});
//! let request = Request { name: "pay", argument: &pay, effects: Effects::ACTS, carried: Effects::NONE, ask: false };
//! let Decision::Ask(ask) = decide(&request, &taint, &rules) else { panic!("not asked") };
//! assert_eq!(ask.reasons[0].to_string(), "\"more than 100 is paid by the treasurer\" (policy line 6)");
//! assert_eq!(ask.terms.roles, ["treasurer"]);
//!
//! let mail = json!({"to": [{"address": "ann@own.example"}, {"address": "x@evil.example"}]});
//! let request = Request { name: "mail.send", argument: &mail, ..request };
//! assert_eq!(decide(&request, &taint, &rules), Decision::Allow);
//! taint.join(Effects::PRIVATE, "budget.read (call 1.1, line 3)");
//! assert_eq!(decide(&request, &taint, &rules).ruling(), Ruling::Deny);
//!
//! let page = json!({"url": "https://docs.own.example/a"});
//! let request = Request { name: "web.get", argument: &page, effects: Effects::UNTRUSTED, ..request };
//! assert_eq!(rules.effects(&request), Effects::NONE);
//! # Ok::<(), chrysalid_policy::RulesError>(())
//! ```
//!
//! # Two directions
//!
//! Not every test can be told of every value: a number may have come as text, an address can be read in two ways, a
//! value may be kept on the host. What tightens (to ask, to deny, to add effects) then holds; what loosens (to allow over
//! the default, to clear effects, a [`Grant`]) does not. Over many values, one is enough to tighten, and to loosen
//! there must be one and all must pass. The strictest decision wins.
//!
//! A rule lifts the default only where it surely matches, and not by `met` or `has`: so under `default = "deny"` a rule
//! that asks lets a person allow what it surely describes, and nothing else.
//!
//! # Tests
//!
//! A path of `when` leads to a value: `to`, `"user.name"`, `"items[].amount"` (of each item), `'a\.b'` (a key with a
//! dot). A text, a number or a boolean there has to be equal; else there is a table of tests, and all of them must hold
//! of the same value:
//!
//! | test | holds of |
//! |---|---|
//! | `is`, `not`, `in`, `not_in` | a value that is, or is not, one of these; numbers are equal in whatever form |
//! | `above`, `at_least`, `below`, `at_most` | a number; a date, where the bound is a date-time with its offset |
//! | `starts_with`, `ends_with`, `contains` | a text, byte for byte; also with `not_` before them |
//! | `within`, `not_within` | a path under a folder; absolute, without `..`, `.`, empty parts, controls, backslashes |
//! | `domain_in`, `domain_not_in` | a mail address, a URL (http, https, ws, wss) or a host of that domain, whatever the port |
//! | `longer_than`, `shorter_than` | the bytes of a text in UTF-8, the length of bytes, the entries of a list or map |
//! | `present` | a value that is there, whatever it is (`true`), or a missing key (`false`) |
//!
//! Where a URL leads is not told by how it starts: `https://own.example@evil.example/` goes to the latter, and only
//! `domain_in` sees that. Each test takes a single value or, where it makes sense, a list. On a list as argument each item is tested, save for
//! sizes and `present`. A missing key is not `in` anything and passes `not`; other tests of it cannot be told, just as
//! those of a value of another kind. `null` is a value of its own kind, and whether it counts as present cannot be told.
//! Two paths are tested apart: `"items[].a"` and `"items[].b"` may hold of different items.
//!
//! Concepts, in the order one meets them: [`Effects`] of a capability, the [`Taint`] of a session, a [`Request`] with its
//! [`Argument`], the [`Rules`], the [`Decision`] with its [`Reason`]s, a [`Grant`] before and a [`Budget`] beside it.

mod argument;
mod budget;
mod decide;
mod document;
mod domain;
mod duration;
mod effects;
mod folder;
mod grant;
mod literal;
mod moment;
mod number;
mod path;
mod pattern;
mod quote;
mod reason;
mod rule_of_two;
mod rules;
#[cfg(test)]
mod sample;
mod taint;
mod test;
mod truth;

pub use argument::{Argument, View};
pub use budget::{Budget, Cost, Exhausted, Resource, Scope, Spent};
pub use decide::{Ask, Decision, DecisionKind, Request, Terms, decide};
pub use document::RulesError;
pub use effects::Effects;
pub use grant::{Grant, GrantScope};
pub use reason::{Reason, Ruling};
pub use rule_of_two::RuleOfTwo;
pub use rules::Rules;
pub use taint::{Brought, Taint};
