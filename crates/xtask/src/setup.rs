//! What the other commands need before they can start. Each part looks first, does only what is
//! missing, says what it did, and ends in one line naming the command to run where it cannot.

mod apt;
mod debian;
mod npm;
mod programs;
mod python;
mod rust;
mod schema_tests;

use anyhow::{Result, bail};

pub use npm::{newer_node, node, node_of, npm, workerd};
pub use programs::{chromium, valgrind};
pub use python::{PYTHON, PYTHON_V1, python};
pub use rust::{TARGET, WINDOWS, std_cargo, wasm_cargo, windows_cargo};
pub use schema_tests::schema_tests;

/// Sets everything up.
pub fn run(args: &[String]) -> Result<()> {
    match args {
        [] => {}
        [flag] if flag == "--std-from-debian" => rust::from_debian()?,
        _ => bail!("usage: cargo xtask setup [--std-from-debian]"),
    }
    let mut missing = Vec::new();
    let mut part = |result: Result<String>| match result {
        Ok(line) => println!("setup: {line}"),
        Err(error) => missing.push(error),
    };
    part(wasm_cargo().map(|_| format!("Rust builds for {TARGET}")));
    part(windows_cargo().map(|_| format!("Rust checks for {WINDOWS}")));
    part(std_cargo().map(|_| "sources of the standard library".to_owned()));
    part(node().map(|version| format!("Node {version}")));
    for set in npm::sets()? {
        part(npm(&set).map(|dir| format!("npm tools of tests/npm/{set} in {}", dir.display())));
    }
    part(chromium().map(|path| format!("Chromium at {}", path.display())));
    part(valgrind().map(|()| "valgrind".to_owned()));
    for list in [PYTHON, PYTHON_V1] {
        part(python(list).map(|path| format!("Python packages of tests/python/{list} for {}", path.display())));
    }
    part(schema_tests().map(|path| format!("tests of JSON Schema in {}", path.display())));
    if missing.is_empty() {
        return Ok(());
    }
    for error in &missing {
        eprintln!("setup: {error:#}");
    }
    bail!("{} of the parts could not be set up", missing.len())
}
