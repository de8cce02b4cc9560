//! Runs the suites and counts their tests.

mod count;
mod suites;

use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

pub use count::Tally;
use suites::{Need, SUITES, Suite};

use crate::paths;

/// A suite that hangs is stopped after this many times its budget.
const PATIENCE: u32 = 3;

/// Runs every suite, or the named ones; the last line has the totals.
pub fn run(args: &[String]) -> Result<()> {
    if args.iter().any(|arg| arg == "--list") {
        for suite in SUITES {
            println!("{:<12} {:>2} min  {}", suite.name, suite.minutes, suite.about);
        }
        return Ok(());
    }
    let chosen = choose(args)?;
    let mut building = prefetch(&chosen);
    let reports: Vec<_> = chosen
        .iter()
        .map(|suite| {
            if suite.needs.contains(&Need::Modules) {
                building.take().map(JoinHandle::join);
            }
            report(suite)
        })
        .collect();

    println!();
    let mut total = Tally::default();
    for report in &reports {
        println!("{report}");
        total += report.tally;
    }
    let failed: Vec<_> = reports.iter().filter(|r| r.tally.failed > 0).map(|r| r.name).collect();
    if !failed.is_empty() {
        println!("\nagain: cargo xtask test {}", failed.join(" "));
    }
    println!("{total}");
    if failed.is_empty() {
        return Ok(());
    }
    std::process::exit(1)
}

/// One finished suite.
struct Report {
    name: &'static str,
    minutes: u32,
    took: Duration,
    tally: Tally,
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let verdict = if self.tally.failed > 0 { "FAILED" } else { "ok" };
        let minutes = self.took.as_secs_f64() / 60.0;
        let over = if minutes > f64::from(self.minutes) { ", over its budget" } else { "" };
        write!(f, "{:<12} {verdict:<6}  {minutes:>4.1} of {} min{over}: {}", self.name, self.minutes, self.tally)
    }
}

fn report(suite: &Suite) -> Report {
    println!("\n== {}: {} (budget {} min)", suite.name, suite.about, suite.minutes);
    let start = Instant::now();
    let limit = Duration::from_secs(60) * suite.minutes * PATIENCE;
    let mut tally = Tally::default();
    let ended = (suite.run)(&mut Job { tally: &mut tally, end: start + limit });
    if let Err(error) = ended.and_then(|()| verify(tally)) {
        println!("{}: {error:#}", suite.name);
        tally.failed += u64::from(tally.failed == 0);
    }
    Report { name: suite.name, minutes: suite.minutes, took: start.elapsed(), tally }
}

fn verify(tally: Tally) -> Result<()> {
    ensure!(tally.passed + tally.failed + tally.skipped > 0, "the suite ran no test");
    let in_ci = std::env::var_os("CI").is_some();
    ensure!(tally.skipped == 0 || !in_ci || !paths::spec().is_dir(), "CI skips nothing, and {} were", tally.skipped);
    Ok(())
}

/// What a suite works with.
pub struct Job<'a> {
    /// Where it counts.
    pub tally: &'a mut Tally,
    end: Instant,
}

impl Job<'_> {
    /// The time that a program has before it is stopped. However long was spent on preparing it, there is some.
    fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now()).max(Duration::from_secs(60))
    }

    /// A check that is one test by itself: it passes when the program exits with status 0.
    pub fn check(&mut self, program: crate::run::Run) -> Result<()> {
        let line = program.line();
        let watched = program.watch(self.left())?;
        match watched.ok {
            true => self.tally.passed += 1,
            false => self.tally.failed += 1,
        }
        stopped(watched.timed_out, &line)
    }

    /// A program that counts its own tests, as `count` reads them from its output. One that fails
    /// without having counted a failure is a failure.
    pub fn counted(&mut self, program: crate::run::Run, count: fn(&str) -> Tally) -> Result<()> {
        let line = program.line();
        let watched = program.watch(self.left())?;
        let counted = count(&watched.text);
        *self.tally += counted;
        stopped(watched.timed_out, &line)?;
        ensure!(watched.ok || counted.failed > 0, "`{line}` failed");
        ensure!(counted != Tally::default(), "`{line}` ran no test");
        Ok(())
    }
}

fn stopped(timed_out: bool, line: &str) -> Result<()> {
    ensure!(!timed_out, "`{line}` was stopped: its time was over");
    Ok(())
}

fn choose(names: &[String]) -> Result<Vec<&'static Suite>> {
    if names.is_empty() {
        return Ok(SUITES.iter().collect());
    }
    let find = |name: &String| match SUITES.iter().find(|suite| suite.name == name) {
        Some(suite) => Ok(suite),
        None => bail!("there is no suite `{name}`; `cargo xtask test --list` lists them"),
    };
    names.iter().map(find).collect()
}

/// Installs and builds in the background, while the first suites run, what the later ones will need. Gives the thread
/// that builds: a suite that builds modules at that time would take one for another.
/// An error shows when the suite that needs the part asks for it again.
fn prefetch(chosen: &[&'static Suite]) -> Option<JoinHandle<()>> {
    let needs = chosen.iter().flat_map(|suite| suite.needs).copied();
    let (mut built, installed): (Vec<_>, Vec<_>) = needs.partition(|need| need.is_built());
    built.sort();
    built.dedup();
    let get = |needs: Vec<Need>| {
        move || {
            for need in needs {
                let _ = need.get();
            }
        }
    };
    thread::spawn(get(installed));
    (!built.is_empty()).then(|| thread::spawn(get(built)))
}
