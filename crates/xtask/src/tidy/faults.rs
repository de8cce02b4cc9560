//! The mistakes that `sandwire-proto` can be told to make are for one test.

use super::workspace::Workspace;

/// Who may turn them on.
const DRIVER: &str = "tests/fuzz/Cargo.toml";
const OWNER: &str = "crates/sandwire-proto/Cargo.toml";

/// Manifests that turn the feature `faults` on.
pub fn ship(workspace: &Workspace) -> Vec<String> {
    let manifests = workspace.files.iter().filter(|file| file.path.ends_with("Cargo.toml") && file.path != DRIVER);
    let turns_on = |line: &&str| {
        let line = line.split('#').next().unwrap_or_default();
        line.contains("\"faults\"") || line.contains("/faults\"")
    };
    let mut broken: Vec<_> = manifests
        .filter(|file| file.text.lines().any(|line| turns_on(&line)))
        .map(|file| format!("{} turns on the feature `faults`, which only {DRIVER} may", file.path))
        .collect();
    if workspace.file(OWNER).is_some_and(|file| !file.text.lines().any(|line| line == "faults = []")) {
        broken.push(format!("{OWNER} has no feature `faults` that is empty"));
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::super::workspace::fake::files;
    use super::*;

    #[test]
    fn only_the_driver_may_have_mistakes_made() {
        let line = r#"sandwire-proto = { path = "../../crates/sandwire-proto", features = ["faults"] }"#;
        assert_eq!(ship(&files(&[(DRIVER, line), (OWNER, "faults = []")])), [""; 0]);
        assert_eq!(ship(&files(&[("crates/sandwire/Cargo.toml", line)])).len(), 1);
        assert_eq!(ship(&files(&[("crates/sandwire/Cargo.toml", "x = [\"sandwire-proto/faults\"]")])).len(), 1);
        assert_eq!(ship(&files(&[(OWNER, "default = [\"faults\"]\nfaults = []")])).len(), 1);
        assert_eq!(ship(&files(&[(OWNER, "faults = [\"server\"]")])).len(), 1);
    }
}
