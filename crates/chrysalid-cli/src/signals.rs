//! The wish that this process ends, by Ctrl-C or a signal.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens from its creation on; what came before anybody asked is not lost.
pub(crate) struct Signals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
}

impl Signals {
    /// Listens; the signals do not end the process by themselves any more.
    pub(crate) fn listen() -> Self {
        Self { interrupt: signal(SignalKind::interrupt()).ok(), terminate: signal(SignalKind::terminate()).ok() }
    }

    /// Listens for Ctrl-C alone: other signals end the process as usual.
    pub(crate) fn of_keyboard() -> Self {
        Self { interrupt: signal(SignalKind::interrupt()).ok(), terminate: None }
    }

    /// Ready when the process is asked to end.
    pub(crate) async fn received(&mut self) {
        tokio::select! {
            () = next(&mut self.interrupt) => {}
            () = next(&mut self.terminate) => {}
        }
    }
}

async fn next(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}
