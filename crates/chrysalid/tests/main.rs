//! The engine from outside: one module per noun. Time is virtual (`support::World`), so nothing here sleeps.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "tests assert by panicking, and what only they have read is not from outside"
)]

mod abi;
mod afterwards;
mod approvals;
mod arithmetic;
mod attacks;
mod attacks_policy;
mod audit;
mod budgets;
mod calls;
mod cases_a;
mod cases_c;
mod cases_h;
mod cases_l;
mod cases_m;
mod cases_o;
mod cases_r;
mod cases_s;
mod cases_t;
mod cases_x;
#[cfg(feature = "fuzzing")]
mod chains;
mod collection;
mod console;
#[cfg(feature = "fuzzing")]
mod corpus;
mod cpu;
mod data_work;
mod delivery;
mod fairness;
mod fork;
mod garbage;
#[cfg(feature = "fuzzing")]
mod generated;
mod globals;
mod grants;
#[cfg(feature = "fuzzing")]
mod guest_garbage;
mod handles;
mod host_memory;
mod host_time;
mod hostile_globals;
mod interpreter;
mod isolation;
mod limits;
mod locale;
mod measure;
mod modules;
mod nesting;
mod policy_properties;
mod programs;
mod recursion;
mod rules;
mod runs;
mod same_result;
#[path = "garbage/script.rs"]
mod script;
mod searches;
mod session;
mod snapshots;
mod soak;
mod stops;
mod storing;
mod support;
mod suspend;
mod tamper;
mod threads;
mod timers;
mod traps;
mod values;
mod web;
mod whole_program;
mod worker;
