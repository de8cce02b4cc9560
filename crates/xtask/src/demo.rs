//! The workbench: packed, built, served on loopback.

mod serve;

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use crate::run::{self, Run};
use crate::wasm::{self, Made, Source};
use crate::{pack, paths, setup, size};

const PORT: u16 = 8417;

/// The server that comes with the page.
const BUILT_IN: Source<'_> = Source { package: "workbench-server", features: &[], made: Made::Small };

/// A client in Rust for a page of the smoke test.
const PAGE_CLIENT: Source<'_> = Source { package: "page-client", features: &[], made: Made::Small };

/// The modules that are built for pages and are no part of the package.
pub(crate) const MODULES: &[(&str, Source<'_>)] = &[(BUILT_IN.package, BUILT_IN), (PAGE_CLIENT.package, PAGE_CLIENT)];

/// Builds the workbench and serves it until it is stopped, or with `--check` tests it headless.
pub fn run(args: &[String]) -> Result<()> {
    let options = Options::parse(args)?;
    if options.check {
        return smoke_test()?.run();
    }
    let page = Page::build()?;
    let listener = bind(options.port)?;
    let address = format!("http://{}/", listener.local_addr()?);
    println!("The workbench is at {address} (Ctrl-C stops it)");
    if options.open && open(&address).is_err() {
        println!("No browser could be started: open the address by hand");
    }
    serve::forever(&listener, &page.folder)
}

/// The smoke test of a freshly built page, ready to run. Its last line is `N passed, N failed`.
pub fn smoke_test() -> Result<Run> {
    let chromium = setup::chromium()?;
    let tools = setup::npm("smoke")?;
    let page = Page::build()?;
    let rust = paths::target().join(PAGE_CLIENT.package);
    wasm::build(PAGE_CLIENT, PAGE_CLIENT.package, &rust)?;
    Ok(run::program("node")
        .arg("tests/smoke/run.mjs")
        .arg("--dist")
        .arg(page.folder)
        .arg("--package")
        .arg(page.package)
        .arg("--edge")
        .arg(size::edge()?)
        .arg("--rust")
        .arg(rust)
        .arg("--tools")
        .arg(tools)
        .arg("--chromium")
        .arg(chromium))
}

/// The built workbench.
struct Page {
    /// What to serve.
    folder: PathBuf,
    /// The packed npm package that is in it.
    package: PathBuf,
}

impl Page {
    fn build() -> Result<Self> {
        setup::node()?;
        println!("demo: compiling the modules, some minutes the first time");
        let package = pack::tarball()?;
        let server = paths::target().join("workbench-server");
        wasm::build(BUILT_IN, BUILT_IN.package, &server)?;
        let folder = paths::target().join("workbench");
        println!("demo: building the page");
        run::program("node")
            .arg("www/build.mjs")
            .arg("--package")
            .arg(&package)
            .arg("--server")
            .arg(&server)
            .arg("--out")
            .arg(&folder)
            .read()?;
        ensure!(folder.join("index.html").is_file(), "the build left no page in {}", folder.display());
        Ok(Self { folder, package })
    }
}

#[derive(Debug, Default)]
struct Options {
    check: bool,
    open: bool,
    port: Option<u16>,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--check" => options.check = true,
                "--open" => options.open = true,
                "--port" => {
                    let port = args.next().context("--port needs a number")?;
                    options.port = Some(port.parse().context("--port needs a number up to 65535")?);
                }
                _ => bail!("usage: cargo xtask demo [--port <port>] [--open] | --check"),
            }
        }
        Ok(options)
    }
}

/// The port that was asked for, else the usual one, else any that is free.
fn bind(port: Option<u16>) -> Result<TcpListener> {
    let listen = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    match port {
        Some(port) => listen(port).with_context(|| format!("port {port} cannot be had")),
        None => Ok(listen(PORT).or_else(|_| listen(0))?),
    }
}

fn open(address: &str) -> Result<()> {
    let (program, args): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    run::program(program).args(args).arg(address).run()
}
