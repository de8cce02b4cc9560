//! Reading from what a test runner prints how many tests it ran.

use std::fmt;
use std::ops::AddAssign;

/// How many tests ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

/// Counts the summaries of `cargo test`, one for each test binary and for each crate's doc tests.
///
/// A test that cannot run where it is prints a line that begins with `skipped: ` and passes; run
/// with `--show-output`, it is counted as skipped. An ignored test counts as a failure: none may be.
pub fn cargo(text: &str) -> Tally {
    let mut tally = Tally::default();
    for line in text.lines() {
        let Some(summary) = line.trim_start().strip_prefix("test result: ") else {
            continue;
        };
        for part in summary.split(['.', ';']) {
            match part.trim().split_once(' ') {
                Some((number, "passed")) => tally.passed += number.parse().unwrap_or(0),
                Some((number, "failed" | "ignored")) => tally.failed += number.parse().unwrap_or(0),
                _ => {}
            }
        }
    }
    // What one test says stands together, under its name.
    let of_tests = text.split("\n---- ");
    let skips = |said: &&str| said.lines().any(|line| line.starts_with("skipped: "));
    let skipped = u64::try_from(of_tests.filter(skips).count()).unwrap_or(u64::MAX).min(tally.passed);
    tally.passed -= skipped;
    tally.skipped += skipped;
    tally
}

/// Counts what Node's own runner reports, in its `spec` or its `tap` form.
pub fn node(text: &str) -> Tally {
    let mut tally = Tally::default();
    for line in text.lines() {
        let Some(line) = line.strip_prefix("ℹ ").or_else(|| line.strip_prefix("# ")) else {
            continue;
        };
        let Some((what, number)) = line.split_once(' ') else {
            continue;
        };
        let Ok(number) = number.parse::<u64>() else {
            continue;
        };
        match what {
            "pass" => tally.passed += number,
            "fail" | "cancelled" => tally.failed += number,
            "skipped" | "todo" => tally.skipped += number,
            _ => {}
        }
    }
    tally
}

/// Reads the closing line `N passed, N failed` (`, N skipped`) of our own programs.
pub fn closing_line(text: &str) -> Tally {
    text.lines().rev().find_map(parse_closing_line).unwrap_or_default()
}

fn parse_closing_line(line: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    for part in line.trim().split(", ") {
        let (number, what) = part.split_once(' ')?;
        let slot = match what {
            "passed" => &mut tally.passed,
            "failed" => &mut tally.failed,
            "skipped" => &mut tally.skipped,
            _ => return None,
        };
        *slot = number.parse().ok()?;
    }
    Some(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(passed: u64, failed: u64, skipped: u64) -> Tally {
        Tally { passed, failed, skipped }
    }

    #[test]
    fn cargo_summaries_add_up() {
        let text = "running 2 tests\ntest a ... ok\n\n\
            test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n\
            \x20  Doc-tests sandwire\n\
            test result: FAILED. 1 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(cargo(text), tally(3, 3, 0));
    }

    #[test]
    fn an_ignored_test_is_a_failure() {
        assert_eq!(cargo("test result: ok. 2 passed; 0 failed; 1 ignored;"), tally(2, 1, 0));
    }

    #[test]
    fn a_test_that_says_skipped_did_not_pass() {
        let said = "skipped: no schema files\nskipped: no examples\n";
        let text = format!(
            "successes:\n\n---- a stdout ----\n{said}\n---- b stdout ----\nfine\n\nsuccesses:\n    a\n    b\n\n\
             test result: ok. 2 passed; 0 failed; 0 ignored;"
        );
        assert_eq!(cargo(&text), tally(1, 0, 1));
    }

    #[test]
    fn node_reports_in_both_forms() {
        let end = "tests 5\n# pass 3\n# fail 1\n# cancelled 1\n# skipped 0\n# todo 0\n";
        assert_eq!(node(end), tally(3, 2, 0));
        assert_eq!(node("✔ a (1ms)\nℹ tests 2\nℹ pass 1\nℹ fail 0\nℹ skipped 1\n"), tally(1, 0, 1));
    }

    #[test]
    fn the_closing_line_is_the_last_one() {
        assert_eq!(closing_line("1 passed, 0 failed\nmore\n4 passed, 2 failed, 1 skipped\n"), tally(4, 2, 1));
        assert_eq!(closing_line("all good\n"), Tally::default());
        assert_eq!(tally(1, 2, 3).to_string(), "1 passed, 2 failed, 3 skipped");
        assert_eq!(tally(1, 0, 0).to_string(), "1 passed, 0 failed");
    }
}
