//! Which processes a row has left behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How long what has lost its client may take to end.
const ENDING: Duration = Duration::from_secs(5);

/// The last argument of every program that a row starts.
#[derive(Debug)]
pub(crate) struct Mark(String);

impl Mark {
    /// A mark that nothing else has.
    pub(crate) fn new(number: usize) -> Self {
        Self(format!("interop-{}-{number}", std::process::id()))
    }

    /// The argument.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Waits until no process has the mark, and kills and gives those that still have it then.
    pub(crate) fn end(&self) -> Vec<String> {
        let end = Instant::now() + ENDING;
        let mut alive = self.alive();
        while !alive.is_empty() && Instant::now() < end {
            thread::sleep(Duration::from_millis(20));
            alive = self.alive();
        }
        for (path, _) in &alive {
            if let Some(id) = path.file_name() {
                let _ = std::process::Command::new("kill").arg("-KILL").arg(id).status();
            }
        }
        alive.into_iter().map(|(_, line)| line).collect()
    }

    fn alive(&self) -> Vec<(PathBuf, String)> {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let lines = processes.map(|entry| (entry.path(), line(&entry.path())));
        lines.filter(|(_, line)| line.split(' ').any(|word| word == self.0)).collect()
    }
}

fn line(process: &Path) -> String {
    let command = fs::read(process.join("cmdline")).unwrap_or_default();
    let words: Vec<_> = command.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    words.join(" ")
}
