//! The official conformance suite against a server and a client of ours, natively and as wasm: `tests/conformance`.
//!
//! Strict: a warning fails, a check that was skipped fails unless the suite always skips it, and what is expected to
//! fail must fail. A client's exit status counts only where the suite runs one scenario alone, so each is run so too.

mod legs;
mod report;
mod subjects;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Result, bail, ensure};

use legs::Side;
use report::Report;
use subjects::{Host, Subjects};

use crate::{paths, run, setup};

const SET: &str = "conformance";

/// The suites wait most of the time, for each other's answers and for silence.
const AT_ONCE: usize = 4;

/// Runs all legs, or some; the last line has the totals.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let wanted = Wanted::parse(args)?;
    let subjects = Subjects::build(&wanted.hosts, &wanted.sides)?;
    match &wanted.scenario {
        Some(scenario) => one(&wanted, &subjects, scenario),
        None => all(&wanted, &subjects),
    }
}

/// What the command line asks for.
struct Wanted {
    hosts: Vec<Host>,
    sides: Vec<Side>,
    scenario: Option<String>,
    version: Option<String>,
}

impl Wanted {
    fn parse(args: &[String]) -> Result<Self> {
        let (mut hosts, mut sides) = (Vec::new(), Vec::new());
        let (mut scenario, mut version) = (None, None);
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "native" => hosts.push(Host::Native),
                "wasm" => hosts.push(Host::Wasm),
                "server" => sides.push(Side::Server),
                "client" => sides.push(Side::Client),
                "--scenario" => scenario = args.next().cloned(),
                "--spec-version" => version = args.next().cloned(),
                _ => bail!(
                    "usage: cargo xtask conformance [native|wasm] [server|client] [--scenario <name>] \
                     [--spec-version <version>]"
                ),
            }
        }
        if hosts.is_empty() {
            hosts = vec![Host::Native, Host::Wasm];
        }
        if sides.is_empty() {
            sides = vec![Side::Server, Side::Client];
        }
        ensure!(scenario.is_none() || sides.len() == 1, "say whose scenario it is: server or client");
        Ok(Self { hosts, sides, scenario, version })
    }
}

/// Where results and logs are.
fn results() -> PathBuf {
    paths::target().join("conformance/results")
}

/// The suite, which wants a newer Node than we do.
fn suite() -> Result<run::Run> {
    let script = setup::npm(SET)?.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    Ok(run::program(setup::node_of(SET)?).arg(script))
}

/// Runs one scenario, with every check on the terminal.
fn one(wanted: &Wanted, subjects: &Subjects, scenario: &str) -> Result<()> {
    for host in &wanted.hosts {
        for side in &wanted.sides {
            let (suite, _serving) = subjects.under_test(*host, *side, suite()?)?;
            let version = wanted.version.iter().flat_map(|version| ["--spec-version", version]);
            suite.args(["--scenario", scenario, "--verbose"]).args(version).run()?;
        }
    }
    Ok(())
}

fn all(wanted: &Wanted, subjects: &Subjects) -> Result<()> {
    let _ = std::fs::remove_dir_all(results());
    let legs = legs::all(&wanted.hosts, &wanted.sides)?;
    let next = AtomicUsize::new(0);
    let reports = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(leg) = legs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let report = leg.run(subjects).unwrap_or_else(|error| Report::broken(leg, &error));
                    print!("{report}");
                    if let Ok(mut reports) = reports.lock() {
                        reports.push(report);
                    }
                }
            });
        }
    });
    let reports = reports.into_inner().unwrap_or_default();
    let passed: usize = reports.iter().map(|report| report.passed).sum();
    let failed: usize = reports.iter().map(Report::failed).sum();
    println!("\nresults are in {}", paths::show(&results()));
    println!("{passed} passed, {failed} failed");
    ensure!(reports.len() == legs.len(), "some legs did not end");
    ensure!(failed == 0, "again, in full: cargo xtask conformance <native|wasm> <server|client> --scenario <name>");
    Ok(())
}
