//! What work costs, in units that no clock and no other process on the machine changes. Not part of the API.
//!
//! Guest code is counted in wasmtime's fuel, about one unit for each WebAssembly instruction, by an engine that was built
//! with [`EngineBuilder::counting`]: its compiled guest is another one, the guest's bytes are the same. The count is
//! exact, the same on every machine and in every run, if the session's clock and random numbers are fixed and its limits
//! and slices are too long to be met: at the end of a slice the guest returns earlier than it would.
//!
//! Work of the host is handed out one kind at a time, ready to be run under an instruction counter.

mod host;

use wasmtime::Store;

use crate::engine::EngineBuilder;
pub use host::{HOST, Kind, Work};

impl EngineBuilder {
    /// Counts what its guests do: [`Session::fuel`](crate::Session::fuel).
    #[doc(hidden)]
    pub fn counting(mut self) -> Self {
        self.counting = true;
        self
    }
}

/// More than any guest uses.
const FULL: u64 = u64::MAX;

/// Lets a guest run at all, where its engine counts; elsewhere it is an error without a consequence.
pub(crate) fn fill<T>(store: &mut Store<T>) {
    drop(store.set_fuel(FULL));
}

pub(crate) fn used<T>(store: &Store<T>) -> Option<u64> {
    Some(FULL - store.get_fuel().ok()?)
}
