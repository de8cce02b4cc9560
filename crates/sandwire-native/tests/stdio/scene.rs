//! Children of a test, and whether any is left.

use sandwire_io::TextPort;
use sandwire_native::stdio::{Command, Process};
use sandwire_proto::{Limits, TransportError};
use std::{
    future::poll_fn,
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

pub(crate) const MARK: &str = "SANDWIRE_TEST";

/// The processes of one test, which know each other by a variable.
pub(crate) struct Scene(String);

impl Scene {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        Self(format!("{}.{}.", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)))
    }

    pub(crate) fn mark(&self) -> &str {
        &self.0
    }

    /// A server that is a script of the shell, and has little time to end.
    pub(crate) fn sh(&self, script: &str) -> Command {
        let wait = Duration::from_millis(200);
        Command::new("/bin/sh").args(["-c", script]).env(MARK, self.mark()).shutdown_waits(wait, wait)
    }

    pub(crate) fn start(&self, script: &str) -> Process {
        spawn(self.sh(script))
    }

    /// The processes that are left, by number and name.
    pub(crate) fn left(&self) -> Vec<String> {
        let mark = format!("{MARK}={}", self.0);
        let processes = std::fs::read_dir("/proc").unwrap().flatten().filter(|process| {
            let environ = std::fs::read(process.path().join("environ")).unwrap_or_default();
            environ.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        });
        processes
            .map(|process| {
                let command = std::fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
                format!("{} {}", process.file_name().display(), command.replace('\0', " "))
            })
            .collect()
    }

    /// Waits for as many processes.
    pub(crate) fn wait_for(&self, count: usize) {
        wait(|| self.left().len() == count, || format!("{:?}", self.left()));
    }
}

/// Waits until something is so, as long as the slowest machine may take.
pub(crate) fn wait(is_so: impl Fn() -> bool, state: impl Fn() -> String) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(20), "{}", state());
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn spawn(command: Command) -> Process {
    command.spawn(&Limits::default()).unwrap()
}

/// What comes next.
pub(crate) fn next(port: &mut Process) -> Option<Result<String, TransportError>> {
    sandwire_native::block_on(poll_fn(|cx| port.poll(cx)))
}

pub(crate) fn next_line(port: &mut Process) -> String {
    next(port).unwrap().unwrap()
}

pub(crate) fn next_error(port: &mut Process) -> TransportError {
    next(port).unwrap().unwrap_err()
}

/// Closes the port and drives it to its end.
pub(crate) fn close(port: &mut Process) {
    port.close();
    while let Some(line) = next(port) {
        line.unwrap();
    }
}
