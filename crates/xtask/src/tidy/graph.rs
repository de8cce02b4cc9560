//! Which crates of others are in our trees.

use super::workspace::{Tree, Workspace};

const BINDING_CRATES: &[&str] = &["sandwire-web", "sandwire-js"];
const HEAVY: &[&str] = &["url", "regex", "uuid", "tracing", "schemars"];
const LICENSES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    // The list of root certificates, data that only other systems than those we build for take along.
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// tokio's crates in a normal tree. hyper and h2 take tokio's synchronisation types, never its runtime, and only native
/// HTTP takes hyper and h2.
pub fn tokio(workspace: &Workspace) -> Vec<String> {
    let is_tokio = |name: &str| name == "tokio" || name.starts_with("tokio-");
    let is_hyper =
        |way: &[&str]| way.windows(2).any(|pair| matches!(pair, ["sandwire-native", "hyper" | "hyper-util" | "h2"]));
    workspace.full_trees.iter().filter_map(|tree| found(tree, is_tokio, is_hyper)).collect()
}

/// Bindings to JavaScript that do not come through the crates that may have them. Programs that only test are as free
/// as a user's.
pub fn bindings(workspace: &Workspace) -> Vec<String> {
    let is_binding = |name: &str| {
        matches!(name, "js-sys" | "web-sys" | "gloo") || name.starts_with("wasm-bindgen") || name.starts_with("gloo-")
    };
    let only_tests = |tree: &&Tree| {
        let root = tree.0.first().map_or("", |(_, name)| name);
        workspace.packages.iter().any(|package| package.name == root && !package.ships)
    };
    let trees = workspace.full_trees.iter().filter(|tree| !only_tests(tree));
    let is_bound = |way: &[&str]| way.iter().any(|step| BINDING_CRATES.contains(step));
    trees.filter_map(|tree| found(tree, is_binding, is_bound)).collect()
}

/// Crates that weigh more in a page than what they would do there.
pub fn heavy(workspace: &Workspace) -> Vec<String> {
    let is_heavy = |name: &str| HEAVY.contains(&name);
    workspace.wasm_trees.iter().filter_map(|tree| found(tree, is_heavy, |_| false)).collect()
}

/// Packages whose license is none of those we may build on.
pub fn licenses(workspace: &Workspace) -> Vec<String> {
    let fits = |expression: &str| {
        let expression = expression.replace(['(', ')'], "").replace('/', " OR ");
        expression.split(" OR ").any(|terms| terms.split(" AND ").all(|term| LICENSES.contains(&term.trim())))
    };
    let unfit = workspace.licenses.iter().filter(|(_, license)| !fits(license));
    unfit.map(|(name, license)| format!("{name}: {license}")).collect()
}

/// Lock files that cargo would have to change.
pub fn locks(workspace: &Workspace) -> Vec<String> {
    let broken = workspace.locks.iter().filter_map(|(path, problem)| Some((path, problem.as_ref()?)));
    broken.map(|(path, problem)| format!("{path}: run `cargo update --workspace` beside it ({problem})")).collect()
}

/// The first way down a tree to an unwanted crate that is not tolerated.
fn found(tree: &Tree, unwanted: impl Fn(&str) -> bool, tolerated: impl Fn(&[&str]) -> bool) -> Option<String> {
    let mut way: Vec<&str> = Vec::new();
    for (depth, name) in &tree.0 {
        way.truncate(*depth);
        way.push(name);
        if unwanted(name) && !tolerated(&way) {
            return Some(way.join(" > "));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::workspace::fake::{package, tree};
    use super::*;

    #[test]
    fn tokio_is_found_however_deep() {
        let text = "0 sandwire-io v0.1.0\n1 futures-util v0.3.1\n2 tokio-util v0.7.0\n1 serde v1.0.0\n";
        let way = ["sandwire-io > futures-util > tokio-util"];
        assert_eq!(tokio(&tree(text)), way);
        assert!(tokio(&tree("0 sandwire-io v0.1.0\n1 serde v1.0.0\n")).is_empty());
    }

    #[test]
    fn tokio_is_tolerated_below_native_hyper_alone() {
        let native = "0 sandwire v0.1.0\n1 sandwire-native v0.1.0\n2 hyper v1.0.0\n3 tokio v1.0.0\n2 h2 v0.4.0\n\
            3 tokio-util v0.7.0\n";
        assert!(tokio(&tree(native)).is_empty());
        let beside = format!("{native}2 tokio-rustls v0.26.0\n3 tokio v1.0.0\n");
        assert_eq!(tokio(&tree(&beside)), ["sandwire > sandwire-native > tokio-rustls"]);
        let elsewhere = format!("{native}1 sandwire-io v0.1.0\n2 hyper v1.0.0\n3 tokio v1.0.0\n");
        assert_eq!(tokio(&tree(&elsewhere)), ["sandwire > sandwire-io > hyper > tokio"]);
    }

    #[test]
    fn a_binding_outside_the_binding_crates_is_found() {
        let through_web = "0 sandwire v0.1.0\n1 sandwire-web v0.1.0\n2 js-sys v0.3.0\n";
        assert!(bindings(&tree(through_web)).is_empty());
        let beside_web = format!("{through_web}1 gloo-net v0.7.0\n");
        let mut workspace = tree(&beside_web);
        assert_eq!(bindings(&workspace), ["sandwire > gloo-net"]);
        workspace.packages = vec![super::super::workspace::Package { ships: false, ..package("sandwire", &[]) }];
        assert!(bindings(&workspace).is_empty());
    }

    #[test]
    fn a_heavy_crate_is_found() {
        let text = "0 sandwire-web v0.1.0\n1 gloo-net v0.7.0\n2 url v2.0.0\n";
        assert_eq!(heavy(&tree(text)), ["sandwire-web > gloo-net > url"]);
        assert!(heavy(&tree("0 a v0.1.0\n1 regex-lite v0.1.0\n")).is_empty());
    }

    #[test]
    fn a_lock_file_behind_its_manifests_is_found() {
        let lock = |problem: Option<&str>| ("tests/bench/Cargo.lock".to_owned(), problem.map(str::to_owned));
        let workspace = |locks| Workspace { locks, ..Workspace::default() };
        assert_eq!(locks(&workspace(vec![lock(None), lock(Some("it needs to be updated"))])).len(), 1);
        assert!(locks(&workspace(vec![lock(None)])).is_empty());
    }

    #[test]
    fn a_license_that_does_not_fit_is_found() {
        let found = |license: &str| {
            let licenses = vec![("a".to_owned(), license.to_owned())];
            licenses_of(licenses).len()
        };
        for fits in ["MIT", "GPL-3.0 OR MIT", "(MIT OR Apache-2.0) AND Unicode-3.0", "MIT/Apache-2.0"] {
            assert_eq!(found(fits), 0, "{fits}");
        }
        for unfit in ["GPL-3.0", "MIT AND GPL-3.0", ""] {
            assert_eq!(found(unfit), 1, "{unfit}");
        }
    }

    fn licenses_of(licenses: Vec<(String, String)>) -> Vec<String> {
        super::licenses(&Workspace { licenses, ..Workspace::default() })
    }
}
