use async_signal::{Signal, Signals};
use futures_util::StreamExt;
use std::{fmt, io};

/// What asks this process to end: `SIGTERM` and `SIGINT`, which is Ctrl-C. On Windows Ctrl-C only.
///
/// From [`new`](Self::new) on these signals do nothing else in this process: they are for whoever waits here.
pub struct StopSignals(Signals);

#[cfg(unix)]
const SIGNALS: &[Signal] = &[Signal::Term, Signal::Int];
#[cfg(not(unix))]
const SIGNALS: &[Signal] = &[Signal::Int];

impl StopSignals {
    /// Takes the signals over.
    ///
    /// # Errors
    /// The system does not let this process handle them.
    pub fn new() -> io::Result<Self> {
        Signals::new(SIGNALS).map(Self)
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        if !matches!(self.0.next().await, Some(Ok(_))) {
            // Nothing asks any more.
            std::future::pending().await
        }
    }
}

impl fmt::Debug for StopSignals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StopSignals").finish_non_exhaustive()
    }
}
