//! Which processes a test has left behind.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use sandwire_native::stdio::Command;

const VARIABLE: &str = "SANDWIRE_TEST_MARK";

/// A value in the environment of everything that one test starts.
#[derive(Clone, Debug)]
pub struct Mark(String);

impl Mark {
    /// A mark that nothing else has.
    #[must_use]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}-{number}", std::process::id()))
    }

    /// A mark that was made in another process.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// What [`named`](Self::named) takes.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }

    /// The command with the mark, which what it starts inherits.
    #[must_use]
    pub fn on(&self, command: Command) -> Command {
        command.env(VARIABLE, &self.0)
    }

    /// The processes that have the mark.
    #[must_use]
    pub fn alive(&self) -> Vec<Process> {
        let wanted = format!("{VARIABLE}={}", self.0);
        let own = std::process::id().to_string();
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = processes.filter_map(|entry| entry.file_name().into_string().ok());
        ids.filter(|id| *id != own && id.bytes().all(|byte| byte.is_ascii_digit()))
            .map(|id| PathBuf::from("/proc").join(id))
            .filter(|path| {
                let environment = fs::read(path.join("environ")).unwrap_or_default();
                environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
            })
            .map(|path| Process { line: line(&path), path })
            .collect()
    }

    /// Waits until no process has the mark.
    ///
    /// # Panics
    ///
    /// When some still have it once the time is over. They are killed.
    pub fn assert_gone(&self, within: Duration) {
        let end = Instant::now() + within;
        let mut alive = self.alive();
        while !alive.is_empty() && Instant::now() < end {
            thread::sleep(Duration::from_millis(10));
            alive = self.alive();
        }
        if !alive.is_empty() {
            alive.iter().for_each(Process::kill);
            let lines: Vec<_> = alive.iter().map(|process| process.line.as_str()).collect();
            panic!("left behind after {within:?}: {lines:#?}");
        }
    }
}

/// A process that is alive.
#[derive(Debug)]
pub struct Process {
    path: PathBuf,
    /// Its number and its command.
    pub line: String,
}

impl Process {
    /// Ends it.
    pub fn kill(&self) {
        if let Some(id) = self.path.file_name() {
            let _ = std::process::Command::new("kill").arg("-KILL").arg(id).status();
        }
    }
}

fn line(path: &std::path::Path) -> String {
    let command = fs::read(path.join("cmdline")).unwrap_or_default();
    let words: Vec<_> = command.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    format!("{} {}", path.display(), words.join(" "))
}

/// How many of this process's children have ended and were not reaped.
#[must_use]
pub fn unreaped() -> usize {
    let own = std::process::id().to_string();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let stats = processes.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    stats
        .filter(|stat| {
            // The name, in parentheses, may have spaces.
            let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
            let mut words = rest.split(' ');
            words.next() == Some("Z") && words.next() == Some(&own)
        })
        .count()
}
