//! The npm package: wasm modules, bundled entries, declarations, one tarball.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::wasm::{self, Made, Source};
use crate::{paths, run, setup};

/// The entries, each with its wasm module.
pub(crate) const ENTRIES: &[(&str, Source<'_>)] = &[
    ("client", Source { package: "sandwire-js", features: &["client"], made: Made::Small }),
    ("tools", Source { package: "sandwire-js", features: &["tools"], made: Made::Smallest }),
    ("schema", Source { package: "sandwire-js", features: &["schema"], made: Made::Smallest }),
    ("server", Source { package: "sandwire-js", features: &["server"], made: Made::Small }),
    ("skills", Source { package: "sandwire-js", features: &["skills"], made: Made::Smallest }),
];

/// The entries that need no wasm module.
const PLAIN_ENTRIES: &[&str] = &["cache", "mcp-error"];

/// Packs and names the tarball.
pub(crate) fn run(args: &[String]) -> Result<()> {
    ensure!(args.is_empty(), "usage: cargo xtask pack");
    println!("{}", paths::show(&tarball()?));
    Ok(())
}

/// Makes `target/npm/sandwire-<version>.tgz`, once a run, and gives its path.
pub(crate) fn tarball() -> Result<PathBuf> {
    let package = package()?;
    let target = paths::target().join("npm");
    npm()
        .dir(&package)
        .args(["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination"])
        .arg(&target)
        .read()?;
    let tarball = target.join(format!("sandwire-{}.tgz", version()?));
    ensure!(tarball.is_file(), "npm pack left no {}", tarball.display());
    Ok(tarball)
}

/// Builds the folder that is packed, `target/npm/sandwire`, and gives its path.
pub(crate) fn package() -> Result<PathBuf> {
    let sources = paths::root().join("crates/sandwire-js/npm");
    let package = paths::target().join("npm/sandwire");
    let work = paths::target().join("npm/work");
    for folder in [&package, &work] {
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder)?;
    }
    let dist = package.join("dist");
    copy(&sources.join("src"), &work)?;
    wasm::build_all(ENTRIES, &work)?;

    let entry = |name: &str| work.join(format!("{name}.ts"));
    let entries = ENTRIES.iter().map(|(name, _)| name).chain(PLAIN_ENTRIES);
    bundle(entries.map(|name| entry(name)), &dist)?;
    declare(&sources, &work, &dist)?;
    for (name, _) in ENTRIES {
        fs::copy(work.join(format!("{name}.wasm")), dist.join(format!("{name}.wasm")))?;
    }
    copy(&sources.join("workerd"), &dist.join("workerd"))?;

    let manifest = fs::read_to_string(sources.join("package.json"))?;
    let placeholder = "\"version\": \"0.0.0\"";
    ensure!(manifest.contains(placeholder), "npm/package.json has no {placeholder}");
    let version = format!("\"version\": \"{}\"", version()?);
    fs::write(package.join("package.json"), manifest.replace(placeholder, &version))?;
    fs::copy(sources.join("README.md"), package.join("README.md"))?;
    for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(paths::root().join("crates").join(license), package.join(license))?;
    }
    Ok(package)
}

/// The tests of the package: compiles what a user writes against the declarations of the installed tarball, and gives
/// the run that uses it in Node.
pub(crate) fn tests() -> Result<(run::Run, run::Run)> {
    let consumer = paths::target().join("npm/consumer");
    install(&paths::root().join("tests/npm/package"), &consumer)?;
    let types = wasm::tool("tsc")?.dir(&consumer).args(["--project", "."]);
    let tests = run::program("node").dir(&consumer).args(["--test", "--test-reporter=spec"]);
    let tests = tests
        .env("SANDWIRE_SCHEMA_TESTS", setup::schema_tests()?)
        .env("SANDWIRE_SCHEMA_REFUSED", paths::root().join("crates/sandwire-schema/tests/refused.json"));
    Ok((types, tests))
}

/// Makes a folder like `source`, in which the packed package is installed.
pub(crate) fn install(source: &Path, folder: &Path) -> Result<()> {
    let tarball = tarball()?;
    let _ = fs::remove_dir_all(folder);
    copy(source, folder)?;
    fs::write(folder.join("package.json"), "{ \"private\": true, \"type\": \"module\" }\n")?;
    // A lock file would keep the content of an older tarball.
    npm()
        .dir(folder)
        .args(["install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"])
        .arg(tarball)
        .read()
        .map(drop)
}

/// Bundles ES modules into `folder`. Each has all that it loads, for a page loads one of them, and small chunks compress
/// badly; but `mcp-error.js` stays a file of its own, since the class in it must be the same for all.
pub(crate) fn bundle(entries: impl IntoIterator<Item = PathBuf>, folder: &Path) -> Result<()> {
    wasm::tool("esbuild")?
        .args(["--bundle", "--format=esm", "--target=es2022", "--platform=neutral"])
        .args(["--minify", "--mangle-props=^_[a-z]", "--legal-comments=none", "--log-level=warning"])
        .args(["--charset=utf8", "--external:*.wasm", "--external:*/mcp-error.js"])
        .arg(format!("--outdir={}", folder.display()))
        .args(entries)
        .run()
}

fn declare(sources: &Path, work: &Path, dist: &Path) -> Result<()> {
    fs::copy(sources.join("tsconfig.json"), work.join("tsconfig.json"))?;
    let types = wasm::tools()?.join("node_modules/@types");
    wasm::tool("tsc")?
        .dir(work)
        .args(["--project", ".", "--typeRoots"])
        .arg(types)
        .arg("--outDir")
        .arg(dist)
        .read()
        .map(drop)
}

fn version() -> Result<String> {
    let manifest = fs::read_to_string(paths::root().join("Cargo.toml"))?;
    let manifest: toml::Table = manifest.parse()?;
    let package = manifest.get("workspace").and_then(|table| table.get("package"));
    let version = package.and_then(|table| table.get("version")).and_then(toml::Value::as_str);
    Ok(version.context("the workspace has no version")?.to_owned())
}

fn npm() -> run::Run {
    run::program(if cfg!(windows) { "npm.cmd" } else { "npm" })
}

pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let entries = fs::read_dir(from).with_context(|| format!("reading {}", from.display()))?;
    for entry in entries {
        let path = entry?.path();
        let Some(name) = path.file_name() else { bail!("{} has no name", path.display()) };
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}
