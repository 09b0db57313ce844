//! An engine made before `fork` works in the child: its thread does not, so it is started again.

use std::time::Duration;

use chrysalid::{Capabilities, Restore, Value};

use crate::measure::{end_of, stopped, threads};
use crate::support::{builder, eval, run, with_limits};

#[expect(unsafe_code, reason = "fork and its end in the child; there is no safe form of them")]
mod process {
    unsafe extern "C" {
        fn fork() -> i32;
        fn _exit(status: i32) -> !;
    }

    /// Runs a function in a child and gives its status: 0 when it came back, 1 when it panicked.
    pub(super) fn in_a_child(work: impl FnOnce() + std::panic::UnwindSafe) -> i32 {
        // SAFETY: the child runs on in this thread alone, with the memory as it is, and leaves by `_exit`, so that nothing
        // of the parent's is run or flushed twice. No other thread of this process holds a lock that the child takes.
        let child = unsafe { fork() };
        assert!(child >= 0, "no child");
        if child == 0 {
            let status = i32::from(std::panic::catch_unwind(work).is_err());
            // SAFETY: ends the child.
            unsafe { _exit(status) }
        }
        let pid = rustix::process::Pid::from_raw(child).unwrap();
        let (_, status) = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty()).unwrap().unwrap();
        status.exit_status().unwrap_or(-1)
    }
}

/// Runs in a process of its own, which forks.
pub(crate) fn in_the_child() -> Vec<u8> {
    let limit = Duration::from_millis(100);
    for slots in [0, 4] {
        let engine = builder().pool_slots(slots).build().unwrap();
        let none = Capabilities::none();
        let options = || with_limits(|limits| limits.cpu_time = limit);
        let mut session = engine.session_with(&none, options()).unwrap();
        // The ticker runs in the parent before there is a child.
        assert_eq!(end_of(&run(&mut session, "let kept = 1; for (;;) {}")), stopped(limit));
        let image = session.snapshot().unwrap();
        let (mut inherited, of_parent) = (session, engine.clone());
        let status = process::in_a_child(std::panic::AssertUnwindSafe(|| {
            let before = threads();
            assert_eq!(end_of(&run(&mut inherited, "for (;;) {}")), stopped(limit));
            assert_eq!(threads(), before + 1, "a ticker of its own");
            assert_eq!(eval(&mut inherited, "kept"), Value::from(1));
            let mut fresh = of_parent.session_with(&none, options()).unwrap();
            assert_eq!(end_of(&run(&mut fresh, "for (;;) {}")), stopped(limit));
            let mut restored = of_parent.restore_with(&image, &none, Restore::Fork, options()).unwrap();
            assert_eq!(eval(&mut restored, "kept"), Value::from(1));
            assert_eq!(end_of(&run(&mut restored, "for (;;) {}")), stopped(limit));
        }));
        assert_eq!(status, 0, "the child with {slots} slots");
        // And the parent goes on.
        assert_eq!(eval(&mut inherited, "++kept"), Value::from(2));
        assert_eq!(end_of(&run(&mut inherited, "for (;;) {}")), stopped(limit));
    }
    Vec::new()
}

#[test]
fn an_engine_made_before_fork_works_in_the_child() {
    crate::worker::in_fresh_process("fork", &[]);
}
