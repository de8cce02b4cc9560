//! The rules of `crates/README.md` that the compiler does not know.

mod code;
mod docs;
mod faults;
mod graph;
mod layers;
mod requirements;
mod source;
mod text;
mod workspace;

use anyhow::{Result, ensure};

pub use layers::LAYERS;
pub use source::{attributes, is_for_tests};
use workspace::Workspace;

/// A rule, and what breaks it.
struct Rule {
    about: &'static str,
    check: fn(&Workspace) -> Vec<String>,
}

const RULES: &[Rule] = &[
    Rule { about: "a crate uses only the crates that the layers table lets it", check: layers::edges },
    Rule { about: "no tokio in a normal dependency tree", check: graph::tokio },
    Rule { about: "wasm-bindgen and its kin only under sandwire-web and sandwire-js", check: graph::bindings },
    Rule { about: "no heavy crate in a default wasm tree", check: graph::heavy },
    Rule { about: "what we build on has a license that fits", check: graph::licenses },
    Rule {
        about: "the lock files of tests/*, tests/outside/* and tests/interop/peers/* are up to date",
        check: graph::locks,
    },
    Rule { about: "below layer 3 only sandwire-io/src/bounds.rs knows the target", check: code::target_cfg },
    Rule { about: "layer 0 has no async, no clock, no randomness and no I/O", check: code::pure },
    Rule { about: "versions are compared in version.rs and opening.rs only", check: code::versions },
    Rule { about: "shipped code does not panic by a macro", check: code::panics },
    Rule { about: "no mistakes that are made on purpose can ship", check: faults::ship },
    Rule { about: "unsafe is forbidden outside the binding crates", check: code::unsafety },
    Rule { about: "a file has at most 600 lines, or a reason", check: text::long_files },
    Rule { about: "what the specification requires is proved by tests that exist", check: requirements::proved },
    Rule { about: "every test runs", check: text::disabled_tests },
    Rule { about: "nothing names a package registry's host", check: text::registries },
    Rule { about: "the conformance programs leave the wire to the library", check: text::wire_words },
    Rule { about: "one clippy configuration for what ships", check: text::clippy_files },
    Rule { about: "every crate says what it is for", check: docs::crates },
    Rule { about: "crates/README.md has every crate", check: docs::map },
    Rule { about: "README.md tells what works where", check: docs::status },
    Rule { about: "README.md shows no code that is not tested", check: docs::snippets },
];

/// Checks every rule and prints what breaks one.
pub fn run(args: &[String]) -> Result<()> {
    ensure!(args.is_empty(), "usage: cargo xtask tidy");
    let broken = violations(&Workspace::load()?);
    for line in &broken {
        eprintln!("{line}");
    }
    println!("{} passed, {} failed", RULES.len() - broken.len().min(RULES.len()), broken.len());
    ensure!(broken.is_empty(), "crates/README.md tells why these rules are there");
    Ok(())
}

fn violations(workspace: &Workspace) -> Vec<String> {
    let broken = |rule: &Rule| {
        let found = (rule.check)(workspace);
        let found = found.iter().map(|line| format!("\n  {line}")).collect::<String>();
        (!found.is_empty()).then(|| format!("{}:{found}", rule.about))
    };
    RULES.iter().filter_map(broken).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_tidy() {
        let broken = violations(&Workspace::load().unwrap());
        assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
    }
}
