//! Several runs of one attack on one host, and what Chrysalid may let it have.

use chrysalid::Limits;

use super::list::{Kind, WENT_ON};
use super::watch::{End, Sighting};

/// The most CPU time over the limit.
pub(crate) const MOST_TIME: f64 = 1.2;

/// A session holds, beside the guest's memory: a store's slack, a fiber's stack, the heap as it was before, and the host's
/// own buffers.
const AROUND: usize = (1 + 10 + 4 + 8) << 20;

/// What the host makes of an encoded byte, in bytes at most.
const DECODED: usize = 40;

/// The most memory over the limit, host and guest together.
pub(crate) fn most_memory(kind: Kind) -> f64 {
    let limits = Limits::default();
    let on_the_host = match kind {
        Kind::Memory | Kind::Cpu | Kind::Stack => 0,
        Kind::Output => DECODED * (limits.result_size + limits.console_size),
        Kind::Calls => limits.host_memory,
    };
    ratio(super::MEMORY + AROUND + on_the_host)
}

/// The runs of one attack.
pub(crate) struct Judgement {
    pub(crate) runs: Vec<Sighting>,
}

impl Judgement {
    pub(crate) fn new(runs: Vec<Sighting>) -> Self {
        Self { runs }
    }

    /// How they ended, each way once.
    pub(crate) fn ends(&self) -> Vec<&End> {
        let mut ends: Vec<&End> = Vec::new();
        for run in &self.runs {
            let known = |end: &&End| match (*end, &run.end) {
                (End::Outcome(one, _), End::Outcome(two, _)) => one == two,
                (one, two) => one == two,
            };
            if !ends.iter().any(known) {
                ends.push(&run.end);
            }
        }
        ends
    }

    /// CPU time over the limit.
    pub(crate) fn cpu(&self) -> f64 {
        self.median(|run| run.cpu / super::TIME.as_secs_f64())
    }

    /// Wall or CPU time over the limit, whichever is shorter: a host that counts wall time is not to blame for a busy
    /// machine.
    pub(crate) fn time(&self) -> f64 {
        self.median(|run| run.cpu.min(run.wall) / super::TIME.as_secs_f64())
    }

    /// Seconds.
    pub(crate) fn wall(&self) -> f64 {
        self.median(|run| run.wall)
    }

    /// Seconds.
    pub(crate) fn report(&self) -> f64 {
        self.median(|run| run.report)
    }

    /// Growth over the memory limit.
    pub(crate) fn memory(&self) -> f64 {
        self.median(|run| ratio(usize::try_from(run.growth).unwrap_or(usize::MAX)))
    }

    /// How the session was afterwards: the first word that is not `yes`.
    pub(crate) fn lives(&self) -> &str {
        worst(self.runs.iter().map(|run| run.lives.as_str()))
    }

    /// As [`Self::lives`], about what the session held before.
    pub(crate) fn kept(&self) -> &str {
        worst(self.runs.iter().map(|run| run.kept.as_str()))
    }

    /// The session runs programs, and has what it held.
    pub(crate) fn goes_on(&self) -> bool {
        self.lives() == YES && self.kept() == YES
    }

    /// The host lacks what the attack is made with, or never came as far.
    pub(crate) fn is_absent(&self) -> bool {
        let absent = |end: &End| match end {
            End::Outcome(outcome, _) => outcome == "absent",
            end => *end == End::Unready,
        };
        self.runs.iter().all(|run| absent(&run.end))
    }

    pub(crate) fn went_on(&self) -> bool {
        self.runs.iter().any(|run| matches!(&run.end, End::Outcome(_, text) if text == WENT_ON))
    }

    /// Whether the host got an answer.
    pub(crate) fn ended(&self) -> bool {
        self.runs.iter().all(|run| matches!(run.end, End::Outcome(..)))
    }

    /// What it got beyond its bounds.
    pub(crate) fn complaints(&self, kind: Kind) -> impl Iterator<Item = String> {
        let over = |what: &str, is: f64, most: f64| {
            // Written so that no number at all is a complaint too.
            let kept = matches!(is.partial_cmp(&most), Some(order) if order.is_le());
            (!kept).then(|| format!("{what} is {is:.2} times the limit, and may be {most:.2}"))
        };
        let not = |holds: bool, text: &str| (!holds).then(|| text.to_owned());
        [
            over("CPU time", self.cpu(), MOST_TIME),
            over("memory", self.memory(), most_memory(kind)),
            not(self.ended(), "the process was lost"),
            not(!self.went_on(), "the program went on past its limit"),
            not(self.lives() == YES, "the session takes no more programs"),
            not(self.kept() == YES, "the session does not give what it held"),
        ]
        .into_iter()
        .flatten()
    }

    fn median(&self, of: impl Fn(&Sighting) -> f64) -> f64 {
        let mut numbers: Vec<f64> = self.runs.iter().map(of).collect();
        numbers.sort_unstable_by(f64::total_cmp);
        numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

const YES: &str = "yes";

fn worst<'a>(mut words: impl Iterator<Item = &'a str>) -> &'a str {
    words.find(|word| *word != YES).unwrap_or(YES)
}

#[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
fn ratio(bytes: usize) -> f64 {
    bytes as f64 / super::MEMORY as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(cpu: f64, growth: u64, text: &str) -> Sighting {
        let end = End::Outcome("value".to_owned(), text.to_owned());
        Sighting { end, cpu, wall: 9.0, report: 0.0, growth, lives: YES.to_owned(), kept: YES.to_owned() }
    }

    fn complaints(runs: Vec<Sighting>) -> Vec<String> {
        Judgement::new(runs).complaints(Kind::Cpu).collect()
    }

    #[test]
    fn the_median_of_three_runs_counts() {
        let within = vec![run(0.6, 1 << 20, ""), run(9.0, 1 << 40, ""), run(0.5, 2 << 20, "")];
        assert_eq!(complaints(within), [""; 0]);
        let over = vec![run(0.61, 1 << 20, ""), run(9.0, 1 << 30, ""), run(0.5, 1 << 30, "")];
        let expected =
            ["CPU time is 1.22 times the limit, and may be 1.20", "memory is 16.00 times the limit, and may be 1.36"];
        assert_eq!(complaints(over), expected);
    }

    #[test]
    fn one_run_that_went_on_is_enough() {
        let runs = vec![run(0.5, 0, ""), run(0.5, 0, WENT_ON), run(0.5, 0, "")];
        assert_eq!(complaints(runs), ["the program went on past its limit"]);
    }

    #[test]
    fn a_process_that_is_gone_is_a_complaint_in_all_it_did_not_show() {
        let mut gone = run(0.1, 0, "");
        (gone.end, gone.lives, gone.kept) = (End::Died("signal 11".to_owned()), String::new(), String::new());
        let expected =
            ["the process was lost", "the session takes no more programs", "the session does not give what it held"];
        assert_eq!(complaints(vec![gone]), expected);
    }
}
