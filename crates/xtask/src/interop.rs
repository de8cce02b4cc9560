//! Our client with servers of others, and their clients with our server: the table of `tests/interop`.

use std::path::PathBuf;

use anyhow::Result;

use crate::{pack, paths, run, setup};

/// The folder of the peer that is compiled, a workspace of its own.
pub const RMCP: &str = "interop/peers/rust";

/// Runs the pairs and compares the table, or with `--bless` writes it anew.
pub fn run(args: &[String]) -> Result<()> {
    run::cargo().args(["build", "--quiet", "--release"]).dir(folder()).env("CARGO_TARGET_DIR", target()).run()?;
    // `run` would build one program of three.
    run::cargo().args(["build", "--quiet", "--package=interop", "--bins"]).run()?;
    run::cargo()
        .args(["run", "--quiet", "--package=interop", "--"])
        .args(args)
        .env("SANDWIRE_NPM", setup::npm("native")?)
        .env("SANDWIRE_PYTHON", setup::python(setup::PYTHON)?)
        .env("SANDWIRE_PYTHON_V1", setup::python(setup::PYTHON_V1)?)
        .env("SANDWIRE_RMCP", target().join("release"))
        .env("SANDWIRE_PACKAGE", pack::package()?)
        .env("SANDWIRE_SPEC", paths::spec())
        .run()
}

fn folder() -> PathBuf {
    paths::root().join("tests").join(RMCP)
}

fn target() -> PathBuf {
    paths::target().join(RMCP)
}
