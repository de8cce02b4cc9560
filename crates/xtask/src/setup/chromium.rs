//! A Chromium for the page's tests.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Result, bail};

use crate::run;

const COMMANDS: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];
const PLACES: &[&str] = &[
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Google/Chrome/Application/chrome.exe",
];

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The path of a Chromium: the one that `CHROMIUM` names, one that is installed, or Debian's,
/// which is installed if we are allowed to.
pub fn chromium() -> Result<PathBuf> {
    let _guard = ONE_AT_A_TIME.lock();
    if let Some(path) = std::env::var_os("CHROMIUM") {
        return Ok(PathBuf::from(path));
    }
    if let Some(path) = find() {
        return Ok(path);
    }
    const ADVICE: &str = "no Chromium was found: run `sudo apt-get install -y chromium`, or name \
                          one in the variable CHROMIUM";
    if !run::exists("apt-get") {
        bail!("{ADVICE}");
    }
    println!("setup: apt-get install chromium");
    let refused = ["update", "install"]
        .into_iter()
        .find_map(|step| apt_get(step).err());
    match find() {
        Some(path) => Ok(path),
        None => match refused {
            Some(error) => Err(error.context(ADVICE)),
            None => bail!("{ADVICE}"),
        },
    }
}

fn apt_get(step: &str) -> Result<()> {
    let root = run::program("id")
        .arg("-u")
        .read()
        .is_ok_and(|id| id.trim() == "0");
    let apt = if root {
        run::program("apt-get")
    } else {
        run::program("sudo").args(["-n", "apt-get"])
    };
    let apt = apt
        .env("DEBIAN_FRONTEND", "noninteractive")
        .arg("-q")
        .arg(step);
    match step {
        "install" => apt.args(["-y", "--no-install-recommends", "chromium"]),
        _ => apt,
    }
    .read()
    .map(drop)
}

fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path)
        .flat_map(|dir| COMMANDS.iter().map(move |command| dir.join(command)));
    let known = PLACES.iter().map(PathBuf::from);
    in_path.chain(known).find(|candidate| is_program(candidate))
}

fn is_program(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file()
}
