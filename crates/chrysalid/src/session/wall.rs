//! Wall-clock limits: how long a program, and its session, may run outside pauses.

use std::time::Duration;

use super::Session;
use super::admit::millis;
use crate::defence::{Defence, stands};
use crate::outcome::{Failure, FailureKind};

/// A wall-clock limit, and how many milliseconds of it are left.
struct WallLimit {
    limit: Duration,
    left: f64,
    whose: &'static str,
}

impl Session {
    /// Counts what has passed since the step before, unless the program paused then.
    pub(super) fn count_wall(&mut self, now: f64) {
        if let (Some(since), Some(program)) = (self.awake_since, &mut self.state.program) {
            program.wall_millis += now - since;
            self.state.wall_millis += now - since;
        }
        self.awake_since = Some(now);
        if let Some(end) = self.wall_end() {
            let left = Duration::try_from_secs_f64(((end - now) / 1000.0).max(0.0));
            self.meter.set_wall(left.unwrap_or(Duration::MAX));
        }
    }

    /// When the first limit is reached, in milliseconds since 1970.
    pub(super) fn wall_end(&self) -> Option<f64> {
        let wall = self.wall_limit()?;
        Some(self.awake_since? + wall.left.max(0.0))
    }

    /// That it is over.
    pub(super) fn wall_timeout(&self) -> Option<Failure> {
        let WallLimit { limit, left, whose } = self.wall_limit()?;
        let message = format!("the {whose} used more than {limit:?} of wall-clock time");
        (left <= 0.0 || self.meter.wall_is_over()).then(|| Failure::of(FailureKind::WallTimeout, message))
    }

    /// The limit that is reached first.
    fn wall_limit(&self) -> Option<WallLimit> {
        let program = self.state.program.as_ref()?;
        let limit = |limit: Option<Duration>, used: f64, whose: &'static str| {
            let limit = limit.filter(|_| stands(Defence::WallTime))?;
            Some(WallLimit { limit, left: millis(limit) - used, whose })
        };
        let of_program = limit(self.limits.wall_time, program.wall_millis, "program");
        let of_session = limit(self.limits.session_wall_time, self.state.wall_millis, "session");
        of_program.into_iter().chain(of_session).min_by(|one, other| one.left.total_cmp(&other.left))
    }
}
