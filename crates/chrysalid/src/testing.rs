//! What unit tests of several modules share.

use std::time::SystemTime;

use crate::{Session, Step};

/// Steps until the program ended or needs something: a slice may be over at any place.
#[track_caller]
pub(crate) fn step(session: &mut Session) -> Step {
    loop {
        match session.step(SystemTime::now()).unwrap() {
            Step::Busy => {}
            step => return step,
        }
    }
}
