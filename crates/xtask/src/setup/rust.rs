//! The standard library for wasm.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, bail};

use super::debian;
use crate::paths;
use crate::run::{self, Run};

/// The target of pages, workers and edge isolates.
pub const TARGET: &str = "wasm32-unknown-unknown";

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A cargo that can build for [`TARGET`].
///
/// Asks rustup for the target where it is missing. Where rustup is refused, a private copy of the
/// toolchain with Debian's sources of the standard library does it, but only when asked for:
/// `setup --std-from-debian`, or `SANDWIRE_STD_FROM_DEBIAN` in the environment.
pub fn wasm_cargo() -> Result<Run> {
    let _guard = ONE_AT_A_TIME.lock();
    if builds_with(Path::new("rustc"))? {
        return Ok(run::cargo());
    }
    let private = private_toolchain()?;
    if debian::is_ready(&private, TARGET) {
        return Ok(cargo_of(&private));
    }
    println!("setup: rustup target add {TARGET}");
    let refusal = match run::program("rustup").args(["target", "add", TARGET]).read() {
        Ok(_) if builds_with(Path::new("rustc"))? => return Ok(run::cargo()),
        Ok(_) => anyhow::anyhow!("rustup added it to another toolchain than the one in use"),
        Err(error) => error,
    };
    if std::env::var_os("SANDWIRE_STD_FROM_DEBIAN").is_some() {
        println!("setup: rustup refused ({refusal:#})");
        debian::install(&private, TARGET)?;
        return Ok(cargo_of(&private));
    }
    let said = format!("{refusal:#}");
    bail!(
        "Rust cannot build for {TARGET}: run `rustup target add {TARGET}`, or on Debian \
         `cargo xtask setup --std-from-debian` (rustup said: {})",
        said.lines().last().unwrap_or("nothing")
    )
}

/// Builds the standard library from Debian's sources, unless the target can be built for already:
/// two standard libraries in one toolchain would clash.
pub fn from_debian() -> Result<()> {
    let _guard = ONE_AT_A_TIME.lock();
    let private = private_toolchain()?;
    if builds_with(Path::new("rustc"))? || debian::is_ready(&private, TARGET) {
        println!("setup: Rust builds for {TARGET} already, nothing to take from Debian");
        return Ok(());
    }
    debian::install(&private, TARGET)
}

/// The toolchain's own folder.
pub fn sysroot() -> Result<PathBuf> {
    let path = run::program("rustc").args(["--print", "sysroot"]).read()?;
    Ok(PathBuf::from(path.trim()))
}

/// The version of rustc, as `1.95.0`.
pub fn version() -> Result<String> {
    let line = run::program("rustc").arg("--version").read()?;
    let version = line.split(' ').nth(1).context("rustc --version names no version")?;
    Ok(version.to_owned())
}

fn private_toolchain() -> Result<PathBuf> {
    Ok(paths::cache().join(format!("toolchain-{}", version()?)))
}

fn builds_with(rustc: &Path) -> Result<bool> {
    let dir = run::program(rustc).args(["--print", "target-libdir", "--target", TARGET]).read()?;
    Ok(debian::has_core(Path::new(dir.trim())))
}

fn cargo_of(toolchain: &Path) -> Run {
    let bin = toolchain.join("bin");
    run::program(bin.join("cargo")).env("RUSTC", bin.join("rustc")).env("RUSTDOC", bin.join("rustdoc"))
}
