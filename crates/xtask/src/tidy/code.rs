//! What the code itself must not have.

use quote::ToTokens;
use syn::visit::Visit;
use syn::{BinOp, Expr};

use super::layers;
use super::source::{Source, Token, sources, strip_constants};
use super::workspace::{Package, Workspace};

const BINDING_CRATES: &[&str] = &["sandwire-web", "sandwire-js"];
const KNOWS_THE_TARGET: &str = "crates/sandwire-io/src/bounds.rs";

/// Conditions on the target where all targets must get the same code.
pub fn target_cfg(workspace: &Workspace) -> Vec<String> {
    let below_platforms = |package: &Package| layers::layer(&package.name).is_some_and(|l| l < 3);
    let mut broken = Vec::new();
    for source in sources(workspace, below_platforms) {
        if source.path == KNOWS_THE_TARGET {
            continue;
        }
        let tokens = source.tokens();
        let mut inside = false;
        for (at, token) in tokens.iter().enumerate() {
            let next = tokens.get(at + 1).map_or("", |next| next.text.as_str());
            match token.text.as_str() {
                "cfg" | "cfg_attr" if matches!(next, "(" | "!") => inside = true,
                "]" | ";" | "{" => inside = false,
                "unix" | "windows" if inside => broken.push(source.at(token.line, &token.text)),
                name if inside && name.starts_with("target_") => {
                    broken.push(source.at(token.line, name));
                }
                _ => {}
            }
        }
    }
    broken
}

/// Asynchrony, clocks, randomness and I/O in the pure crates.
pub fn pure(workspace: &Workspace) -> Vec<String> {
    let is_pure = |package: &Package| layers::layer(&package.name) == Some(0);
    const NAMES: &[&str] = &["async", "await", "Instant", "SystemTime", "RandomState", "getrandom", "rand"];
    const MODULES: &[&str] = &["time", "thread", "fs", "net", "env", "process", "io", "os"];
    let mut broken = Vec::new();
    for source in sources(workspace, is_pure) {
        let tokens = source.tokens();
        for token in tokens.iter().filter(|token| token.is_name) {
            if NAMES.contains(&token.text.as_str()) {
                broken.push(source.at(token.line, &token.text));
            }
        }
        for used in modules_of_std(&tokens) {
            if MODULES.contains(&used.text.as_str()) {
                broken.push(source.at(used.line, &format!("std::{}", used.text)));
            }
        }
    }
    broken
}

/// The names that follow `std::`, or that stand in the braces after it.
fn modules_of_std(tokens: &[Token]) -> Vec<&Token> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let after = |n: usize| tokens.get(at + n).map_or("", |token| token.text.as_str());
        if token.text != "std" || after(1) != ":" || after(2) != ":" {
            continue;
        }
        if after(3) != "{" {
            found.extend(tokens.get(at + 3));
            continue;
        }
        let mut depth = 0;
        let mut first = true;
        for token in tokens.iter().skip(at + 3) {
            match token.text.as_str() {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ if depth == 1 && first => found.push(token),
                _ => {}
            }
            if depth == 0 {
                break;
            }
            first = matches!(token.text.as_str(), "{" | ",");
        }
    }
    found
}

/// Comparisons of protocol versions where a predicate of `version.rs` should be asked.
pub fn versions(workspace: &Workspace) -> Vec<String> {
    let mut broken = Vec::new();
    for source in sources(workspace, |package| package.ships) {
        if source.path.ends_with("/version.rs") || source.path.ends_with("/opening.rs") {
            continue;
        }
        let mut finder = Comparisons { source: &source, broken: Vec::new() };
        finder.visit_file(&source.syntax);
        broken.extend(finder.broken);
    }
    broken
}

struct Comparisons<'a> {
    source: &'a Source<'a>,
    broken: Vec<String>,
}

impl Comparisons<'_> {
    fn note(&mut self, expression: &Expr) {
        let line = syn::spanned::Spanned::span(expression).start().line;
        self.broken.push(self.source.at(line, &expression.to_token_stream().to_string()));
    }
}

impl<'ast> Visit<'ast> for Comparisons<'_> {
    fn visit_expr(&mut self, expression: &'ast Expr) {
        const ORDERING: &[&str] = &["cmp", "partial_cmp", "lt", "le", "gt", "ge", "max", "min", "clamp"];
        match expression {
            Expr::Binary(binary) => {
                let orders = matches!(binary.op, BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_));
                if orders && (is_version(&binary.left) || is_version(&binary.right)) {
                    self.note(expression);
                }
            }
            Expr::MethodCall(call)
                if ORDERING.iter().any(|name| call.method == name)
                    && (is_version(&call.receiver) || call.args.iter().any(is_version)) =>
            {
                self.note(expression);
            }
            _ => {}
        }
        syn::visit::visit_expr(self, expression);
    }
}

/// Whether an expression is named like a version, by its last name or by its type's.
fn is_version(expression: &Expr) -> bool {
    let is_named = |name: &str| {
        name == "ProtocolVersion" || name == "version" || name.ends_with("_version") || name.starts_with("V20")
    };
    match expression {
        Expr::Path(path) => path.path.segments.iter().any(|part| is_named(&part.ident.to_string())),
        Expr::Field(field) => match &field.member {
            syn::Member::Named(name) => is_named(&name.to_string()),
            syn::Member::Unnamed(_) => false,
        },
        Expr::MethodCall(call) => call.args.is_empty() && is_named(&call.method.to_string()),
        Expr::Reference(reference) => is_version(&reference.expr),
        Expr::Unary(unary) => is_version(&unary.expr),
        Expr::Paren(inner) => is_version(&inner.expr),
        _ => false,
    }
}

/// Macros that panic, in code that ships or that a macro of ours writes.
pub fn panics(workspace: &Workspace) -> Vec<String> {
    const PANICKING: &[&str] = &["panic", "unreachable", "todo", "unimplemented", "assert", "assert_eq", "assert_ne"];
    let mut broken = Vec::new();
    for mut source in sources(workspace, |package| package.ships) {
        strip_constants(&mut source.syntax.items);
        let tokens = source.tokens();
        for pair in tokens.windows(2) {
            if let [name, mark] = pair
                && mark.text == "!"
                && name.is_name
                && PANICKING.contains(&name.text.as_str())
            {
                broken.push(source.at(name.line, &format!("{}!", name.text)));
            }
        }
    }
    broken
}

/// The one crate that denies unsafe code instead of forbidding it, and its file that may allow it.
const DENYING_CRATE: &str = "sandwire-native";
const ALLOWING_FILE: &str = "src/stdio/exit.rs";

/// Crates that do not forbid unsafe code, and files that allow it where it is only denied.
pub fn unsafety(workspace: &Workspace) -> Vec<String> {
    let mut broken = Vec::new();
    let held =
        workspace.packages.iter().filter(|package| package.ships && !BINDING_CRATES.contains(&package.name.as_str()));
    for package in held {
        let denies = package.name == DENYING_CRATE;
        let wanted = if denies { "#![deny(unsafe_code)]" } else { "#![forbid(unsafe_code)]" };
        let root = workspace.file(&format!("{}/src/lib.rs", package.dir));
        if !root.is_some_and(|file| file.text.lines().any(|line| line == wanted)) {
            broken.push(format!("{} has no {wanted}", package.name));
        }
        if denies {
            let allowing = workspace.files.iter().filter(|file| {
                file.path.starts_with(&format!("{}/", package.dir)) && file.text.contains("(unsafe_code)]\n")
            });
            let kept = [format!("{}/src/lib.rs", package.dir), format!("{}/{ALLOWING_FILE}", package.dir)];
            let others = allowing.filter(|file| !kept.contains(&file.path));
            broken
                .extend(others.map(|file| format!("{} allows unsafe code, which only {ALLOWING_FILE} may", file.path)));
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::super::workspace::fake::source;
    use super::*;

    fn lib(name: &str, text: &str) -> Workspace {
        source(name, "src/lib.rs", text)
    }

    #[test]
    fn a_condition_on_the_target_is_found() {
        let text = "#[cfg(target_family = \"wasm\")]\nfn a() {}\n";
        let found = target_cfg(&lib("sandwire-io", text));
        assert_eq!(found, ["crates/sandwire-io/src/lib.rs:1: target_family"]);
        let text = "fn a() -> bool { cfg!(windows) }\n";
        assert_eq!(target_cfg(&lib("sandwire-client", text)).len(), 1);
        assert!(target_cfg(&source("sandwire-io", "src/bounds.rs", text)).is_empty());
        assert!(target_cfg(&lib("sandwire-web", text)).is_empty());
        let text = "#[cfg(feature = \"sim\")]\nfn a(target_state: u8) {}\n";
        assert!(target_cfg(&lib("sandwire-io", text)).is_empty());
    }

    #[test]
    fn impurity_is_found() {
        let text = "use std::{fmt, io::Write};\nuse std::time::Duration;\nasync fn a() {}\n";
        let found = pure(&lib("sandwire-proto", text));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(pure(&lib("sandwire-io", text)).is_empty());
        let text = "//! No async, no Instant.\nuse std::{fmt, sync::Arc};\n";
        assert!(pure(&lib("sandwire-proto", text)).is_empty());
    }

    #[test]
    fn a_comparison_of_versions_is_found() {
        for text in [
            "fn a(v: V) -> bool { v.version >= ProtocolVersion::V2025_06_18 }",
            "fn a(version: V) -> bool { version < other }",
            "fn a(peer: P) -> V { peer.protocol_version().min(best) }",
        ] {
            assert_eq!(versions(&lib("sandwire-types", text)).len(), 1, "{text}");
            assert!(versions(&source("sandwire-types", "src/version.rs", text)).is_empty());
        }
        let equal = "fn a(version: V) -> bool { version == ProtocolVersion::V2025_06_18 }";
        assert!(versions(&lib("sandwire-types", equal)).is_empty());
    }

    #[test]
    fn a_panicking_macro_is_found() {
        let text = "fn a() { unreachable!() }\nfn b() { assert!(true) }\n";
        assert_eq!(panics(&lib("sandwire-io", text)).len(), 2);
        let text = "const _: () = assert!(true);\nfn a() { debug_assert!(true) }\n\
            #[cfg(test)]\nmod tests { fn a() { panic!() } }\n#[cfg(test)]\nmod more;\n\
            #[cfg(any(test, feature = \"fuzzing\"))]\nfn fuzz() { assert!(true) }\n";
        assert!(panics(&lib("sandwire-io", text)).is_empty());
    }

    #[test]
    fn a_file_of_tests_is_no_shipped_code() {
        let mut workspace = lib("sandwire-io", "#[cfg(test)]\nmod more;\n");
        let more = source("sandwire-io", "src/more.rs", "fn a() { panic!() }");
        workspace.files.extend(more.files);
        assert!(panics(&workspace).is_empty());
    }

    #[test]
    fn a_crate_that_allows_unsafe_code_is_found() {
        assert_eq!(unsafety(&lib("sandwire-io", "//! A.\n")).len(), 1);
        assert!(unsafety(&lib("sandwire-io", "//! A.\n#![forbid(unsafe_code)]\n")).is_empty());
        assert!(unsafety(&lib("sandwire-web", "//! A.\n")).is_empty());
        assert_eq!(unsafety(&lib("sandwire-native", "//! A.\n")).len(), 1);
        let mut native = lib("sandwire-native", "//! A.\n#![deny(unsafe_code)]\n");
        let allowing = "#![allow(unsafe_code)]\n";
        native.files.extend(source("sandwire-native", "src/stdio/exit.rs", allowing).files);
        assert!(unsafety(&native).is_empty());
        native.files.extend(source("sandwire-native", "src/env.rs", allowing).files);
        assert_eq!(unsafety(&native).len(), 1);
    }
}
