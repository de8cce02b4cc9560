//! The standard library for wasm: built, for checks and for crates that are built plainly, and as sources, for the modules
//! that are weighed; and for Windows, for checks.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, bail};

use super::debian;
use crate::paths;
use crate::run::{self, Run};

/// The target of pages, workers and edge isolates.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// The target that stands for Windows: it is checked, and nothing is linked.
pub const WINDOWS: &str = "x86_64-pc-windows-gnu";

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A cargo that can build for [`TARGET`].
///
/// Asks rustup for the target where it is missing. Where rustup is refused, a private copy of the
/// toolchain with Debian's sources of the standard library does it, but only when asked for:
/// `setup --std-from-debian`, or `SANDWIRE_STD_FROM_DEBIAN` in the environment.
pub fn wasm_cargo() -> Result<Run> {
    cargo_with(&Part { noun: "target", name: TARGET, is_in: builds, from_debian: true })
}

/// A cargo that can build the standard library itself for [`TARGET`]. What is built with it may use the flags that the
/// library needs for that.
pub fn std_cargo() -> Result<Run> {
    let sources = Part { noun: "component", name: "rust-src", is_in: has_sources, from_debian: true };
    Ok(cargo_with(&sources)?.env("RUSTC_BOOTSTRAP", "1"))
}

/// A cargo that can check for [`WINDOWS`].
pub fn windows_cargo() -> Result<Run> {
    let is_in = |sysroot: &Path| debian::has_core(&debian::libraries(sysroot, WINDOWS));
    cargo_with(&Part { noun: "target", name: WINDOWS, is_in, from_debian: false })
}

/// Something that rustup adds to a toolchain.
struct Part {
    /// The command of rustup that adds it.
    noun: &'static str,
    name: &'static str,
    /// Whether the toolchain in a folder has it.
    is_in: fn(&Path) -> bool,
    /// Whether Debian's sources do in its place.
    from_debian: bool,
}

fn cargo_with(part: &Part) -> Result<Run> {
    let _guard = ONE_AT_A_TIME.lock();
    let Part { noun, name, is_in, from_debian } = part;
    if is_in(&sysroot()?) {
        return Ok(run::cargo());
    }
    let private = private_toolchain()?;
    if *from_debian && debian::is_ready(&private, TARGET) {
        return Ok(cargo_of(&private));
    }
    println!("setup: rustup {noun} add {name}");
    let refusal = match run::program("rustup").args([noun, "add", name]).read() {
        Ok(_) if is_in(&sysroot()?) => return Ok(run::cargo()),
        Ok(_) => anyhow::anyhow!("rustup added it to another toolchain than the one in use"),
        Err(error) => error,
    };
    if !from_debian {
        bail!("Rust cannot check for {name}: run `rustup {noun} add {name}` (rustup said: {refusal:#})");
    }
    if std::env::var_os("SANDWIRE_STD_FROM_DEBIAN").is_some() {
        println!("setup: rustup refused ({refusal:#})");
        debian::install(&private, TARGET)?;
        return Ok(cargo_of(&private));
    }
    let said = format!("{refusal:#}");
    bail!(
        "Rust cannot build for {TARGET}: run `rustup {noun} add {name}`, or on Debian \
         `cargo xtask setup --std-from-debian` (rustup said: {})",
        said.lines().last().unwrap_or("nothing")
    )
}

/// Takes the sources of the standard library from Debian and builds it, unless the toolchain has both already.
pub fn from_debian() -> Result<()> {
    let _guard = ONE_AT_A_TIME.lock();
    let (sysroot, private) = (sysroot()?, private_toolchain()?);
    if builds(&sysroot) && has_sources(&sysroot) || debian::is_ready(&private, TARGET) {
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

fn builds(sysroot: &Path) -> bool {
    debian::has_core(&debian::libraries(sysroot, TARGET))
}

fn has_sources(sysroot: &Path) -> bool {
    debian::sources(sysroot).join("std/Cargo.toml").is_file()
}

fn cargo_of(toolchain: &Path) -> Run {
    let bin = toolchain.join("bin");
    run::program(bin.join("cargo")).env("RUSTC", bin.join("rustc")).env("RUSTDOC", bin.join("rustdoc"))
}
