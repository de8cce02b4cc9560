//! The standard library and its sources from Debian's `rust-src`, for machines where rustup cannot add
//! them. It goes into a private copy of the toolchain: the user's stays as it is.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::rust;
use crate::paths;
use crate::run;

/// Suites that may have the sources of the compiler in use; the newest release comes first.
const SUITES: &[&str] = &["trixie-backports", "forky", "sid"];
const SOURCES: &str = "/etc/apt/sources.list.d/debian.sources";

/// Whether a folder of libraries holds a standard library.
pub fn has_core(libraries: &Path) -> bool {
    std::fs::read_dir(libraries).into_iter().flatten().flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("libcore-") && name.ends_with(".rlib")
    })
}

/// Whether the private toolchain builds for `target`.
pub fn is_ready(toolchain: &Path, target: &str) -> bool {
    toolchain.join("bin/cargo").exists() && has_core(&libraries(toolchain, target)) && sources(toolchain).exists()
}

/// Makes the private toolchain.
pub fn install(toolchain: &Path, target: &str) -> Result<()> {
    let version = rust::version()?;
    println!("setup: building the standard library for {target} from Debian's rust-src {version}");
    let work = paths::cache().join("rust-src");
    let _ = std::fs::remove_dir_all(&work);
    std::fs::create_dir_all(&work)?;
    let package = download(&work, &version)?;
    run::program("dpkg").arg("-x").arg(&package).arg(work.join("unpacked")).run()?;

    let _ = std::fs::remove_dir_all(toolchain);
    copy(&rust::sysroot()?, toolchain)?;
    let sources = work.join("unpacked/usr/src").join(format!("rustc-{version}/library"));
    let home = self::sources(toolchain);
    let _ = std::fs::remove_dir_all(&home);
    copy(&sources, &home)?;
    // Two standard libraries in one toolchain would clash.
    if !has_core(&libraries(toolchain, target)) {
        build(toolchain, target, &work)?;
    }
    std::fs::remove_dir_all(&work)?;
    if !is_ready(toolchain, target) {
        bail!("the build left no standard library in {}", toolchain.display());
    }
    Ok(())
}

/// Fetches the package with an apt of its own state, so that nothing of the system changes.
fn download(work: &Path, version: &str) -> Result<PathBuf> {
    let known =
        std::fs::read_to_string(SOURCES).with_context(|| format!("{SOURCES} tells which Debian mirror to use"))?;
    let field = |name: &str| {
        let line = known.lines().find_map(|line| line.strip_prefix(name));
        line.map(str::trim).with_context(|| format!("{SOURCES} has no {name}"))
    };
    let (mirror, keyring) = (field("URIs:")?, field("Signed-By:")?);
    for name in ["parts", "lists/partial", "cache/archives/partial"] {
        std::fs::create_dir_all(work.join(name))?;
    }
    let mut last = None;
    for suite in SUITES {
        let list = work.join("sources.list");
        std::fs::write(&list, format!("deb [signed-by={keyring}] {mirror} {suite} main\n"))?;
        let apt = || {
            let option = |name: &str, path: &str| format!("-o{name}={}", work.join(path).display());
            run::program("apt-get").dir(work).args([
                option("Dir::Etc::sourcelist", "sources.list"),
                option("Dir::Etc::sourceparts", "parts"),
                option("Dir::State::lists", "lists"),
                option("Dir::Cache", "cache"),
                "-oAPT::Sandbox::User=root".to_owned(),
            ])
        };
        let wanted = format!("rust-src={version}*");
        let got = apt().arg("update").read().and_then(|_| apt().args(["download", &wanted]).read());
        match got {
            Ok(_) => {
                let found = std::fs::read_dir(work)?.flatten().map(|entry| entry.path());
                let package = found.into_iter().find(|path| path.extension().is_some_and(|e| e == "deb"));
                return package.context("apt-get download left no package");
            }
            Err(error) => last = Some(error),
        }
    }
    let error = last.unwrap_or_else(|| anyhow::anyhow!("no suite to look in"));
    Err(error.context(format!("Debian has no rust-src {version}")))
}

fn build(toolchain: &Path, target: &str, work: &Path) -> Result<()> {
    let empty = work.join("empty");
    std::fs::create_dir_all(empty.join("src"))?;
    std::fs::write(empty.join("Cargo.toml"), "[package]\nname = \"empty\"\nedition = \"2024\"\n[workspace]\n")?;
    std::fs::write(empty.join("src/lib.rs"), "")?;
    let bin = toolchain.join("bin");
    let out = work.join("target");
    run::program(bin.join("cargo"))
        .dir(&empty)
        .env("RUSTC", bin.join("rustc"))
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Cembed-bitcode=yes")
        .env("CARGO_TARGET_DIR", &out)
        .args(["build", "--release", "--target", target])
        .arg("-Zbuild-std=core,alloc,std,panic_abort,panic_unwind,test,proc_macro")
        .run()?;
    let libraries = libraries(toolchain, target);
    std::fs::create_dir_all(&libraries)?;
    for entry in std::fs::read_dir(out.join(target).join("release/deps"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".rlib") && !name.starts_with("libempty-") {
            std::fs::copy(&path, libraries.join(name))?;
        }
    }
    Ok(())
}

/// Where a toolchain keeps the sources of the standard library.
pub fn sources(toolchain: &Path) -> PathBuf {
    toolchain.join("lib/rustlib/src/rust/library")
}

/// Where a toolchain keeps the standard library of `target`.
pub fn libraries(toolchain: &Path, target: &str) -> PathBuf {
    toolchain.join("lib/rustlib").join(target).join("lib")
}

/// Copies a tree; files become hard links where both ends are on one file system.
fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| format!("reading {}", from.display()))? {
        let entry = entry?;
        let (source, copy) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            self::copy(&source, &copy)?;
        } else if std::fs::hard_link(&source, &copy).is_err() {
            std::fs::copy(&source, &copy)?;
        }
    }
    Ok(())
}
