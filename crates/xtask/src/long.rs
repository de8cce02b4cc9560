//! What takes too long for every run: soaking a server, and changing the code to see whether a test notices.

use anyhow::{Result, ensure};

use crate::run;

/// The files whose every place is changed, and the package whose tests must notice.
const MUTATED: &[(&str, &[&str])] = &[
    ("sandwire-proto", &["crates/sandwire-proto/src/http/*.rs", "crates/sandwire-proto/src/*/opening.rs"]),
    ("sandwire-server", &["crates/sandwire-server/src/http/check.rs", "crates/sandwire-server/src/guard.rs"]),
];

/// Runs mixed traffic for so many minutes.
pub fn soak(args: &[String]) -> Result<()> {
    ensure!(args.len() <= 1, "usage: cargo xtask soak [minutes]");
    let minutes = args.first().map_or("30", String::as_str);
    run::cargo().args(["run", "--quiet", "--package=chaos", "--bin=soak", "--", minutes]).run()
}

/// Runs cargo-mutants; further arguments are its own, such as `--shard 0/8`.
pub fn mutants(args: &[String]) -> Result<()> {
    for (package, files) in MUTATED {
        let files = files.iter().flat_map(|file| ["--file", file]);
        let mutants =
            run::cargo().args(["mutants", "--jobs=1", "--timeout=60", "--all-features", "--package", package]);
        let mutants = mutants.args(files).args(["--cargo-test-arg=--lib", "--cargo-test-arg=--tests"]);
        mutants.args(args).run()?;
    }
    Ok(())
}
