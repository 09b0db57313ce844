//! Instructions of the host's work, which valgrind's callgrind counts while it runs this program once for each kind.
//!
//! They depend on the compilers, on the C library, and on what this processor can: libraries choose their code by that.

use std::process::Command;

use anyhow::{Context as _, Result, anyhow, bail};
use chrysalid::counting::{HOST, Kind};

use crate::Pace;
use crate::recorded::Counts;

pub(crate) const NO_VALGRIND: &str =
    "valgrind is not here; the system's package of that name has it (`apt-get install valgrind`)";

/// What the count depends on beside the source: what is told, valgrind and the processor. `None` without valgrind.
pub(crate) fn with(told: &Counts<String>) -> Option<Counts<String>> {
    let version = Command::new("valgrind").arg("--version").output().ok()?;
    let mut with = told.clone();
    with.insert("valgrind".to_owned(), String::from_utf8_lossy(&version.stdout).trim().to_owned());
    with.insert("processor".to_owned(), processor());
    Some(with)
}

pub(crate) fn count(pace: &Pace) -> Result<Counts<u64>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let shares = HOST.chunks(HOST.len().div_ceil(threads));
        let running: Vec<_> = shares.map(|share| scope.spawn(move || count_all(share, pace))).collect();
        let mut counts = Counts::new();
        for thread in running {
            counts.extend(thread.join().map_err(|_| anyhow!("a thread that counts panicked"))??);
        }
        Ok(counts)
    })
}

fn count_all(share: &[Kind], pace: &Pace) -> Result<Counts<u64>> {
    let count = |name: &str| {
        let count = under_callgrind(name, pace.rounds(name)).with_context(|| format!("cannot count {name:?}"))?;
        Ok((name.to_owned(), count))
    };
    share.iter().map(|(name, _)| count(name)).collect()
}

fn under_callgrind(name: &str, rounds: u32) -> Result<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*counted_rounds*"]);
    command.arg(std::env::current_exe()?).args(["host", name]).arg(rounds.to_string());
    let output = command.output().context("cannot run valgrind")?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("{}", said.trim_end());
    }
    collected(&said).with_context(|| format!("valgrind tells no count: {}", said.trim_end()))
}

/// From a line such as `==7== Collected : 123`.
fn collected(said: &str) -> Option<u64> {
    let count = said.lines().find_map(|line| line.split_once("Collected : "))?.1.trim().parse().ok()?;
    // Nothing is collected where the function was not found.
    (count > 0).then_some(count)
}

/// What libraries ask the processor for, of what valgrind may show them.
fn processor() -> String {
    #[cfg(target_arch = "x86_64")]
    let has = [("avx2", is_x86_feature_detected!("avx2")), ("bmi2", is_x86_feature_detected!("bmi2"))];
    #[cfg(not(target_arch = "x86_64"))]
    let has: [(&str, bool); 0] = [];
    let names = has.iter().filter(|(_, has)| *has).map(|(name, _)| *name);
    std::iter::once(std::env::consts::ARCH).chain(names).collect::<Vec<_>>().join(" ")
}

/// Does one kind of work. The first round is not counted: it makes what is kept for the next.
pub(crate) fn work(name: &str, rounds: u32) -> Result<()> {
    let (_, make) = HOST.iter().find(|(known, _)| *known == name).with_context(|| format!("no work {name:?}"))?;
    let mut work = make();
    work();
    counted_rounds(&mut *work, rounds);
    Ok(())
}

/// Counting begins and ends with this function, by its name.
#[inline(never)]
fn counted_rounds(work: &mut dyn FnMut(), rounds: u32) {
    for _ in 0..rounds {
        work();
    }
}

#[cfg(test)]
mod tests {
    use super::collected;

    #[test]
    fn the_count_is_read_from_what_valgrind_says() {
        let said = "==7== Callgrind, a call-graph\n==7== \n==7== Events    : Ir\n==7== Collected : 1234567\n";
        assert_eq!(collected(said), Some(1_234_567));
        assert_eq!(collected("==7== Collected : 0\n"), None);
        assert_eq!(collected("valgrind: not found\n"), None);
    }
}
