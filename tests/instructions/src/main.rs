//! `cargo run --release` counts the instructions of the hot paths with callgrind and compares them
//! with `budget.txt`; `cargo run --release -- --bless` writes that file.
//!
//! Counts hardly depend on the machine, so they stand guard where times cannot. They do depend on
//! the compiler and the architecture: a new one is blessed.

mod callgrind;
mod paths;
#[path = "../../bench/src/pipe.rs"]
mod pipe;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use paths::PATHS;

/// What the budgets are for; elsewhere the counts are only shown.
const BLESSED_ON: &str = "x86_64";

/// A path fails when it takes more than this share above its budget.
const SLACK: f64 = 0.05;

type Counts = BTreeMap<String, u64>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        [] => check(),
        ["--bless"] => bless(),
        ["--run", name] => run(name),
        _ => Err("usage: sandwire-instructions [--bless]".to_owned()),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

/// What callgrind starts: warms one path up and counts it.
fn run(name: &str) -> Result<ExitCode, String> {
    let path = PATHS
        .iter()
        .find(|path| path.name == name)
        .ok_or_else(|| format!("there is no path `{name}`"))?;
    callgrind::count(&mut *(path.prepare)());
    Ok(ExitCode::SUCCESS)
}

fn check() -> Result<ExitCode, String> {
    let budgets = read(&budget_file())?;
    let mut failed = 0;
    for path in PATHS {
        let count = callgrind::measure(path.name)?;
        let (ok, note) = verdict(count, budgets.get(path.name).copied());
        failed += usize::from(!ok);
        let word = if ok { "ok" } else { "FAILED" };
        println!("instructions {} ... {word} ({} a run, {note})", path.name, group(count));
    }
    if failed > 0 {
        println!("what should cost this much is blessed: cargo run --release -- --bless");
    }
    println!("{} passed, {failed} failed", PATHS.len() - failed);
    Ok(ExitCode::from(u8::from(failed > 0)))
}

fn verdict(count: u64, budget: Option<u64>) -> (bool, String) {
    if std::env::consts::ARCH != BLESSED_ON {
        return (true, format!("budgets are for {BLESSED_ON}"));
    }
    let Some(budget) = budget else {
        return (false, "without a budget".to_owned());
    };
    let change = count as f64 / budget as f64 - 1.0;
    let note = format!("budget {}, {:+.1} %", group(budget), change * 100.0);
    (change <= SLACK, note)
}

fn bless() -> Result<ExitCode, String> {
    let mut text = String::from(
        "# Instructions of one run of each hot path. Written by `cargo run --release -- --bless`.\n",
    );
    for path in PATHS {
        let count = callgrind::measure(path.name)?;
        println!("{} {}", path.name, group(count));
        text.push_str(&format!("{} {count}\n", path.name));
    }
    std::fs::write(budget_file(), text).map_err(|error| error.to_string())?;
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> Result<Counts, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, count) = line.split_once(' ').ok_or("a line without a count")?;
            let count = count.parse().map_err(|_| format!("`{count}` is not a count"))?;
            Ok((name.to_owned(), count))
        })
        .collect()
}

fn budget_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("budget.txt")
}

/// 1234567 as `1,234,567`.
fn group(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
