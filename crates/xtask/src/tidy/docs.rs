//! What the two READMEs and the crates' own documentation must have.

use super::layers::LAYERS;
use super::workspace::Workspace;

/// Crates whose first file does not begin with what the crate is for.
pub fn crates(workspace: &Workspace) -> Vec<String> {
    let mut broken = Vec::new();
    for package in &workspace.packages {
        let file = ["lib.rs", "main.rs"].iter().find_map(|name| workspace.file(&format!("{}/src/{name}", package.dir)));
        let documented = file.is_some_and(|file| {
            let first = file.text.lines().next().unwrap_or_default();
            first.strip_prefix("//! ").is_some_and(|sentence| sentence.len() > 20)
        });
        if !documented {
            broken.push(format!("{} does not begin with //! and a sentence", package.name));
        }
    }
    broken
}

/// Crates that the map does not have, or has in another layer.
pub fn map(workspace: &Workspace) -> Vec<String> {
    let text = workspace.file("crates/README.md").map_or("", |file| &file.text);
    let row = |name: &str, layer: u8| format!("| {layer} | `{name}` |");
    LAYERS
        .iter()
        .filter(|known| !text.contains(&row(known.name, known.layer)))
        .map(|known| format!("crates/README.md has no row `{}`", row(known.name, known.layer)))
        .collect()
}

/// A README without a table of hosts.
pub fn status(workspace: &Workspace) -> Vec<String> {
    let text = workspace.file("README.md").map_or("", |file| &file.text);
    let rows = text
        .lines()
        .skip_while(|line| *line != "## Status")
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter(|line| line.starts_with('|'))
        .count();
    if rows >= 4 { Vec::new() } else { vec!["README.md has no status table".to_owned()] }
}

/// Code that the README shows and no test compiles or runs: every block stands word for word in a file that one does.
pub fn snippets(workspace: &Workspace) -> Vec<String> {
    let text = workspace.file("README.md").map_or("", |file| &file.text);
    let tested: Vec<_> = workspace.files.iter().filter(|file| file.path.starts_with("tests/outside/")).collect();
    let mut broken = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(language) = line.strip_prefix("```").filter(|language| !language.is_empty()) else { continue };
        let block: String = lines
            .by_ref()
            .map(|(_, line)| line)
            .take_while(|line| *line != "```")
            .map(|line| format!("{line}\n"))
            .collect();
        if language != "sh" && !tested.iter().any(|file| file.text.contains(&block)) {
            broken.push(format!("README.md:{}: no file in tests/outside has this", number + 1));
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::super::workspace::fake::{files, source};
    use super::*;

    #[test]
    fn a_crate_without_documentation_is_found() {
        assert_eq!(crates(&source("a", "src/lib.rs", "pub fn a() {}\n")).len(), 1);
        assert_eq!(crates(&source("a", "src/lib.rs", "//! Yes.\n")).len(), 1);
        assert!(crates(&source("a", "src/lib.rs", "//! What it is for, in one line.\n")).is_empty());
    }

    #[test]
    fn a_crate_missing_from_the_map_is_found() {
        let rows: String = LAYERS.iter().map(|c| format!("| {} | `{}` | x |\n", c.layer, c.name)).collect();
        assert!(map(&files(&[("crates/README.md", &rows)])).is_empty());
        let moved = rows.replace("| 1 | `sandwire-io`", "| 2 | `sandwire-io`");
        assert_eq!(map(&files(&[("crates/README.md", &moved)])).len(), 1);
    }

    #[test]
    fn a_readme_without_status_is_found() {
        assert_eq!(status(&files(&[("README.md", "# Sandwire\n")])).len(), 1);
        let table = "## Status\n\n| a | b |\n|---|---|\n| c | d |\n| e | f |\n";
        assert!(status(&files(&[("README.md", table)])).is_empty());
    }

    #[test]
    fn code_that_is_not_tested_is_found() {
        let readme = "```sh\nls\n```\n\n```js\na();\n```\n\n```rust\nb();\n```\n";
        let tested = ("tests/outside/a.js", "// A.\na();\n");
        assert_eq!(
            snippets(&files(&[("README.md", readme), tested])),
            ["README.md:9: no file in tests/outside has this"]
        );
    }
}
