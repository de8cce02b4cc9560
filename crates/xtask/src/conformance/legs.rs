//! The runs of the suite.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::report::Report;
use super::subjects::{Host, Subjects};
use super::{results, suite};
use crate::paths;

/// Who is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Server,
    Client,
}

/// One run of the suite.
#[derive(Debug)]
pub(super) struct Leg {
    pub(super) host: Host,
    pub(super) side: Side,
    pub(super) name: String,
    args: Vec<String>,
    /// How many scenarios there are in it.
    scenarios: usize,
    /// Whether a client's exit status counts.
    alone: bool,
}

/// The runs by side, each with the number of its scenarios.
const SETS: &[(Side, &str, &[&str], usize)] = &[
    (Side::Server, "all", &["--suite", "all"], 65),
    (Side::Server, "2025-11-25", &["--suite", "all", "--spec-version", "2025-11-25"], 33),
    (Side::Server, "2026-07-28", &["--suite", "all", "--spec-version", "2026-07-28"], 40),
    (Side::Server, "requirements of 2025-11-25", &["--requirements", "2025-11-25"], 33),
    (Side::Server, "requirements of 2026-07-28", &["--requirements", "2026-07-28"], 50),
    (Side::Client, "all", &["--suite", "all"], 48),
    (Side::Client, "2025-11-25", &["--suite", "all", "--spec-version", "2025-11-25"], 19),
    (Side::Client, "2026-07-28", &["--suite", "all", "--spec-version", "2026-07-28"], 33),
    (Side::Client, "requirements of 2025-11-25", &["--requirements", "2025-11-25"], 25),
    (Side::Client, "requirements of 2026-07-28", &["--requirements", "2026-07-28"], 39),
];

/// A scenario that takes longer has failed.
const SCENARIO_MS: &str = "60000";

/// How long a run may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// All runs for these hosts and sides.
pub(super) fn all(hosts: &[Host], sides: &[Side]) -> Result<Vec<Leg>> {
    let expected = expected_failures()?;
    let mut legs = Vec::new();
    for host in hosts.iter().copied() {
        for (side, name, args, scenarios) in SETS.iter().filter(|(side, ..)| sides.contains(side)) {
            let args = args.iter().map(|arg| (*arg).to_owned()).collect();
            legs.push(Leg { host, side: *side, name: (*name).to_owned(), args, scenarios: *scenarios, alone: false });
        }
        if sides.contains(&Side::Client) {
            legs.extend(client_scenarios()?.into_iter().filter(|name| !expected.contains(name)).map(|name| Leg {
                host,
                side: Side::Client,
                args: vec!["--scenario".to_owned(), name.clone()],
                name,
                scenarios: 1,
                alone: true,
            }));
        }
    }
    Ok(legs)
}

/// The scenarios that clients cannot pass yet: all that need authorization, and no others.
fn expected_failures() -> Result<Vec<String>> {
    let file = paths::root().join(EXPECTED);
    let text = fs::read_to_string(&file).with_context(|| format!("reading {EXPECTED}"))?;
    let names: Vec<_> =
        text.lines().filter_map(|line| line.trim().strip_prefix("- ")).map(|name| name.trim().to_owned()).collect();
    let other = names.iter().find(|name| !name.starts_with("auth/"));
    ensure!(other.is_none(), "{EXPECTED} may name scenarios of authorization only");
    Ok(names)
}

const EXPECTED: &str = "tests/conformance/expected-failures.yml";

fn client_scenarios() -> Result<Vec<String>> {
    let list = suite()?.args(["list", "--client"]).read()?;
    let names = list.lines().filter_map(|line| line.strip_prefix("  - ")).filter_map(|line| line.split(' ').next());
    let names: Vec<_> = names.map(str::to_owned).collect();
    ensure!(names.len() == 48, "the suite lists {} client scenarios", names.len());
    Ok(names)
}

impl Leg {
    pub(super) fn run(&self, subjects: &Subjects) -> Result<Report> {
        let place = format!("{:?}-{:?}-{}", self.host, self.side, self.name).to_lowercase().replace([' ', '/'], "-");
        let folder = results().join(&place);
        fs::create_dir_all(&folder)?;
        let (suite, serving) = subjects.under_test(self.host, self.side, suite()?)?;
        let mut suite = suite.args(&self.args).args(["--timeout", SCENARIO_MS, "--output-dir"]).arg(&folder);
        if !self.alone {
            suite = suite.arg("--expected-failures").arg(paths::root().join(EXPECTED));
        }
        let ok = suite.log_to(&results().join(format!("{place}.log")), PATIENCE)?;
        drop(serving);
        let mut report = Report::read(self, &folder)?;
        if report.scenarios() != self.scenarios {
            report.fault(format!("{} scenarios ran, and {} should have", report.scenarios(), self.scenarios));
        }
        if !ok && report.failed() == 0 {
            report.fault(format!("the suite failed; see {}", paths::show(&results().join(format!("{place}.log")))));
        }
        Ok(report)
    }

    /// Whether this scenario is known to fail.
    pub(super) fn expects_failure(&self, scenario: &str) -> bool {
        self.side == Side::Client && expected_failures().is_ok_and(|names| names.iter().any(|name| name == scenario))
    }
}
