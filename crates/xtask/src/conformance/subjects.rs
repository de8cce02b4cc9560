//! What is tested: the server and the client of `tests/conformance`, built for a host.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::SET;
use super::legs::Side;
use crate::run::{self, Run, Started};
use crate::wasm::{self, Made, Source};
use crate::{pack, paths, setup};

/// Where our code runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Host {
    /// In processes.
    Native,
    /// As wasm: the server in a worker, the client in Node, through the npm package.
    Wasm,
}

/// The server as a worker.
pub(crate) const WORKER: Source<'_> = Source { package: "conformance", features: &[], made: Made::Small };

/// Whatever was built.
#[derive(Debug)]
pub(super) struct Subjects {
    work: PathBuf,
}

impl Subjects {
    /// Builds what these hosts and sides need.
    pub(super) fn build(hosts: &[Host], sides: &[Side]) -> Result<Self> {
        let work = paths::target().join("conformance");
        setup::npm(SET)?;
        if hosts.contains(&Host::Native) {
            run::cargo().args(["build", "--quiet", "--package=conformance", "--bins"]).run()?;
        }
        let sources = paths::root().join("tests/conformance");
        if hosts.contains(&Host::Wasm) && sides.contains(&Side::Server) {
            let worker = work.join("worker");
            wasm::build(WORKER, "server", &worker)?;
            pack::copy(&sources.join("worker"), &worker)?;
        }
        if hosts.contains(&Host::Wasm) && sides.contains(&Side::Client) {
            pack::install(&sources.join("client"), &work.join("client"))?;
        }
        Ok(Self { work })
    }

    /// The suite, told whom to test; and the server that it calls, which runs until it is dropped.
    pub(super) fn under_test(&self, host: Host, side: Side, suite: Run) -> Result<(Run, Option<Started>)> {
        match side {
            Side::Server => {
                let (serving, url) = self.serve(host)?;
                Ok((suite.args(["server", "--url", &url]), Some(serving)))
            }
            Side::Client => Ok((suite.args(["client", "--command", &self.client(host)?]), None)),
        }
    }

    fn serve(&self, host: Host) -> Result<(Started, String)> {
        match host {
            Host::Native => {
                let program = run::program(paths::target().join("debug/conformance-server"));
                program.start(|line| Some(line.trim().to_owned()).filter(|line| line.starts_with("http")))
            }
            Host::Wasm => {
                let config = self.work.join("worker/workerd.capnp");
                let workerd = run::program(setup::workerd()?).args(["serve", "--control-fd=1"]).arg(config);
                let (serving, port) = workerd.start(|line| {
                    let said: serde_json::Value = serde_json::from_str(line).ok()?;
                    said.get("port")?.as_u64()
                })?;
                Ok((serving, format!("http://localhost:{port}/mcp")))
            }
        }
    }

    /// A command for a shell, to which the suite adds the server's address.
    fn client(&self, host: Host) -> Result<String> {
        let quoted = |path: PathBuf| format!("'{}'", path.display());
        match host {
            Host::Native => Ok(quoted(paths::target().join("debug/conformance-client"))),
            Host::Wasm => {
                let node = setup::node_of(SET)?;
                let script =
                    fs::canonicalize(self.work.join("client/client.mjs")).context("the client is installed")?;
                Ok(format!("{} {}", quoted(node), quoted(script)))
            }
        }
    }
}
