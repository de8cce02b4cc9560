//! Every crate without its default features, and with all of them but one; and what a client answers then.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::run;

/// Checks every combination, and runs the test that is for a client without features. A warning is a failure.
pub fn run(args: &[String]) -> Result<()> {
    ensure!(args.is_empty(), "usage: cargo xtask features");
    let (mut passed, mut failed) = (0, 0);
    let without = |command: &str, package: &str| {
        run::cargo().args([command, "--quiet", "--no-default-features", "--package", package])
    };
    let mut all = vec![without("test", "sandwire-proto").args(["--test", "without_features"])];
    for (package, features) in combinations()? {
        all.push(without("clippy", &package).args(["--features", &features, "--", "--deny=warnings"]));
    }
    for run in all {
        match run.run() {
            Ok(()) => passed += 1,
            Err(error) => {
                failed += 1;
                println!("{error:#}");
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    ensure!(failed == 0, "a feature is missed by code that does not need it");
    Ok(())
}

/// Packages and the features that each is checked with.
fn combinations() -> Result<Vec<(String, String)>> {
    let metadata = run::cargo().args(["metadata", "--format-version=1", "--no-deps"]).read()?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata.get("packages").and_then(Value::as_array).context("cargo metadata lists no packages")?;
    let mut all = Vec::new();
    for package in packages {
        let name = package.get("name").and_then(Value::as_str).context("a package has no name")?;
        let default = package.pointer("/features/default").and_then(Value::as_array);
        let default: Vec<_> = default.into_iter().flatten().filter_map(Value::as_str).collect();
        all.extend(left_out(&default).into_iter().map(|features| (name.to_owned(), features)));
    }
    Ok(all)
}

/// None of the features, and all but one; nothing where there are none.
fn left_out(default: &[&str]) -> Vec<String> {
    if default.is_empty() {
        return Vec::new();
    }
    let but = |out: &str| default.iter().copied().filter(|feature| *feature != out).collect::<Vec<_>>().join(",");
    let mut all = vec![String::new()];
    if default.len() > 1 {
        all.extend(default.iter().map(|out| but(out)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::left_out;

    #[test]
    fn each_feature_is_left_out_once_and_all_are() {
        assert_eq!(left_out(&["a", "b", "c"]), ["", "b,c", "a,c", "a,b"]);
        assert_eq!(left_out(&["a"]), [""]);
        assert!(left_out(&[]).is_empty());
    }
}
