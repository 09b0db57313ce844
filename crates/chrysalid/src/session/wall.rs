//! Wall-clock limits: how long a program, its session and its run may take outside pauses.

use std::time::Duration;

use chrysalid_policy::Spent;

use super::admit::millis;
use super::{Member, Session};
use crate::defence::{Defence, stands};
use crate::outcome::{Failure, FailureKind};

/// A wall-clock limit, how many milliseconds of it are left, and when it ends if nothing pauses.
struct WallLimit {
    limit: Duration,
    left: f64,
    end: f64,
    whose: &'static str,
}

impl Session {
    /// Counts what has passed since the step before, unless the program paused then.
    pub(super) fn count_wall(&mut self, now: f64) {
        if let (Some(since), Some(program)) = (self.awake_since, &mut self.state.program) {
            program.spent.wall_millis += now - since;
            self.state.spent.wall_millis += now - since;
        }
        self.awake_since = Some(now);
        if let Some(member) = &mut self.member {
            member.begin_step(now);
        }
        if let Some(end) = self.wall_end() {
            let left = Duration::try_from_secs_f64(((end - now) / 1000.0).max(0.0));
            self.meter.set_wall(left.unwrap_or(Duration::MAX));
        }
    }

    /// When the first limit is reached, in milliseconds since 1970.
    pub(super) fn wall_end(&self) -> Option<f64> {
        Some(self.wall_limit()?.end.max(self.awake_since?))
    }

    /// That it is over.
    pub(super) fn wall_timeout(&self) -> Option<Failure> {
        let WallLimit { limit, left, whose, .. } = self.wall_limit()?;
        let message = format!("the {whose} used more than {limit:?} of wall-clock time");
        (left <= 0.0 || self.meter.wall_is_over()).then(|| Failure::of(FailureKind::WallTimeout, message))
    }

    /// The limit that is reached first.
    fn wall_limit(&self) -> Option<WallLimit> {
        let program = self.state.program.as_ref()?;
        let since = self.awake_since?;
        let own = |limit: Option<Duration>, spent: &Spent, whose: &'static str| {
            let limit = limit.filter(|_| stands(Defence::WallTime))?;
            Some(WallLimit::new(limit, millis(limit) - spent.wall_millis, since, whose))
        };
        let of_program = own(self.limits.wall_time, &program.spent, "program");
        let of_session = own(self.limits.session_wall_time, &self.state.spent, "session");
        let of_run = self.member.as_ref().and_then(Member::wall);
        let of_run = of_run.map(|(limit, left, since)| WallLimit::new(limit, left, since, "run"));
        let limits = of_program.into_iter().chain(of_session).chain(of_run);
        limits.min_by(|one, other| one.end.total_cmp(&other.end))
    }
}

impl WallLimit {
    fn new(limit: Duration, left: f64, since: f64, whose: &'static str) -> Self {
        Self { limit, left, end: since + left, whose }
    }
}
