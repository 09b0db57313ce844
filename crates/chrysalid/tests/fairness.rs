//! An endless program takes no more than its share: on two threads that step sessions in turn, short programs of nine
//! others come to their ends nearly as soon as without it.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use chrysalid::{Capabilities, Session, Step};

use crate::measure::best_of_three;
use crate::support::{ENGINE, begin, session, with_limits};

const SLICE: Duration = Duration::from_millis(10);
const SHORT: &str = "let n = 0; for (let i = 0; i < 20000; i++) n += i; n";
const PROGRAMS: usize = 600;

enum Task {
    /// A session with its program, and when that was asked for.
    Short(Box<Session>, Instant),
    Endless(Box<Session>),
}

struct Line {
    tasks: VecDeque<Task>,
    took: Vec<Duration>,
}

/// The first in line gets one step, then goes to its end.
fn serve(line: &Mutex<Line>) {
    loop {
        let mut locked = line.lock().unwrap();
        if locked.took.len() >= PROGRAMS {
            return;
        }
        let Some(task) = locked.tasks.pop_front() else {
            drop(locked);
            std::thread::yield_now();
            continue;
        };
        drop(locked);
        let (task, took) = match task {
            Task::Endless(mut session) => {
                assert!(matches!(session.step(begin()).unwrap(), Step::Busy));
                (Task::Endless(session), None)
            }
            Task::Short(mut session, asked) => match session.step(begin()).unwrap() {
                Step::Ended(ended) => {
                    ended.result.unwrap();
                    let took = asked.elapsed();
                    session.start(SHORT).unwrap();
                    (Task::Short(session, Instant::now()), Some(took))
                }
                _ => (Task::Short(session, asked), None),
            },
        };
        let mut locked = line.lock().unwrap();
        locked.took.extend(took);
        locked.tasks.push_back(task);
    }
}

/// What 99 of 100 short programs took at most.
fn latency(endless: Option<Session>) -> Duration {
    let mut tasks: VecDeque<Task> = endless.into_iter().map(|session| Task::Endless(Box::new(session))).collect();
    for _ in 0..9 {
        let mut short = session();
        short.start(SHORT).unwrap();
        tasks.push_back(Task::Short(Box::new(short), Instant::now()));
    }
    let line = Mutex::new(Line { tasks, took: Vec::new() });
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| serve(&line));
        }
    });
    let mut took = line.into_inner().unwrap().took;
    took.sort_unstable();
    took[took.len() * 99 / 100]
}

#[test]
fn short_programs_beside_an_endless_one_come_to_their_ends() {
    best_of_three(|| {
        let quiet = latency(None);
        let forever = with_limits(|limits| limits.cpu_time = Duration::MAX);
        let mut endless = ENGINE.session_with(&Capabilities::none(), forever).unwrap();
        endless.start("for (;;) {}").unwrap();
        let beside = latency(Some(endless));
        if beside <= 3 * quiet + SLICE { Ok(()) } else { Err(format!("quiet {quiet:?}, beside {beside:?}")) }
    });
}
