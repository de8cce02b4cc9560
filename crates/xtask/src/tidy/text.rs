//! What a search of the text finds.

use super::workspace::{File, Workspace};

const MOST_LINES: usize = 600;

/// Files that may be longer, and why.
const LONG: &[(&str, &str)] = &[];

/// Source files that are too long, and reasons that are not needed any more.
pub fn long_files(workspace: &Workspace) -> Vec<String> {
    long_files_except(workspace, LONG)
}

fn long_files_except(workspace: &Workspace, allowed: &[(&str, &str)]) -> Vec<String> {
    let source = |file: &&File| ends_with(file, &["rs", "ts", "tsx", "mjs", "js", "css"]);
    let is_long = |file: &File| file.text.lines().count() > MOST_LINES;
    let is_allowed = |file: &File| allowed.iter().any(|(path, _)| *path == file.path);
    let long = workspace.files.iter().filter(source).filter(|file| is_long(file));
    let mut broken: Vec<_> = long
        .filter(|file| !is_allowed(file))
        .map(|file| format!("{} has {} lines", file.path, file.text.lines().count()))
        .collect();
    let stale = allowed.iter().filter(|(path, _)| !workspace.file(path).is_some_and(is_long));
    broken.extend(stale.map(|(path, _)| format!("{path} is not long and needs no reason")));
    broken
}

/// Tests that do not run.
pub fn disabled_tests(workspace: &Workspace) -> Vec<String> {
    let rust: Vec<_> = ["ignore", "ignore ="].iter().map(|word| format!("#[{word}")).collect();
    let javascript = callers(&["it", "test", "describe", "suite", "t"], &[".only(", ".skip(", ".todo("]);
    let mut broken = Vec::new();
    for file in &workspace.files {
        let marks = if ends_with(file, &["rs"]) {
            &rust
        } else if ends_with(file, &["ts", "tsx", "mjs", "js"]) {
            &javascript
        } else {
            continue;
        };
        for (number, line) in file.text.lines().enumerate() {
            let words = line.trim_start();
            if marks.iter().any(|mark| starts(words, mark)) {
                broken.push(format!("{}:{}: {words}", file.path, number + 1));
            }
        }
    }
    broken
}

/// `mark` at the start of a line, or after something that is not a name.
fn starts(line: &str, mark: &str) -> bool {
    line.match_indices(mark).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '"' | '`'))
    })
}

fn callers(objects: &[&str], methods: &[&str]) -> Vec<String> {
    objects.iter().flat_map(|o| methods.iter().map(move |m| format!("{o}{m}"))).collect()
}

/// Names of registries' hosts; in lock files of npm, which give addresses where they may leave them
/// out.
pub fn registries(workspace: &Workspace) -> Vec<String> {
    let hosts: Vec<String> = [
        &["registry", "npmjs", "org"][..],
        &["static", "crates", "io"],
        &["index", "crates", "io"],
        &["files", "pythonhosted", "org"],
        &["pypi", "org"],
        &["deb", "debian", "org"],
    ]
    .iter()
    .map(|parts| parts.join("."))
    .collect();
    let mut broken = Vec::new();
    for file in &workspace.files {
        if file.path.ends_with("package-lock.json") && file.text.contains("\"resolved\": \"http") {
            let way = "npm install --package-lock-only --omit-lockfile-registry-resolved";
            broken.push(format!("{} has addresses: `{way}`", file.path));
        } else if let Some(host) = hosts.iter().find(|host| file.text.contains(*host))
            && !file.path.ends_with(".lock")
        {
            broken.push(format!("{} names {host}", file.path));
        }
    }
    broken
}

/// Words of the wire in the programs of the conformance suite, which would say then what the library is to say, and
/// adapters that do more than pass things on.
pub fn wire_words(workspace: &Workspace) -> Vec<String> {
    const WORDS: &[&str] = &[
        "_meta",
        ".meta(",
        "io.modelcontextprotocol",
        "errorcode",
        ".headers",
        "headers:",
        "headers(",
        "setheader",
        ".header(",
        "requesthead",
        "responsehead",
        "mcp-session-id",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "mcp-param",
        "last-event-id",
        "content-type",
        "www-authenticate",
        "authorization:",
    ];
    const ADAPTERS: &[&str] = &["worker.js", "fetch.mjs"];
    let mut broken = Vec::new();
    let programs = workspace.files.iter().filter(|file| file.path.starts_with("tests/conformance/"));
    for file in programs.filter(|file| ends_with(file, &["rs", "js", "mjs"])) {
        for (number, line) in file.text.lines().enumerate() {
            let words = line.to_lowercase();
            if WORDS.iter().any(|word| words.contains(word)) || has_error_code(&words) {
                broken.push(format!("{}:{}: {}", file.path, number + 1, line.trim()));
            }
        }
        let lines = file.text.lines().count();
        if ADAPTERS.iter().any(|name| file.path.ends_with(name)) && lines > 30 {
            broken.push(format!("{} has {lines} lines; an adapter has at most 30", file.path));
        }
    }
    broken
}

fn has_error_code(line: &str) -> bool {
    let mut after = line.match_indices("-32").filter_map(|(at, found)| line.get(at + found.len()..));
    after.any(|rest| rest.bytes().take_while(u8::is_ascii_digit).count() >= 3)
}

/// Clippy reads the nearest file only, so another one would switch the bans off.
pub fn clippy_files(workspace: &Workspace) -> Vec<String> {
    let wanted = ["disallowed-methods", "Instant::now", "SystemTime::now"];
    let mut broken = Vec::new();
    match workspace.file(".clippy.toml") {
        Some(file) if wanted.iter().all(|ban| file.text.contains(ban)) => {}
        _ => broken.push(".clippy.toml does not ban the clock".to_owned()),
    }
    for package in workspace.packages.iter().filter(|package| package.ships) {
        for name in [".clippy.toml", "clippy.toml"] {
            let path = format!("{}/{name}", package.dir);
            broken.extend(workspace.file(&path).map(|file| format!("{} shadows the root's", file.path)));
        }
    }
    broken
}

fn ends_with(file: &File, extensions: &[&str]) -> bool {
    file.path.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
}

#[cfg(test)]
mod tests {
    use super::super::workspace::fake::{file, files, source};
    use super::*;

    #[test]
    fn a_long_file_needs_a_reason_and_a_reason_a_long_file() {
        let long = files(&[("a.rs", &"\n".repeat(601)), ("b.rs", &"\n".repeat(600))]);
        assert_eq!(long_files_except(&long, &[]), ["a.rs has 601 lines"]);
        assert!(long_files_except(&long, &[("a.rs", "a table")]).is_empty());
        let stale = [("a.rs", "a table"), ("b.rs", "a table")];
        assert_eq!(long_files_except(&long, &stale), ["b.rs is not long and needs no reason"]);
    }

    #[test]
    fn a_disabled_test_is_found() {
        let rust = format!("#[test]\n#[{}]\nfn a() {{}}\n", "ignore");
        let script = format!("test{}'a', () => {{}});\nlist.skip(1);\n", ".skip(");
        let found = disabled_tests(&files(&[("a.rs", &rust), ("a.mjs", &script)]));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().any(|line| line.starts_with("a.rs:2:")));
        assert!(found.iter().any(|line| line.starts_with("a.mjs:1:")));
        assert!(disabled_tests(&files(&[("a.rs", "list.iter().skip(1)\n")])).is_empty());
    }

    #[test]
    fn a_registry_is_found() {
        let host = ["pypi", "org"].join(".");
        let address = format!("{{ \"resolved\": \"https://{host}/a.tgz\" }}");
        let found = registries(&files(&[
            ("a.md", &format!("see {host}")),
            ("Cargo.lock", &host),
            ("tests/npm/a/package-lock.json", &address),
        ]));
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn a_conformance_program_that_speaks_of_the_wire_is_found() {
        let found = wire_words(&files(&[
            ("tests/conformance/src/a.rs", "let code = -32602;\nlet range = 10-32;\n"),
            ("tests/conformance/client/a.mjs", "const key = \"_meta\";\nresponse.headers.get('Mcp-Session-Id');\n"),
            ("tests/conformance/worker/worker.js", &"\n".repeat(31)),
            ("tests/conformance/README.md", "no `_meta` key"),
            ("tests/native/src/a.rs", "-32602"),
        ]));
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found.iter().any(|line| line.starts_with("tests/conformance/src/a.rs:1:")));
        assert!(
            wire_words(&files(&[("tests/conformance/src/a.rs", "\"http-standard-headers\" => accept()")])).is_empty()
        );
    }

    #[test]
    fn a_shadowing_clippy_file_is_found() {
        let mut workspace = source("sandwire-io", ".clippy.toml", "");
        assert_eq!(clippy_files(&workspace).len(), 2);
        workspace.files = vec![file(".clippy.toml", "disallowed-methods Instant::now SystemTime::now")];
        assert!(clippy_files(&workspace).is_empty());
    }
}
