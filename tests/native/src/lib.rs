//! What the native tests share: where programs of others are, time limits, and the search for processes that were left.
#![allow(clippy::panic, clippy::expect_used, clippy::disallowed_methods)]

pub mod connection;
pub mod left;
pub mod pages;
pub mod server;
pub mod tools;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Runs a test in a thread of its own and fails it once its time is over.
///
/// # Panics
///
/// When the test does, or takes too long.
pub fn within(limit: Duration, test: impl FnOnce() + Send + 'static) {
    let (done, ended) = mpsc::channel();
    let thread = thread::spawn(move || {
        test();
        let _ = done.send(());
    });
    match ended.recv_timeout(limit) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("the test took longer than {limit:?}"),
        Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}
