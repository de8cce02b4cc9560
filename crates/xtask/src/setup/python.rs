//! Python packages from a committed list of versions.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use super::apt;
use crate::paths;
use crate::run;

const OLDEST: (u32, u32) = (3, 10);

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The list of most packages.
pub const PYTHON: &str = "requirements.txt";

/// That of what cannot be beside them: the first line of the official package.
pub const PYTHON_V1: &str = "requirements-v1.txt";

/// The Python of an environment in the cache that has the packages of a list in `tests/python`.
pub fn python(list: &str) -> Result<PathBuf> {
    let _guard = ONE_AT_A_TIME.lock();
    let list = paths::root().join("tests/python").join(list);
    let versions = std::fs::read(&list).with_context(|| format!("reading {}", list.display()))?;
    let system = system()?;
    let mut hash = Sha256::new();
    hash.update(&versions);
    hash.update(&system.version);
    let hash: String = hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let dir = paths::cache().join("python").join(hash);
    let python = in_environment(&dir);
    if python.exists() {
        return Ok(python);
    }
    println!("setup: the Python packages of {}", paths::show(&list));
    let fresh = dir.with_extension(format!("{}.tmp", std::process::id()));
    let _ = std::fs::remove_dir_all(&fresh);
    environment(system.name, &fresh)?;
    run::program(in_environment(&fresh))
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--requirement"])
        .arg(&list)
        .read()
        .with_context(|| format!("run `pip install -r {}` in a fresh environment", paths::show(&list)))?;
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::rename(&fresh, &dir)?;
    Ok(python)
}

/// The system's own Python.
struct System {
    name: &'static str,
    version: String,
}

fn system() -> Result<System> {
    let advice = format!("install Python {}.{} or newer, with venv", OLDEST.0, OLDEST.1);
    let name = if cfg!(windows) { "python" } else { "python3" };
    if !run::exists(name) {
        apt::install("python3-venv", &advice)?;
    }
    let text = run::program(name).arg("--version").read().context(advice.clone())?;
    let version = text.trim().trim_start_matches("Python ").to_owned();
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    if (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < OLDEST {
        bail!("Python {version} is too old: {advice}");
    }
    Ok(System { name, version })
}

/// Makes an empty environment; Debian keeps what that takes in a package of its own.
fn environment(python: &str, dir: &Path) -> Result<()> {
    let make = || run::program(python).args(["-m", "venv"]).arg(dir).read();
    if make().is_ok() {
        return Ok(());
    }
    apt::install("python3-venv", "Python has no venv: run `sudo apt-get install -y python3-venv`")?;
    make().map(drop)
}

fn in_environment(dir: &Path) -> PathBuf {
    dir.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}
