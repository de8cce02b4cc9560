//! Programs of others, which `cargo xtask test native` installs and names in the environment.

use std::path::PathBuf;

use sandwire_native::stdio::Command;

/// A folder or program that a variable of the environment names.
///
/// # Panics
///
/// Without the variable.
#[must_use]
pub fn named(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(path) => PathBuf::from(path),
        None => panic!("{variable} is not set: run `cargo xtask test native`, which installs what it names"),
    }
}

/// The folder with the packages of `tests/npm/native`.
#[must_use]
pub fn npm() -> PathBuf {
    named("SANDWIRE_NPM").join("node_modules")
}

/// The Python with the packages of `tests/python`.
#[must_use]
pub fn python() -> PathBuf {
    named("SANDWIRE_PYTHON")
}

/// A server of npm, as it is published.
#[must_use]
pub fn npm_server(name: &str) -> Command {
    let script = npm().join(format!("@modelcontextprotocol/server-{name}/dist/index.js"));
    Command::new("node").arg(script)
}

/// A server of PyPI, as it is published.
#[must_use]
pub fn python_server(name: &str) -> Command {
    Command::new(python()).arg("-m").arg(format!("mcp_server_{name}"))
}
