//! Slices that end by chance: between entries, before a call is handed out, and after the first job of an entry, all of which
//! are places where one may end on a busy machine. Those within a job are left out.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// With this variable in the environment, every third of these places is one where the slice is over.
const VARIABLE: &str = "CHRYSALID_SHORT_SLICES";

static BY_CHANCE: LazyLock<bool> = LazyLock::new(|| std::env::var_os(VARIABLE).is_some());

/// Of Marsaglia's xorshift.
static STATE: AtomicU64 = AtomicU64::new(88_172_645_463_325_252);

/// Slices of this length or more are asked for where none may end.
const ENDLESS: Duration = Duration::from_mins(1);

pub(crate) fn slice_ends_here(length: Duration) -> bool {
    *BY_CHANCE && length < ENDLESS && one_in_three()
}

fn one_in_three() -> bool {
    let mut state = STATE.load(Ordering::Relaxed);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    STATE.store(state, Ordering::Relaxed);
    state.is_multiple_of(3)
}

#[cfg(test)]
mod tests {
    use super::one_in_three;

    #[test]
    fn a_third_of_the_places() {
        let ends = (0..30_000).filter(|_| one_in_three()).count();
        assert!((9_000..11_000).contains(&ends), "{ends}");
    }
}
