//! The table of suites.

use anyhow::Result;

use super::Job;
use super::count;
use crate::run::{self, Run};
use crate::{demo, interop, pack, paths, setup, size, snippets, wasm};

/// One suite.
pub struct Suite {
    /// What `cargo xtask test` calls it.
    pub name: &'static str,
    /// What it proves.
    pub about: &'static str,
    /// Its budget, from a clean checkout on two cores.
    pub minutes: u32,
    /// What it needs that can be had ready while others run.
    pub needs: &'static [Need],
    /// Runs it.
    pub run: fn(&mut Job<'_>) -> Result<()>,
}

/// Something that takes long to install or to build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// A set of npm packages.
    Npm(&'static str),
    /// A browser.
    Chromium,
    /// A counter of instructions.
    Valgrind,
    /// The Python packages of a list in `tests/python`.
    Python(&'static str),
    /// The official tests of JSON Schema.
    SchemaTests,
    /// The program of a test crate that is a workspace of its own.
    Program(&'static str),
    /// The wasm modules.
    Modules,
    /// The server in wasm that the README shows.
    App,
}

impl Need {
    /// Whether it is compiled, and not installed.
    pub fn is_built(self) -> bool {
        matches!(self, Self::Program(_) | Self::Modules | Self::App)
    }

    /// Installs or builds it.
    pub fn get(self) -> Result<()> {
        match self {
            Self::Npm(set) => setup::npm(set).map(drop),
            Self::Chromium => setup::chromium().map(drop),
            Self::Valgrind => setup::valgrind(),
            Self::Python(list) => setup::python(list).map(drop),
            Self::SchemaTests => setup::schema_tests().map(drop),
            Self::Program(name) => separate("build", name).run(),
            Self::Modules => {
                let sources = [pack::ENTRIES, size::EDGE, demo::MODULES].concat();
                wasm::build_all(&sources, &paths::target().join("npm/ahead"))
            }
            Self::App => snippets::app().map(drop),
        }
    }
}

/// The packages whose tests use processes, sockets and real time.
const NATIVE: &[&str] = &["chaos", "executors", "native-tests", "sandwire-native"];

/// Every suite, in the order in which they run: what is cheap first.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "fmt",
        about: "every crate is formatted",
        minutes: 1,
        needs: &[],
        run: |job| job.check(run::cargo().args(["fmt", "--all", "--check", "--message-format=short"])),
    },
    Suite {
        name: "tidy",
        about: "the rules of crates/README.md hold, and each rule can fail",
        minutes: 2,
        needs: &[],
        run: |job| job.counted(cargo_test().args(["--package=xtask"]), count::cargo),
    },
    Suite {
        name: "unit",
        about: "what the crates do, their examples included",
        minutes: 5,
        needs: &[Need::SchemaTests],
        run: |job| {
            setup::schema_tests()?;
            let test = cargo_test().args([
                "--workspace",
                "--exclude=xtask",
                "--exclude=cases",
                "--all-features",
                "--no-fail-fast",
            ]);
            let test = test.args(NATIVE.iter().map(|package| format!("--exclude={package}")));
            job.counted(test.args(["--", "--show-output"]), count::cargo)
        },
    },
    Suite {
        name: "cases",
        about: "faults that people met with other implementations, each by its id",
        minutes: 2,
        needs: &[],
        run: |job| job.counted(cargo_test().args(["--package=cases"]), count::cargo),
    },
    Suite {
        name: "clippy",
        about: "no lint, natively, in wasm and on Windows",
        minutes: 3,
        needs: &[],
        run: |job| {
            let lint = |cargo: Run| cargo.arg("clippy").arg("--quiet");
            job.check(deny(lint(run::cargo()).args([
                "--workspace",
                "--all-targets",
                "--all-features",
                "--keep-going",
            ])))?;
            // Client and server compile for the web as they are (B143 of tests/cases).
            let wasm = lint(setup::wasm_cargo()?).args(["--target", setup::TARGET, "--lib"]);
            job.check(deny(wasm.args(["--package=sandwire", "--package=sandwire-js"])))?;
            let windows = lint(setup::windows_cargo()?).args(["--target", setup::WINDOWS, "--lib"]);
            job.check(deny(windows.args(["--package=sandwire-native", "--no-default-features", "--features=stdio"])))
        },
    },
    Suite {
        name: "features",
        about: "every crate compiles without each of its default features, and says what it lacks",
        minutes: 2,
        needs: &[],
        run: |job| job.counted(xtask("features")?, count::closing_line),
    },
    Suite {
        name: "docs",
        about: "every link in the documentation leads somewhere",
        minutes: 2,
        needs: &[],
        run: |job| {
            let doc = |cargo: Run| {
                let cargo = cargo.args(["doc", "--quiet", "--no-deps", "--all-features", "--keep-going"]);
                cargo.env("RUSTDOCFLAGS", "-D warnings")
            };
            job.check(doc(run::cargo()).args(["--workspace", "--exclude=sandwire-web", "--exclude=sandwire-js"]))?;
            let wasm = doc(setup::wasm_cargo()?).args(["--target", setup::TARGET]);
            job.check(wasm.args(["--package=sandwire-web", "--package=sandwire-js"]))
        },
    },
    Suite {
        name: "api",
        about: "what the crates promise is what their api.txt says",
        minutes: 1,
        needs: &[],
        run: |job| job.counted(xtask("api")?, count::closing_line),
    },
    Suite {
        name: "fuzz",
        about: "no input makes a parser fail; a million random steps of the machines, and mistakes in them that are found",
        minutes: 3,
        needs: &[Need::Program("fuzz")],
        run: |job| {
            let fuzz = |arguments: &[&str]| separate("run", "fuzz").arg("--").args(arguments);
            job.counted(fuzz(&["--seconds", "10"]), count::closing_line)?;
            job.counted(fuzz(&["--steps", "1000000", "--seed", "any"]), count::closing_line)?;
            job.counted(fuzz(&["--steps", "1000000", "--faults"]), count::closing_line)
        },
    },
    Suite {
        name: "instructions",
        about: "hot paths take no more instructions than they did",
        minutes: 2,
        needs: &[Need::Valgrind, Need::Program("instructions")],
        run: |job| {
            setup::valgrind()?;
            job.counted(separate("run", "instructions"), count::closing_line)
        },
    },
    Suite {
        name: "size",
        about: "what a page loads is within its budget",
        minutes: 3,
        needs: &[Need::Npm("tools"), Need::Modules],
        run: |job| job.counted(xtask("size")?, count::closing_line),
    },
    Suite {
        name: "npm",
        about: "the packed tarball, installed: its types, every method in both eras, its servers",
        minutes: 3,
        needs: &[Need::Npm("tools"), Need::SchemaTests, Need::Modules],
        run: |job| {
            let (types, tests) = pack::tests()?;
            job.check(types)?;
            job.counted(tests, count::node)
        },
    },
    Suite {
        name: "native",
        about: "client and server in processes, with clients and servers of others, and nothing left behind",
        minutes: 8,
        needs: &[Need::Npm("native"), Need::Npm("inspector"), Need::Python(setup::PYTHON)],
        run: |job| {
            // Most of it waits for others.
            let test = cargo_test().args(NATIVE.iter().map(|package| format!("--package={package}")));
            let test = test.args(["--all-features", "--no-fail-fast", "--", "--test-threads=4"]);
            let test = test
                .env("SANDWIRE_NPM", setup::npm("native")?)
                .env("SANDWIRE_INSPECTOR", setup::npm("inspector")?)
                .env("SANDWIRE_NODE", setup::newer_node()?)
                .env("SANDWIRE_PYTHON", setup::python(setup::PYTHON)?);
            job.counted(test, count::cargo)
        },
    },
    Suite {
        name: "interop",
        about: "our client with servers of others, their clients with our server, over pipes and HTTP",
        minutes: 5,
        needs: &[
            Need::Npm("native"),
            Need::Npm("tools"),
            Need::Python(setup::PYTHON),
            Need::Python(setup::PYTHON_V1),
            Need::Program(interop::RMCP),
            Need::Modules,
        ],
        run: |job| job.counted(xtask("interop")?, count::closing_line),
    },
    Suite {
        name: "conformance",
        about: "the official suite against our server and our client, natively and as wasm",
        minutes: 8,
        needs: &[Need::Npm("conformance"), Need::Npm("tools"), Need::Modules],
        run: |job| job.counted(xtask("conformance")?, count::closing_line),
    },
    Suite {
        name: "snippets",
        about: "the README's snippets compile and run outside the workspace",
        minutes: 3,
        needs: &[Need::Npm("smoke"), Need::Chromium, Need::App],
        run: |job| {
            job.counted(snippets::rust(), count::cargo)?;
            job.counted(snippets::javascript()?, count::node)
        },
    },
    Suite {
        name: "smoke",
        about: "the workbench, in a browser, with servers of others and its own",
        minutes: 3,
        needs: &[Need::Npm("smoke"), Need::Chromium, Need::Modules],
        run: |job| job.counted(demo::smoke_test()?, count::closing_line),
    },
];

/// A command of ours as a program of its own, so that its output can be watched.
fn xtask(command: &str) -> Result<Run> {
    Ok(run::program(std::env::current_exe()?).arg(command))
}

/// A test crate that is a workspace of its own, to compile what is under it in another way.
fn separate(command: &str, name: &str) -> Run {
    run::cargo()
        .args([command, "--quiet", "--release"])
        .dir(paths::root().join("tests").join(name))
        .env("CARGO_TARGET_DIR", paths::target().join(name))
}

fn cargo_test() -> Run {
    run::cargo().arg("test").arg("--quiet")
}

/// Warnings become errors as an argument of clippy: in `RUSTFLAGS` they would compile everything
/// again.
fn deny(clippy: Run) -> Run {
    clippy.args(["--", "--deny=warnings"])
}
