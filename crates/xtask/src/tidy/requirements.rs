//! `tests/requirements.toml`: what the specification requires, and the tests that prove it.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::workspace::Workspace;

const MANIFEST: &str = "tests/requirements.toml";
/// How many requirements there are.
const LAST: i64 = 215;
const ERAS: &[&str] = &["all", "legacy", "modern", "2025-03-26", "2025-11-25"];
const LEVELS: &[&str] = &["must", "must not", "should", "should not", "may"];
const SIDES: &[&str] = &["client", "server", "both"];
/// What a row may wait for.
const PENDING: &[&str] = &["authorization", "components", "harness"];

/// Numbers that are missing, twice there or unknown; rows without a proof or a reason; tests that do not exist.
pub fn proved(workspace: &Workspace) -> Vec<String> {
    let Some(file) = workspace.file(MANIFEST) else { return Vec::new() };
    let rows = match file.text.parse::<Table>() {
        Ok(table) => table.get("requirement").and_then(Value::as_array).cloned().unwrap_or_default(),
        Err(error) => return vec![format!("{MANIFEST}: {error}")],
    };
    let mut broken = Vec::new();
    let mut missing: BTreeSet<i64> = (1..=LAST).collect();
    for row in rows.iter().filter_map(Value::as_table) {
        let Some(id) = row.get("id").and_then(Value::as_integer) else {
            broken.push("a row has no id".to_owned());
            continue;
        };
        if !missing.remove(&id) {
            broken.push(format!("{id} is unknown, or here twice"));
        }
        broken.extend(wrong(workspace, row).into_iter().map(|what| format!("{id} {what}")));
    }
    broken.extend(missing.into_iter().map(|id| format!("{id} is missing")));
    broken
}

fn wrong(workspace: &Workspace, row: &Table) -> Vec<String> {
    let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut broken = Vec::new();
    for (name, known) in [("era", ERAS), ("level", LEVELS), ("side", SIDES)] {
        if !known.contains(&text(name)) {
            broken.push(format!("has no {name} that is known"));
        }
    }
    if text("says").is_empty() {
        broken.push("does not say what is required".to_owned());
    }
    let pending = text("pending");
    if row.contains_key("pending") && !PENDING.contains(&pending) {
        broken.push(format!("waits for {pending:?}, which nobody knows"));
    }
    let tests = row.get("tests").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let reasons = ["out-of-scope", "untestable", "pending"].iter().filter(|name| !text(name).is_empty()).count();
    if reasons + usize::from(!tests.is_empty()) != 1 {
        broken.push("has neither a test nor a reason, or both".to_owned());
    }
    let names = tests.iter().map(|test| test.as_str().unwrap_or_default());
    broken.extend(names.filter(|name| !exists(workspace, name)).map(|name| format!("names no test: {name}")));
    broken
}

/// Whether a test is there, named by its file and its function.
fn exists(workspace: &Workspace, name: &str) -> bool {
    let Some((path, function)) = name.split_once("::") else { return false };
    let Some(file) = workspace.file(path) else { return false };
    let mut lines = file.text.lines().map(str::trim);
    while lines.by_ref().any(|line| line == "#[test]") {
        let declared = lines.by_ref().find(|line| !line.starts_with("#[") && !line.starts_with("//"));
        if declared.is_some_and(|line| line.trim_start_matches("async ").starts_with(&format!("fn {function}("))) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::workspace::fake::files;
    use super::*;

    const TESTS: &str = "#[test]\nfn one() {}\n\n#[test]\n#[cfg(unix)]\nfn two() {}\n\nfn three() {}\n";

    fn row(id: i64, rest: &str) -> String {
        format!("[[requirement]]\nid = {id}\nera = \"all\"\nlevel = \"must\"\nside = \"both\"\nsays = \"x\"\n{rest}\n")
    }

    /// What is wrong with the first row, where all others are as they should be.
    fn first(rest: &str) -> Vec<String> {
        let others = (2..=LAST).map(|id| row(id, "tests = [\"a.rs::one\"]"));
        let text: String = std::iter::once(row(1, rest)).chain(others).collect();
        proved(&files(&[(MANIFEST, &text), ("a.rs", TESTS)]))
    }

    #[test]
    fn a_row_has_a_test_or_a_reason() {
        assert_eq!(first("tests = [\"a.rs::one\", \"a.rs::two\"]"), [""; 0]);
        assert_eq!(first("out-of-scope = \"x\""), [""; 0]);
        assert_eq!(first("pending = \"harness\""), [""; 0]);
        for nothing in ["", "tests = []", "untestable = \"\"", "tests = [\"a.rs::one\"]\nuntestable = \"x\""] {
            assert_eq!(first(nothing), ["1 has neither a test nor a reason, or both"], "{nothing}");
        }
        assert_eq!(first("pending = \"time\""), ["1 waits for \"time\", which nobody knows"]);
    }

    #[test]
    fn a_test_that_is_not_there_proves_nothing() {
        for name in ["a.rs::three", "a.rs::tw", "a.rs::four", "b.rs::one", "one"] {
            assert_eq!(first(&format!("tests = [\"{name}\"]")), [format!("1 names no test: {name}")]);
        }
    }

    #[test]
    fn every_number_is_there_once() {
        let text = [row(1, "pending = \"harness\""), row(1, "pending = \"harness\""), row(300, "untestable = \"x\"")];
        let broken = proved(&files(&[(MANIFEST, &text.concat())]));
        assert_eq!(broken[..3], ["1 is unknown, or here twice", "300 is unknown, or here twice", "2 is missing"]);
        assert_eq!(broken.len(), 2 + 214);
        assert_eq!(first("tests = [\"a.rs::one\"]\n[[requirement]]\nsays = \"x\"").len(), 1);
    }
}
