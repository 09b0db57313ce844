//! What tests of snapshots need of a guest: the other way to find its pages, and its memory.

use std::cell::Cell;

use crate::session::Session;

thread_local! {
    static COMPARES: Cell<bool> = const { Cell::new(false) };
}

/// Runs a function while pages of guests are found on this thread by comparing, as where the kernel does not tell them.
pub fn comparing_pages<T>(run: impl FnOnce() -> T) -> T {
    struct Restored(bool);
    impl Drop for Restored {
        fn drop(&mut self) {
            COMPARES.set(self.0);
        }
    }
    let _restored = Restored(COMPARES.replace(true));
    run()
}

pub(crate) fn compares_pages() -> bool {
    COMPARES.get()
}

/// The guest's memory, but for the part of its stack that nothing uses, which is the baseline's here.
///
/// # Panics
/// When the guest is not at rest.
#[must_use]
pub fn memory(session: &mut Session) -> Vec<u8> {
    session.memory_at_rest().expect("the guest is at rest")
}
