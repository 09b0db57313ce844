//! A loop of one's own over the step machine: no async, no runtime, many sessions on one thread. Run by `cargo xtask test`.
//!
//! Three sessions take turns. One calls a tool and needs an approval, one sleeps on a timer, and one is
//! `while (true) {}`: it keeps the thread for a slice at most, so the others end while it runs, and its CPU limit ends it.
//!
//! ```console
//! $ cargo run --release -p chrysalid --example stepping
//! ```

use std::error::Error;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, SystemTime};

use chrysalid::{
    Approval, Call, CallResult, Capabilities, Capability, Decision, Ended, Engine, FailureKind, PendingCall, Session,
    SessionOptions, Step, ToolError, Value,
};

/// The loop looks at everything at least this often.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

const ORDER: &str = "
    const price = await tools.price({ item: 'tea' });
    const [small, large] = await Promise.allSettled([tools.pay({ amount: price }), tools.pay({ amount: price * 100 })]);
    [price, small.value, large.reason.name].join(', ')
";
const SLEEPER: &str = "await new Promise(done => setTimeout(done, 30)); 'awake'";
const ENDLESS: &str = "while (true) {}";

struct Task {
    name: &'static str,
    session: Session,
}

fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::builder().pool_slots(0).build()?;
    let tools = tools()?;
    let mut tasks = Vec::new();
    for (name, source) in [("endless", ENDLESS), ("order", ORDER), ("sleeper", SLEEPER)] {
        let mut limits = engine.limits().clone();
        limits.cpu_time = Duration::from_millis(400);
        let mut options = SessionOptions::default();
        options.limits = Some(limits);
        let mut session = engine.session_with(&tools, options)?;
        session.start(source)?;
        tasks.push(Task { name, session });
    }

    let ended = drive(tasks)?;
    let result = |name| ended.iter().find(|(task, _)| *task == name).map(|(_, ended)| &ended.result);
    assert!(matches!(result("order"), Some(Ok(value)) if value.as_str() == Some("6, paid 6, ToolRejected")));
    assert!(matches!(result("sleeper"), Some(Ok(value)) if value.as_str() == Some("awake")));
    assert!(matches!(result("endless"), Some(Err(failure)) if failure.kind == FailureKind::Timeout));
    assert_eq!(ended.last().map(|(task, _)| *task), Some("endless"), "it held the thread");
    Ok(())
}

/// Steps every session in turn until all programs have ended; in the order in which they ended.
fn drive(mut tasks: Vec<Task>) -> Result<Vec<(&'static str, Ended)>, Box<dyn Error>> {
    let mut ended = Vec::new();
    while !tasks.is_empty() {
        let mut sleep_until = Some(SystemTime::now() + LONGEST_SLEEP);
        let mut left = Vec::new();
        for mut task in tasks {
            match task.session.step(SystemTime::now())? {
                Step::Ended(end) => {
                    let result = end.result.as_ref().map(ToString::to_string);
                    println!("{}: {}", task.name, result.unwrap_or_else(ToString::to_string));
                    ended.push((task.name, end));
                    continue;
                }
                Step::Start(calls) => {
                    for call in calls {
                        task.session.settle(call.id(), answer(&call))?;
                    }
                    sleep_until = None;
                }
                Step::Paused(pause) => {
                    for call in &pause.pending {
                        let decision = decide(call);
                        println!("{}: {} {}: {decision:?}", task.name, call.name, call.argument);
                        task.session.decide(call.id, decision)?;
                    }
                    sleep_until = None;
                }
                Step::Busy => sleep_until = None,
                Step::Wait { wake_at } => {
                    sleep_until = sleep_until.map(|until| wake_at.map_or(until, |at| until.min(at)));
                }
            }
            left.push(task);
        }
        tasks = left;
        if let Some(until) = sleep_until {
            thread::sleep(until.duration_since(SystemTime::now()).unwrap_or_default());
        }
    }
    Ok(ended)
}

/// The tools here answer at once. A loop that serves slow ones gives the future to a thread and settles the call later.
fn answer(call: &Call) -> CallResult {
    match call.invoke().as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(ToolError::new(format!("{} has no answer yet", call.name()))),
    }
}

/// In place of a person.
fn decide(call: &PendingCall) -> Decision {
    match call.argument.get("amount").and_then(Value::as_f64) {
        Some(amount) if amount <= 50.0 => Decision::Approve,
        _ => Decision::Reject(Some("over 50".into())),
    }
}

fn tools() -> Result<Capabilities, chrysalid::Error> {
    let price = Capability::raw("price", |_, _| async { Ok(Value::from(6)) });
    let pay = Capability::raw("pay", |_, order: Value| async move {
        let amount = order.get("amount").ok_or_else(|| ToolError::input("no amount"))?;
        Ok(Value::from(format!("paid {amount}")))
    })
    .approval(Approval::Ask);
    Capabilities::new([price, pay])
}
