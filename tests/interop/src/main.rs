//! Runs every pair of clients and servers, and compares the table in `README.md` with what came of it:
//! `interop [--bless] [words]`. With words it runs only the rows that have all of them, and compares nothing.
#![allow(clippy::expect_used, clippy::panic)]

mod judge;
mod left;
mod peers;
mod row;
mod table;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

use judge::Judged;
use row::{Outcomes, Row};
use wire_check::Checker;

/// What the table has a column for.
const AREAS: [&str; 10] = [
    "negotiate",
    "tools",
    "resources",
    "prompts",
    "completion",
    "progress",
    "cancellation",
    "elicitation",
    "sampling",
    "subscription",
];

/// Most of a row waits for programs to start.
const AT_ONCE: usize = 4;

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let blessing = arguments.first().is_some_and(|first| first == "--bless");
    arguments.drain(..usize::from(blessing));

    let rows: Vec<Row> = row::all().filter(|row| row.has(&arguments)).collect();
    let (outcomes, records): (Vec<_>, Vec<_>) = run(&rows).into_iter().unzip();
    let mut tally = Tally::default();
    for (row, outcomes) in rows.iter().zip(&outcomes) {
        tally.judge(row, outcomes);
    }
    tally.hold(&rows, &records);
    if arguments.is_empty() {
        tally.compare(blessing, &table::text(&rows, &outcomes));
    }
    println!("{} passed, {} failed, {} skipped", tally.passed, tally.failed, tally.skipped);
    if tally.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs some rows at a time.
fn run(rows: &[Row]) -> Vec<(Outcomes, String)> {
    let next = Mutex::new(rows.iter().enumerate());
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some((number, row)) = next.lock().expect("no thread panics").next() else { break };
                    let ran = row.run(number);
                    done.lock().expect("no thread panics").push((number, ran));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread panics");
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, ran)| ran).collect()
}

/// How much is as it has to be.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Tally {
    /// Every cell has passed: of ours, and of what shows that the peers' programs do what they should.
    fn judge(&mut self, row: &Row, outcomes: &Outcomes) {
        for (area, outcome) in AREAS.iter().zip(outcomes) {
            match outcome {
                Some(Ok(())) => self.passed += 1,
                Some(Err(fault)) => self.fail(format!("{row}: {area}: {fault}")),
                None => {}
            }
        }
    }

    /// Every message of ours is what its schema allows.
    fn hold(&mut self, rows: &[Row], records: &[String]) {
        if Checker::new().is_none() {
            self.skipped += 1;
            return;
        }
        let mut messages = 0;
        for (row, record) in rows.iter().zip(records) {
            let judged = Judged::of(row, record);
            messages += judged.messages;
            match judged.violations.as_slice() {
                [] if judged.messages > 0 || row.is_with_itself() => self.passed += 1,
                [] => self.fail(format!("{row}: no message of ours was kept")),
                violations => violations.iter().for_each(|violation| self.fail(format!("{row}: {violation}"))),
            }
        }
        println!("{messages} messages of ours were judged");
    }

    /// The written table is what the run made, or is made so.
    fn compare(&mut self, blessing: bool, table: &str) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
        let before = std::fs::read_to_string(&file).unwrap_or_default();
        let now = table::put(&before, table);
        if now == before {
            self.passed += 1;
        } else if blessing {
            std::fs::write(&file, now).expect("the table can be written");
        } else {
            self.fail(
                "the table is not what came of the run; if this is meant, run `cargo xtask interop --bless`".into(),
            );
        }
    }

    fn fail(&mut self, why: String) {
        println!("{why}");
        self.failed += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::Who;

    const ROW: Row = Row { client: Who::Ours, server: Who::Rmcp, transport: "stdio", version: "2025-11-25" };

    #[test]
    fn a_cell_that_failed_fails_the_run() {
        let mut tally = Tally::default();
        let outcomes = [Some(Ok(())), Some(Err("no list".to_owned())), None];
        tally.judge(&ROW, &outcomes.to_vec());
        assert_eq!((tally.passed, tally.failed), (1, 1));
    }

    #[test]
    fn a_message_that_is_wrong_fails_the_run_and_so_does_none() {
        let wrong = "0 Sent {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{}}\n";
        let right = "0 Sent {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";
        let mut tally = Tally::default();
        tally.hold(&[ROW, ROW, ROW], &[wrong.to_owned(), right.to_owned(), String::new()]);
        let expected = if tally.skipped > 0 { (0, 0) } else { (1, 2) };
        assert_eq!((tally.passed, tally.failed), expected);
    }
}
