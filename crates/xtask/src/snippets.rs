//! What the README shows, compiled and run from crates and files outside the workspace, as a user's are.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

use crate::run::{self, Run};
use crate::{pack, paths, setup};

/// The tests of the Rust quickstarts.
pub fn rust() -> Run {
    let manifest = paths::root().join("tests/outside/quickstart/Cargo.toml");
    run::cargo().args(["test", "--quiet", "--manifest-path"]).arg(manifest).env("CARGO_TARGET_DIR", paths::target())
}

/// The tests of the JavaScript quickstarts and of the server in wasm, with everything they need built.
pub fn javascript() -> Result<Run> {
    let chromium = setup::chromium()?;
    let tools = setup::npm("smoke")?;
    let stage = stage()?;
    Ok(run::program("node")
        .args(["--test", "--test-reporter=spec", "tests/outside/readme.test.mjs"])
        .env("SANDWIRE_STAGE", stage)
        .env("SANDWIRE_NPM", tools)
        .env("CHROMIUM", chromium))
}

/// A copy of `tests/outside` with the packed package and with the bound module of `wasm-app`.
fn stage() -> Result<PathBuf> {
    let stage = paths::target().join("outside");
    let _ = fs::remove_dir_all(&stage);
    let outside = paths::root().join("tests/outside");
    for folder in ["javascript", "wasm-app"] {
        copy(&outside.join(folder), &stage.join(folder))?;
    }
    copy(&pack::package()?, &stage.join("node_modules/sandwire"))?;
    bind(&app()?, &stage.join("wasm-app/pkg"))?;
    Ok(stage)
}

/// What `cargo build --release --target wasm32-unknown-unknown` makes of the server that the README shows.
pub fn app() -> Result<PathBuf> {
    setup::wasm_cargo()?
        .args(["build", "--quiet", "--release", "--target", setup::TARGET])
        .env("CARGO_TARGET_DIR", paths::target())
        .dir(paths::root().join("tests/outside/wasm-app"))
        .run()?;
    Ok(paths::target().join(setup::TARGET).join("release/adder.wasm"))
}

/// What `wasm-bindgen --target web` does.
fn bind(module: &Path, out: &Path) -> Result<()> {
    Bindgen::new()
        .input_path(module)
        .web(true)?
        .omit_default_module_path(false)
        .generate(out)
        .with_context(|| format!("wasm-bindgen refused {}", module.display()))
}

/// Copies the files of a folder, without what cargo has in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("reading {}", from.display()))? {
        let entry = entry?;
        let (source, copy) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            self::copy(&source, &copy)?;
        } else {
            fs::copy(&source, &copy)?;
        }
    }
    Ok(())
}
