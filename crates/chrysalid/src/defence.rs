//! The defences that can be taken away one at a time, so that tests show what each of them stops.
//!
//! Without the feature `weaken` all of them stand, and asking costs nothing. With it, [`without`] takes one away on this
//! thread; those of the guest need the guest build of `weakened_guest`.

#[cfg(feature = "weaken")]
use crate::engine::abi;

macro_rules! defences {
    ($($name:ident, $place:literal, $bit:expr;)*) => {
        /// A defence, named for what it does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the names say it")]
        #[cfg_attr(not(feature = "weaken"), allow(dead_code, reason = "the guest's own are asked for by its build"))]
        #[cfg_attr(not(feature = "weaken"), allow(unreachable_pub, reason = "public for tests only"))]
        pub enum Defence { $($name,)* }

        #[cfg(feature = "weaken")]
        impl Defence {
            /// All of them, in their order.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The file that has it.
            #[must_use]
            pub fn place(self) -> &'static str {
                match self { $(Self::$name => $place,)* }
            }

            fn guest_bit(self) -> Option<u32> {
                match self { $(Self::$name => $bit,)* }
            }
        }
    };
}

defences! {
    HardStop, "src/session/meter.rs", None;
    SoftStop, "src/session/imports.rs", None;
    Slices, "src/session/meter.rs, src/session/admit.rs", None;
    WallTime, "src/session/wall.rs", None;
    StopEndsJobs, "guest/main.c", Some(abi::DEFENCE_STOP_ENDS_JOBS);
    StopEndsCalls, "src/session/imports.rs, src/session/admit.rs", None;
    FailureEndsJobs, "guest/main.c", Some(abi::DEFENCE_FAILURE_ENDS_JOBS);
    JobsDropped, "guest/main.c, src/session/admit.rs", Some(abi::DEFENCE_JOBS_DROPPED);
    TrapReset, "src/session/open.rs", None;
    StackBound, "guest/stop.c, src/session/messages.rs", None;
    MemoryCount, "guest/alloc.c, src/session/messages.rs", None;
    MemoryHeadroom, "guest/stop.c", Some(abi::DEFENCE_MEMORY_HEADROOM);
    MemoryStop, "guest/stop.c", Some(abi::DEFENCE_MEMORY_STOP);
    HostMemory, "src/session/held.rs, src/session/imports.rs", None;
    ArgumentSize, "guest/writer.c, src/value/wire/decode.rs", None;
    ValueDepth, "guest/encode.c, src/value/wire/decode.rs", None;
    ValueNodes, "guest/writer.c, src/value/wire/decode.rs", None;
    CallResultSize, "src/session/decide.rs", None;
    ResultSize, "guest/writer.c, src/session/finish.rs", None;
    ConsoleSize, "guest/console.c, src/session/imports.rs", None;
    SourceSize, "src/session/driver.rs", None;
    CallBudget, "src/session/budget.rs", None;
    ToolBudget, "src/session/budget.rs", None;
    RefusedBudget, "src/session/admit.rs", None;
    CallsCharged, "src/session/admit.rs", None;
    CallsInFlight, "src/session/start.rs", None;
    SessionBudget, "src/session/budget.rs", None;
    RunBudget, "src/session/budget.rs", None;
    RunWallTime, "src/session/run_budget.rs", None;
    RunCallsInFlight, "src/session/run_budget.rs", None;
    SpawnBudget, "src/session/budget.rs", None;
    PendingApprovals, "src/session/rule.rs", None;
    Schema, "src/session/admit.rs", None;
    Approval, "src/session/admit.rs", None;
    RuleOfTwo, "src/session/rule.rs", None;
    HandlesCarry, "src/session/handles.rs", None;
    RevealTaints, "src/session/handles.rs", None;
    DeliveredErrors, "src/session/decide.rs", None;
    DeclassifiedFits, "src/session/decide.rs", None;
    DeclassifiedBits, "src/session/budget.rs", None;
    ApprovedPlan, "src/session/rule.rs", None;
    GrantBounds, "src/session/grants.rs", None;
    ApprovalBound, "src/session/decide.rs", None;
    ApprovalExpiry, "src/session/approve.rs, src/session/decide.rs", None;
    ApprovalRoles, "src/session/approve.rs, src/session/decide.rs, src/session/grants.rs", None;
    AuditKept, "src/session/rule.rs, src/session/approve.rs", None;
    PauseDespiteTimers, "src/session/driver.rs", None;
    KnownCalls, "src/session.rs", None;
    DecidedOnce, "src/session/decide.rs", None;
    AllowedDecisions, "src/session/decide.rs", None;
    EditsChecked, "src/session/approve.rs", None;
    SettledOnce, "src/session/decide.rs", None;
    FrozenTools, "guest/call.c", Some(abi::DEFENCE_FROZEN_TOOLS);
    BareTools, "guest/call.c", Some(abi::DEFENCE_BARE_TOOLS);
    PlainAnswers, "guest/call.c", Some(abi::DEFENCE_PLAIN_ANSWERS);
    DefinedProperties, "guest/decode.c", Some(abi::DEFENCE_DEFINED_PROPERTIES);
    StacksReset, "guest/main.c", Some(abi::DEFENCE_STACKS_RESET);
    GettersUnrun, "guest/encode.c", Some(abi::DEFENCE_GETTERS_UNRUN);
    ClockGrain, "src/session/meter.rs", None;
    FreshRandom, "src/session/open.rs", None;
    ContextBound, "src/session/open.rs", None;
    StoredCallsChecked, "src/session/open.rs", None;
    RootedModules, "src/session/modules.rs", None;
    PrintableText, "src/value/render/scalar.rs", None;
    ReportTags, "src/report/guard.rs", None;
    CommentText, "src/catalogue/comment.rs", None;
}

/// Whether a defence stands. It does, but in a test that took it away.
#[cfg(not(feature = "weaken"))]
#[inline]
pub(crate) const fn stands(_: Defence) -> bool {
    true
}

#[cfg(feature = "weaken")]
pub(crate) use weakened::stands;
#[cfg(feature = "weaken")]
pub use weakened::{weakened_guest, without};

#[cfg(feature = "weaken")]
mod weakened {
    use std::cell::Cell;

    use super::Defence;

    thread_local! {
        static GONE: Cell<Option<Defence>> = const { Cell::new(None) };
    }

    pub(crate) fn stands(defence: Defence) -> bool {
        GONE.get() != Some(defence)
    }

    /// Runs a function while one defence, or none, is gone on this thread.
    pub fn without<T>(gone: Option<Defence>, run: impl FnOnce() -> T) -> T {
        struct Restored(Option<Defence>);
        impl Drop for Restored {
            fn drop(&mut self) {
                GONE.set(self.0);
            }
        }
        let _restored = Restored(GONE.replace(gone));
        run()
    }

    /// A guest whose defences can be taken away, for [`crate::EngineBuilder::guest`].
    #[must_use]
    pub fn weakened_guest() -> &'static [u8] {
        include_bytes!(env!("CHRYSALID_WEAKENED_WASM"))
    }

    /// The word that tells the guest which of its defences are gone.
    pub(crate) fn guest_word() -> u32 {
        GONE.get().and_then(Defence::guest_bit).map_or(0, |bit| 1 << bit)
    }
}

#[cfg(feature = "weaken")]
pub(crate) use weakened::guest_word;
