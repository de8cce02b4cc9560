//! The programs: ours, and those of others.

use std::path::{Path, PathBuf};

/// Whose client or server it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Ours,
    /// Our client in JavaScript.
    OursInNode,
    TypeScript1,
    TypeScript2,
    Python1,
    Python2,
    Rmcp,
}

/// What a program is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    Client,
    Server,
}

/// Everybody but us.
pub(crate) const PEERS: [Who; 5] = [Who::TypeScript1, Who::TypeScript2, Who::Python1, Who::Python2, Who::Rmcp];

/// The transports.
pub(crate) const TRANSPORTS: [&str; 3] = ["stdio", "HTTP", "SSE"];

/// The versions, the newest first.
pub(crate) const VERSIONS: [&str; 5] = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

impl Who {
    /// How the table calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "Sandwire",
            Self::OursInNode => "Sandwire in Node",
            Self::TypeScript1 => "TypeScript 1.32",
            Self::TypeScript2 => "TypeScript 2.4",
            Self::Python1 => "Python 1.30",
            Self::Python2 => "Python 2.3",
            Self::Rmcp => "rmcp 3.11",
        }
    }

    /// Whether it is no peer.
    pub(crate) fn is_ours(self) -> bool {
        matches!(self, Self::Ours | Self::OursInNode)
    }

    /// Whether a side of it has a transport; `SSE` is that of 2024, with two addresses.
    pub(crate) fn has(self, side: Side, transport: &str) -> bool {
        match (self, side, transport) {
            (Self::OursInNode, ..) => transport == "HTTP",
            (Self::Rmcp, _, "SSE") | (Self::TypeScript2, Side::Server, "SSE") => false,
            _ => true,
        }
    }

    /// Whether it has the modern era.
    fn is_modern(self) -> bool {
        !matches!(self, Self::TypeScript1 | Self::Python1)
    }

    /// The versions its server speaks.
    pub(crate) fn serves(self) -> impl Iterator<Item = &'static str> {
        VERSIONS.into_iter().filter(move |version| self.is_modern() || *version < "2026")
    }

    /// The versions its client can be told to speak.
    pub(crate) fn chooses(self) -> impl Iterator<Item = &'static str> {
        let newest = |version: &str| version >= "2025-11-25";
        self.serves().filter(move |version| match self {
            Self::Ours | Self::OursInNode | Self::TypeScript2 | Self::Rmcp => true,
            Self::TypeScript1 | Self::Python1 | Self::Python2 => newest(version),
        })
    }

    /// The words that start one of its programs.
    pub(crate) fn program(self, side: Side) -> Vec<String> {
        let what = match side {
            Side::Client => "client",
            Side::Server => "server",
        };
        let text = |path: PathBuf| path.to_str().expect("paths are text").to_owned();
        match self {
            Self::Ours => {
                let own = std::env::current_exe().expect("a program knows where it is");
                vec![text(own.with_file_name(format!("interop-{what}")))]
            }
            Self::OursInNode => {
                let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/npm").join(format!("{what}.mjs"));
                vec!["node".to_owned(), text(script), text(named("SANDWIRE_PACKAGE"))]
            }
            Self::TypeScript1 | Self::TypeScript2 => {
                let line = if self == Self::TypeScript1 { "v1" } else { "v2" };
                let script = source("npm").join(format!("{what}-{line}.mjs"));
                vec!["node".to_owned(), text(script), text(named("SANDWIRE_NPM"))]
            }
            Self::Python1 => {
                vec![text(named("SANDWIRE_PYTHON_V1")), text(source("python").join(format!("{what}_v1.py")))]
            }
            Self::Python2 => vec![text(named("SANDWIRE_PYTHON")), text(source("python").join(format!("{what}_v2.py")))],
            Self::Rmcp => vec![text(named("SANDWIRE_RMCP").join(format!("rmcp-{what}")))],
        }
    }
}

fn source(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(language)
}

/// A folder or program that a variable of the environment names.
fn named(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(path) => PathBuf::from(path),
        None => panic!("{variable} is not set: run `cargo xtask interop`, which installs what it names"),
    }
}
