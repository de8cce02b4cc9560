//! What the rules look at: the packages, their dependency trees, and the text of the files.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::paths;
use crate::run;

/// What is built here, or by a user.
const TARGETS: &[&str] = &[
    "wasm32-unknown-unknown",
    "wasm32-wasip1",
    "wasm32-wasip2",
    "x86_64-unknown-linux-gnu",
    "x86_64-pc-windows-msvc",
    "aarch64-apple-darwin",
];

/// Everything the rules see, as plain data: a test breaks a rule by making some.
#[derive(Debug, Default)]
pub struct Workspace {
    pub packages: Vec<Package>,
    pub files: Vec<File>,
    /// The packages of others and the licenses they name.
    pub licenses: Vec<(String, String)>,
    /// The lock files of the test crates that are workspaces of their own, each with what is wrong with it.
    pub locks: Vec<(String, Option<String>)>,
    /// The tree of each package on [`TARGETS`], every feature on.
    pub full_trees: Vec<Tree>,
    /// The same for each package with its default features in wasm.
    pub wasm_trees: Vec<Tree>,
}

/// A member of the workspace.
#[derive(Debug, Clone)]
pub struct Package {
    pub name: String,
    /// Its folder, relative to the workspace.
    pub dir: String,
    /// Whether it is published.
    pub ships: bool,
    /// The names of the packages it uses when it is built, optional ones included.
    pub uses: Vec<String>,
}

/// A file of the repository.
#[derive(Debug, Clone)]
pub struct File {
    /// Relative to the workspace, with `/`.
    pub path: String,
    pub text: String,
}

/// A dependency tree, one line a package: its depth, its name.
#[derive(Debug, Clone)]
pub struct Tree(pub Vec<(usize, String)>);

impl Workspace {
    /// Reads the workspace.
    pub fn load() -> Result<Self> {
        let metadata = run::cargo().args(["metadata", "--format-version=1", "--all-features"]).read()?;
        let metadata: Value = serde_json::from_str(&metadata)?;
        let all = metadata.get("packages").and_then(Value::as_array);
        let all = all.context("cargo metadata lists no packages")?;
        let (members, others): (Vec<_>, Vec<_>) =
            all.iter().partition(|package| package.get("source").is_none_or(Value::is_null));
        let packages = members.into_iter().filter_map(package);
        let packages: Vec<Package> = packages.collect();
        let mut files = Vec::new();
        read_files(paths::root(), &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));

        let wasm = ["--target", crate::setup::TARGET];
        let all: Vec<_> = TARGETS.iter().flat_map(|target| ["--target", target]).collect();
        let all = [&all[..], &["--all-features"]].concat();
        let trees = |packages: &[&Package], flags: &[&str]| -> Result<Vec<Tree>> {
            packages.iter().map(|package| Tree::load(&package.name, flags)).collect()
        };
        let built: Vec<_> = packages.iter().filter(|package| package.name != "xtask").collect();
        let shipped: Vec<_> = packages.iter().filter(|package| package.ships).collect();
        Ok(Self {
            full_trees: trees(&built, &all)?,
            wasm_trees: trees(&shipped, &wasm)?,
            licenses: others.into_iter().map(license).collect(),
            locks: locks()?,
            packages,
            files,
        })
    }

    /// The package whose folder holds a file.
    pub fn owner(&self, file: &File) -> Option<&Package> {
        let holds = |package: &&Package| file.path.strip_prefix(&package.dir).is_some_and(|rest| rest.starts_with('/'));
        self.packages.iter().find(holds)
    }

    /// A file by its path.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }
}

impl Tree {
    fn load(package: &str, flags: &[&str]) -> Result<Self> {
        let text = run::cargo()
            .args(["tree", "--edges=normal", "--prefix=depth", "--format= {p}", "--no-dedupe"])
            .args(["--package", package])
            .args(flags)
            .read()?;
        Ok(Self::parse(&text))
    }

    /// Reads lines like `2 serde v1.0.0 (proc-macro)`.
    pub fn parse(text: &str) -> Self {
        let line = |line: &str| {
            let mut words = line.split(' ');
            let depth = words.next()?.parse().ok()?;
            Some((depth, words.next()?.to_owned()))
        };
        Self(text.lines().filter_map(line).collect())
    }
}

/// Asks cargo whether it could build with the lock files of `tests/*`, `tests/outside/*` and `tests/interop/peers/*` as
/// they are.
fn locks() -> Result<Vec<(String, Option<String>)>> {
    let mut locks = Vec::new();
    let tests = paths::root().join("tests");
    let folders = [tests.clone(), tests.join("outside"), tests.join("interop/peers")];
    let folders: Vec<_> = folders.iter().map(std::fs::read_dir).collect::<Result<_, _>>()?;
    for entry in folders.into_iter().flatten() {
        let folder = entry?.path();
        let lock = folder.join("Cargo.lock");
        if lock.exists() {
            let cargo = run::cargo().dir(&folder).args(["metadata", "--format-version=1", "--locked"]);
            locks.push((paths::show(&lock), cargo.read().err().map(|error| format!("{error:#}"))));
        }
    }
    Ok(locks)
}

fn package(value: &Value) -> Option<Package> {
    let text = |value: &Value, key: &str| Some(value.get(key)?.as_str()?.to_owned());
    let manifest = text(value, "manifest_path")?;
    let dir = Path::new(&manifest).parent()?.strip_prefix(paths::root()).ok()?;
    let uses = value.get("dependencies")?.as_array()?.iter().filter_map(|dependency| {
        let is_dev = dependency.get("kind").and_then(Value::as_str) == Some("dev");
        if is_dev { None } else { text(dependency, "name") }
    });
    Some(Package {
        name: text(value, "name")?,
        dir: unix(dir),
        ships: value.get("publish").is_none_or(Value::is_null),
        uses: uses.collect(),
    })
}

fn license(value: &Value) -> (String, String) {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    (text("name"), text("license"))
}

const TEXT: &[&str] =
    &["rs", "toml", "md", "json", "ts", "tsx", "js", "mjs", "css", "html", "lock", "wit", "yml", "sh"];

fn read_files(dir: &Path, files: &mut Vec<File>) -> Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !matches!(name.as_str(), ".git" | "target" | "node_modules" | "dist") {
                read_files(&path, files)?;
            }
            continue;
        }
        let is_text = path.extension().is_some_and(|e| TEXT.iter().any(|text| e == *text));
        let Ok(relative) = path.strip_prefix(paths::root()) else {
            continue;
        };
        let relative = unix(relative);
        if is_text || relative.starts_with(".ci/") {
            let text = std::fs::read_to_string(&path).with_context(|| format!("{relative} is not readable text"))?;
            files.push(File { path: relative, text });
        }
    }
    Ok(())
}

fn unix(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
pub mod fake {
    //! Workspaces to break rules with.

    use super::{File, Package, Tree, Workspace};

    pub fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    pub fn package(name: &str, uses: &[&str]) -> Package {
        Package {
            name: name.to_owned(),
            dir: format!("crates/{name}"),
            ships: true,
            uses: uses.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    /// A workspace with one crate that holds one source file.
    pub fn source(name: &str, path: &str, text: &str) -> Workspace {
        Workspace {
            packages: vec![package(name, &[])],
            files: vec![file(&format!("crates/{name}/{path}"), text)],
            ..Workspace::default()
        }
    }

    /// A workspace whose one crate has this dependency tree, wherever it is built.
    pub fn tree(text: &str) -> Workspace {
        let trees = vec![Tree::parse(text)];
        Workspace { full_trees: trees.clone(), wasm_trees: trees, ..Workspace::default() }
    }

    pub fn files(files: &[(&str, &str)]) -> Workspace {
        let files = files.iter().map(|(path, text)| file(path, text)).collect();
        Workspace { files, ..Workspace::default() }
    }
}
