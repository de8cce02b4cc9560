//! Build, test and release automation: `cargo xtask help`.

mod api;
mod bench;
mod conformance;
mod demo;
mod features;
mod interop;
mod long;
mod pack;
mod paths;
mod run;
mod setup;
mod size;
mod snippets;
mod test;
mod tidy;
mod wasm;

use std::process::ExitCode;

use anyhow::{Result, bail};

const HELP: &str = "\
usage: cargo xtask <command>

  setup   install what the other commands need; they also call the part they need
          --std-from-debian  where rustup cannot add the wasm target
  demo    build the workbench and serve it on loopback
          --port <port>, --open; --check tests it headless instead
  pack    make the npm package, target/npm/sandwire-<version>.tgz
  size    weigh what a page loads against crates/sandwire-js/size.toml
          --where <module>  lists where the bytes are
  bench   measure latencies beside those of the peers
          --json; --check fails when a required ratio is missed; --quick; memory, node, native
  test    run every suite, or the named ones; --list lists them
  conformance  run the official suite against our client and our server, natively and as wasm
          native|wasm, server|client: only these; --scenario <name>: one, in full
  tidy    check the rules of crates/README.md
  api     compare what crates promise with crates/*/api.txt; --bless writes them anew
  interop run our client and server with those of others, and compare tests/interop/README.md;
          --bless writes it anew; words choose rows
  soak    mixed traffic against a native server whose memory must not grow, not part of `test`; soak [minutes], else 30
  mutants   change the HTTP rules and the opening files one place at a time and see that a test notices, not part of
          `test`; takes hours and cargo-mutants, `cargo install cargo-mutants`
  features  check every crate without each of its default features
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Result<()> {
    let (command, rest) = args.split_first().map_or(("help", args), |(c, rest)| (c.as_str(), rest));
    if rest.iter().any(|arg| arg == "--help" || arg == "-h") {
        return dispatch(&[]);
    }
    match command {
        "setup" => setup::run(rest),
        "demo" => demo::run(rest),
        "test" => test::run(rest),
        "conformance" => conformance::run(rest),
        "tidy" => tidy::run(rest),
        "api" => api::run(rest),
        "features" => features::run(rest),
        "interop" => interop::run(rest),
        "soak" => long::soak(rest),
        "mutants" => long::mutants(rest),
        "pack" => pack::run(rest),
        "size" => size::run(rest),
        "bench" => bench::run(rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => bail!("there is no command `{other}`; `cargo xtask help` lists them"),
    }
}
