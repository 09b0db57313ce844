//! Work inside the guest, as a multiple of the same programs in native QuickJS-ng.
//!
//! Both sides take the same source text, in a session or context that nothing has run in, and are timed from the text
//! to the value. The sandbox's time is wall time around `start` and the loop over `step`, with all that it does for a
//! program: copying the text in, ticks, slices, the value out.

use std::time::{Instant, SystemTime};

use anyhow::{Context as _, Result, bail, ensure};
use chrysalid::{Capabilities, Engine, Session, Step};

use crate::native::{Native, Run};
use crate::samples::{Samples, Summary};

/// The most that a program with [`Rule::Must`] may take, over native.
pub(crate) const MOST: f64 = 2.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Over [`MOST`] the benchmark fails.
    Must,
    /// Measured for information.
    Told,
}

pub(crate) struct Work {
    pub(crate) name: &'static str,
    pub(crate) rule: Rule,
    pub(crate) source: &'static str,
    pub(crate) native: Samples,
    pub(crate) guest: Samples,
}

impl Work {
    fn new(name: &'static str, rule: Rule, source: &'static str) -> Self {
        Self { name, rule, source, native: Samples::default(), guest: Samples::default() }
    }

    /// Median over median: what the rule is about.
    pub(crate) fn ratio(&self) -> f64 {
        self.guest.summary().median / self.native.summary().median
    }

    /// Sandbox over native within each turn, to judge the ratio by: where the two disagree, the machine was too busy.
    pub(crate) fn ratios_by_turn(&self) -> Summary {
        self.guest.over(&self.native).summary()
    }

    pub(crate) fn breaks_the_rule(&self) -> bool {
        // Written so that no number at all breaks it too.
        self.rule == Rule::Must && !matches!(self.ratio().partial_cmp(&MOST), Some(order) if order.is_le())
    }
}

/// All programs, in the order of the table.
pub(crate) fn programs() -> Vec<Work> {
    let must = |name, source| Work::new(name, Rule::Must, source);
    let told = |name, source| Work::new(name, Rule::Told, source);
    vec![
        must("200,000 string appends", include_str!("../programs/appends.js")),
        must("JSON, 1 MB out and in", include_str!("../programs/json.js")),
        must("sort 100,000 numbers", include_str!("../programs/sort.js")),
        must("the same with a comparator", include_str!("../programs/sort_comparator.js")),
        must("fib(30)", include_str!("../programs/fib.js")),
        told("arithmetic loop", include_str!("../programs/loop.js")),
        told("regular expressions", include_str!("../programs/regexp.js")),
        told("Map and Set", include_str!("../programs/collections.js")),
    ]
}

/// Lets each program run once on both sides, in turn; the first time only to warm up and to compare the values.
pub(crate) fn turn(programs: &mut [Work], native: &mut Native, engine: &Engine, keep: Keep) -> Result<()> {
    for work in programs {
        let theirs = native.run(work.source)?;
        let ours = run(engine, work.source).with_context(|| work.name)?;
        ensure!(
            ours.value == theirs.value,
            "{}: {:?} in the sandbox, {:?} in native QuickJS-ng",
            work.name,
            ours.value,
            theirs.value
        );
        if keep == Keep::Times {
            work.native.add(theirs.took);
            work.guest.add(ours.took);
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    Times,
    Nothing,
}

pub(crate) fn run(engine: &Engine, source: &str) -> Result<Run> {
    let mut session = engine.session(&Capabilities::none())?;
    let began = Instant::now();
    let value = to_the_end(&mut session, source)?;
    Ok(Run { took: began.elapsed(), value })
}

fn to_the_end(session: &mut Session, source: &str) -> Result<String> {
    session.start(source)?;
    loop {
        match session.step(SystemTime::now())? {
            Step::Busy => {}
            Step::Ended(ended) => {
                let value = ended.result.map_err(|failure| anyhow::anyhow!("{failure:?}"))?;
                return Ok(value.as_str().context("the program's value is not text")?.to_owned());
            }
            step => bail!("a program without calls or timers came to {step:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn work(rule: Rule, guest_millis: u64) -> Work {
        let mut work = Work::new("work", rule, "");
        work.native.add(Duration::from_millis(100));
        work.guest.add(Duration::from_millis(guest_millis));
        work
    }

    #[test]
    fn only_a_must_over_the_bound_breaks_the_rule() {
        assert!(!work(Rule::Must, 200).breaks_the_rule());
        assert!(work(Rule::Must, 201).breaks_the_rule());
        assert!(!work(Rule::Told, 201).breaks_the_rule());
        assert!(Work::new("never measured", Rule::Must, "").breaks_the_rule());
    }
}
