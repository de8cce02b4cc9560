//! Programs of the system that the tests need.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Result, bail};

use super::apt;
use crate::run;

const CHROMIUM: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const PLACES: &[&str] = &[
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Google/Chrome/Application/chrome.exe",
];

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The path of a Chromium: the one that `CHROMIUM` names, one that is installed, or the system's package, which is
/// installed if we are allowed to.
pub fn chromium() -> Result<PathBuf> {
    const ADVICE: &str = "no Chromium was found: run `sudo apt-get install -y chromium`, or name one in the variable \
                          CHROMIUM";
    let _guard = ONE_AT_A_TIME.lock();
    if let Some(path) = std::env::var_os("CHROMIUM") {
        return Ok(PathBuf::from(path));
    }
    if let Some(path) = find(CHROMIUM, PLACES) {
        return Ok(path);
    }
    apt::install("chromium", ADVICE)?;
    match find(CHROMIUM, PLACES) {
        Some(path) => Ok(path),
        None => bail!("{ADVICE}"),
    }
}

/// Makes sure that valgrind is there, which counts instructions.
pub fn valgrind() -> Result<()> {
    let _guard = ONE_AT_A_TIME.lock();
    if run::exists("valgrind") {
        return Ok(());
    }
    apt::install("valgrind", "valgrind was not found: run `sudo apt-get install -y valgrind`")
}

fn find(commands: &[&str], places: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).flat_map(|dir| commands.iter().map(move |name| dir.join(name)));
    in_path.chain(places.iter().map(PathBuf::from)).find(|candidate| is_program(candidate))
}

fn is_program(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file()
}
