//! One client with one server, over one transport, in one version.

use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::AREAS;
use crate::left::Mark;
use crate::peers::{PEERS, Side, TRANSPORTS, Who};

const STARTING: Duration = Duration::from_secs(30);
const LIMIT: Duration = Duration::from_secs(120);

/// How each area went; nothing where the version does not have it.
pub(crate) type Outcomes = Vec<Option<Result<(), String>>>;

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) client: Who,
    pub(crate) server: Who,
    pub(crate) transport: &'static str,
    pub(crate) version: &'static str,
}

/// Every row: what is ours with each peer, and each peer with itself.
pub(crate) fn all() -> impl Iterator<Item = Row> {
    let pairs = PEERS
        .into_iter()
        .flat_map(|peer| [(Who::Ours, peer), (Who::OursInNode, peer), (peer, Who::Ours), (peer, peer)]);
    pairs.flat_map(|(client, server)| {
        let speaks = move |transport: &&str| client.has(Side::Client, transport) && server.has(Side::Server, transport);
        TRANSPORTS.into_iter().filter(speaks).flat_map(move |transport| {
            let both = client.chooses().filter(|version| server.serves().any(|other| other == *version));
            // What is as old as 2024 is tried in the oldest version.
            let versions: Vec<_> = if transport == "SSE" { both.last().into_iter().collect() } else { both.collect() };
            versions.into_iter().map(move |version| Row { client, server, transport, version })
        })
    })
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, server, transport, version } = self;
        write!(f, "{} client, {} server, {transport}, {version}", client.name(), server.name())
    }
}

impl Row {
    /// Whether its name has all these words.
    pub(crate) fn has(&self, words: &[String]) -> bool {
        let name = self.to_string();
        words.iter().all(|word| name.contains(word.as_str()))
    }

    /// Whether both sides are the same peer's.
    pub(crate) fn is_with_itself(&self) -> bool {
        self.client == self.server
    }

    /// Whether its version has this area.
    fn asks(&self, area: &str) -> bool {
        area != "elicitation" || self.version >= "2025-06-18"
    }

    /// Starts the programs, hears what the client says, and ends everything. What ours kept comes with it.
    pub(crate) fn run(&self, number: usize) -> (Outcomes, String) {
        let mark = Mark::new(number);
        let said = self.converse(&mark);
        let left = mark.end();
        let outcome = |area: &&str| match &said {
            Err(fault) => Err(fault.clone()),
            Ok(_) if !left.is_empty() => Err(format!("left running: {left:?}")),
            Ok(said) => match said.iter().find_map(|line| line.strip_prefix(*area)?.strip_prefix(": ")) {
                Some("passed") => Ok(()),
                Some(fault) => Err(fault.to_owned()),
                None => Err("the client says nothing of it".to_owned()),
            },
        };
        let outcomes = AREAS.iter().map(|area| self.asks(area).then(|| outcome(area))).collect();
        (outcomes, mark.record())
    }

    fn converse(&self, mark: &Mark) -> Result<Vec<String>, String> {
        let mut client = words(self.client.program(Side::Client));
        let mut serving = self.server.program(Side::Server);
        let server = match self.transport {
            "stdio" => {
                client.args(["stdio", self.version]).args(serving).arg("stdio").arg(mark.text());
                None
            }
            transport => {
                let transport = transport.to_lowercase();
                serving.push(transport.clone());
                let (server, address) = listen(words(serving).arg(mark.text()))?;
                client.args([&transport, self.version, &address]).env("NO_PROXY", "127.0.0.1");
                Some(server)
            }
        };
        let said = output(client.env("INTEROP_RECORD", mark.text()));
        if let Some(mut server) = server {
            let _ = server.kill();
            let _ = server.wait();
        }
        said
    }
}

fn words(words: Vec<String>) -> Command {
    let mut words = words.into_iter();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).stdin(Stdio::null());
    command
}

/// Starts a server that prints its address.
fn listen(command: &mut Command) -> Result<(Child, String), String> {
    let child = command.stdout(Stdio::piped()).stderr(errors()).spawn();
    let mut child = child.map_err(|error| format!("{command:?} does not start: {error}"))?;
    let lines = lines(child.stdout.take());
    match lines.recv_timeout(STARTING) {
        Ok(address) => Ok((child, address)),
        Err(_) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(format!("{command:?} says no address"))
        }
    }
}

/// The lines that a client prints until it ends, or is ended.
fn output(command: &mut Command) -> Result<Vec<String>, String> {
    let child = command.stdout(Stdio::piped()).stderr(errors()).spawn();
    let mut child = child.map_err(|error| format!("{command:?} does not start: {error}"))?;
    let lines = lines(child.stdout.take());
    let end = Instant::now() + LIMIT;
    let mut said = Vec::new();
    loop {
        match lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(line) => said.push(line),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("the client did not end in {LIMIT:?}; it said {said:?}"));
            }
        }
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(said),
        other => Err(format!("the client ended with {other:?}; it said {said:?}")),
    }
}

/// Where the programs' standard error goes.
fn errors() -> Stdio {
    if std::env::var_os("INTEROP_ERRORS").is_some() { Stdio::inherit() } else { Stdio::null() }
}

fn lines(stream: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (told, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in stream.into_iter().flat_map(|stream| BufReader::new(stream).lines()).map_while(Result::ok) {
            if told.send(line).is_err() {
                break;
            }
        }
    });
    lines
}
