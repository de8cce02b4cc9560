//! The table of suites.

use anyhow::Result;

use super::Job;
use super::count;
use crate::run::{self, Run};
use crate::setup;

/// One suite.
pub struct Suite {
    /// What `cargo xtask test` calls it.
    pub name: &'static str,
    /// What it proves.
    pub about: &'static str,
    /// Its budget, from a clean checkout on two cores.
    pub minutes: u32,
    /// What it needs that can be installed while others compile.
    pub needs: &'static [Need],
    /// Runs it.
    pub run: fn(&mut Job<'_>) -> Result<()>,
}

/// Something that takes long to install.
#[derive(Debug, Clone, Copy)]
pub enum Need {
    /// A set of npm packages.
    Npm(&'static str),
    /// A browser.
    Chromium,
}

/// Every suite, in the order in which they run: what is cheap first.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "fmt",
        about: "every crate is formatted",
        minutes: 1,
        needs: &[],
        run: |job| job.check(run::cargo().args(["fmt", "--all", "--check"])),
    },
    Suite {
        name: "tidy",
        about: "the rules of crates/README.md hold, and each rule can fail",
        minutes: 2,
        needs: &[],
        run: |job| job.counted(cargo_test().args(["--package=xtask"]), count::cargo),
    },
    Suite {
        name: "unit",
        about: "what the crates do, their examples included",
        minutes: 4,
        needs: &[],
        run: |job| {
            let test = cargo_test().args(["--workspace", "--exclude=xtask", "--no-fail-fast"]);
            job.counted(test.args(["--", "--show-output"]), count::cargo)
        },
    },
    Suite {
        name: "clippy",
        about: "no lint, natively and in wasm",
        minutes: 2,
        needs: &[],
        run: |job| {
            let lint = |cargo: Run| cargo.arg("clippy").arg("--quiet");
            job.check(deny(
                lint(run::cargo()).args(["--workspace", "--all-targets"]),
            ))?;
            let wasm = lint(setup::wasm_cargo()?).args(["--target", setup::TARGET, "--lib"]);
            job.check(deny(
                wasm.args(["--package=sandwire", "--package=sandwire-js"]),
            ))
        },
    },
    Suite {
        name: "docs",
        about: "every link in the documentation leads somewhere",
        minutes: 2,
        needs: &[],
        run: |job| {
            let doc = run::cargo().args(["doc", "--quiet", "--workspace", "--no-deps"]);
            job.check(doc.env("RUSTDOCFLAGS", "-D warnings"))
        },
    },
];

fn cargo_test() -> Run {
    run::cargo().arg("test").arg("--quiet")
}

/// Warnings become errors as an argument of clippy: in `RUSTFLAGS` they would compile everything
/// again.
fn deny(clippy: Run) -> Run {
    clippy.args(["--", "--deny=warnings"])
}
