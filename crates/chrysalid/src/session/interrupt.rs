//! The handle that stops a program.

use std::sync::Arc;

use super::meter::Meter;

/// Stops the program of a session, from any thread: in guest code, while calls run, while it is paused. Cheap to
/// clone. Without a program it stops the next one.
#[derive(Clone)]
pub struct Interrupt(pub(super) Arc<Meter>);

impl Interrupt {
    /// Ends the program with [`crate::FailureKind::Cancelled`] at its next step.
    pub fn interrupt(&self) {
        self.0.interrupt();
    }
}

impl std::fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interrupt").field("set", &self.0.is_interrupted()).finish()
    }
}
