//! What the suite found.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::legs::{Leg, Side};

/// Checks that the suite skips whatever is tested: a scenario that is to be written anew, and methods that a modern
/// client must not send.
const ALWAYS_SKIPPED: &[(Side, &str, &str)] = &[
    (Side::Server, "tasks-status-notifications", "tasks-status-notifications"),
    (Side::Client, "http-standard-headers", "sep-2243-client-includes-standard-headers"),
];

/// How the scenarios of a leg ended.
#[derive(Debug)]
pub(super) struct Report {
    title: String,
    pub(super) passed: usize,
    expected: usize,
    /// Scenarios that failed, with what went wrong in each.
    faults: Vec<(String, Vec<String>)>,
    /// What is wrong with the leg as a whole.
    whole: Vec<String>,
}

impl Report {
    /// A leg that could not be run.
    pub(super) fn broken(leg: &Leg, error: &anyhow::Error) -> Self {
        let mut report = Self::new(leg);
        report.fault(format!("{error:#}"));
        report
    }

    fn new(leg: &Leg) -> Self {
        let title = format!("{:?} {:?}, {}", leg.host, leg.side, leg.name).to_lowercase();
        Self { title, passed: 0, expected: 0, faults: Vec::new(), whole: Vec::new() }
    }

    /// Reads the checks of all scenarios in a folder of results.
    pub(super) fn read(leg: &Leg, folder: &Path) -> Result<Self> {
        let mut report = Self::new(leg);
        let mut scenarios = Vec::new();
        find(folder, folder, &mut scenarios)?;
        scenarios.sort_by(|(name, _), (other, _)| name.cmp(other));
        for (name, checks) in scenarios {
            let faults = faults(leg.side, &name, &checks);
            match (faults.is_empty(), leg.expects_failure(&name)) {
                (true, false) => report.passed += 1,
                (false, true) => report.expected += 1,
                (false, false) => report.faults.push((name, faults)),
                (true, true) => report.faults.push((name, vec!["it passes, and is expected to fail".to_owned()])),
            }
        }
        Ok(report)
    }

    pub(super) fn fault(&mut self, what: String) {
        self.whole.push(what);
    }

    pub(super) fn scenarios(&self) -> usize {
        self.passed + self.expected + self.faults.len()
    }

    pub(super) fn failed(&self) -> usize {
        self.faults.len() + self.whole.len()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<50} {:>2} passed, {} failed", self.title, self.passed, self.failed())?;
        if self.expected > 0 {
            write!(f, ", {} as expected", self.expected)?;
        }
        writeln!(f)?;
        for what in &self.whole {
            writeln!(f, "  {what}")?;
        }
        for (scenario, faults) in &self.faults {
            for fault in faults {
                writeln!(f, "  {scenario}: {fault}")?;
            }
        }
        Ok(())
    }
}

/// The scenarios below a folder. Each has a folder of its own, named after it, whom it tests and when it ran.
fn find(root: &Path, folder: &Path, scenarios: &mut Vec<(String, Vec<Value>)>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            find(root, &path, scenarios)?;
        } else if path.ends_with("checks.json") {
            let name = folder.strip_prefix(root).unwrap_or(folder).to_string_lossy();
            let checks: Vec<Value> = serde_json::from_str(&fs::read_to_string(&path)?)?;
            scenarios.push((scenario(&name).to_owned(), checks));
        }
    }
    Ok(())
}

fn scenario(folder: &str) -> &str {
    const TIME: &str = "-2026-12-31T23-59-59-999Z";
    let name = folder.len().checked_sub(TIME.len()).and_then(|end| folder.get(..end)).unwrap_or(folder);
    // The scenarios `server-…` would lose theirs, were it not said twice.
    name.strip_prefix("server-").unwrap_or(name)
}

fn faults(side: Side, scenario: &str, checks: &[Value]) -> Vec<String> {
    let text = |check: &Value, member: &str| check.get(member).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut faults = Vec::new();
    let mut counted = 0;
    for check in checks {
        let (id, status) = (text(check, "id"), text(check, "status"));
        let skipped_always = ALWAYS_SKIPPED.contains(&(side, scenario, &*id));
        match status.as_str() {
            "INFO" => {}
            "SUCCESS" => counted += 1,
            "SKIPPED" if skipped_always => counted += 1,
            _ => {
                let message = Some(text(check, "errorMessage")).filter(|message| !message.is_empty());
                let message = message.unwrap_or_else(|| text(check, "description"));
                faults.push(format!("{status} {id}: {message}"));
            }
        }
    }
    if faults.is_empty() && counted == 0 {
        faults.push("nothing was checked".to_owned());
    }
    faults
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_folder_tells_its_scenario() {
        assert_eq!(scenario("server-ping-2026-12-01T00-50-54-777Z"), "ping");
        assert_eq!(scenario("auth/dpop-2026-12-01T00-50-54-777Z"), "auth/dpop");
        assert_eq!(scenario("server-server-stateless-2026-12-01T00-50-54-777Z"), "server-stateless");
    }

    #[test]
    fn warnings_and_what_was_skipped_are_faults() {
        let check = |status: &str| json!({ "id": "a", "status": status, "description": "what", "errorMessage": "why" });
        let of = |statuses: &[&str]| faults(Side::Server, "x", &statuses.iter().map(|s| check(s)).collect::<Vec<_>>());
        assert!(of(&["SUCCESS", "INFO"]).is_empty());
        assert_eq!(of(&["SUCCESS", "WARNING", "FAILURE"]), ["WARNING a: why", "FAILURE a: why"]);
        assert_eq!(of(&["SUCCESS", "SKIPPED"]), ["SKIPPED a: why"]);
        assert_eq!(of(&["INFO"]), ["nothing was checked"]);
        let always = json!({ "id": "tasks-status-notifications", "status": "SKIPPED" });
        assert!(faults(Side::Server, "tasks-status-notifications", &[always]).is_empty());
    }
}
