//! Which processes a row has left behind, and what ours have kept of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How long what has lost its client may take to end.
const ENDING: Duration = Duration::from_secs(5);

/// The last argument of every server that a row starts, and so of its client: where ours keep their record.
#[derive(Debug)]
pub(crate) struct Mark(String);

impl Mark {
    /// A mark that nothing else has.
    pub(crate) fn new(number: usize) -> Self {
        let folder = std::env::temp_dir().join(format!("interop-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("there is a folder for what is temporary");
        Self(folder.join(number.to_string()).to_str().expect("paths are text").to_owned())
    }

    /// The argument.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// What ours have kept.
    pub(crate) fn record(&self) -> String {
        let record = fs::read_to_string(&self.0).unwrap_or_default();
        let _ = fs::remove_file(&self.0);
        record
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
