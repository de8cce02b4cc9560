//! A server that is asked to end by a signal.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used)]

use executors::unsettled;
use sandwire::blocking::{Client, connect};
use serde_json::json;
use std::{
    io::{BufRead, BufReader},
    os::unix::process::ExitStatusExt,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

struct Peer {
    process: Child,
    stderr: BufReader<std::process::ChildStderr>,
}

impl Peer {
    fn start(args: &[&str]) -> (Self, String) {
        let mut command = unsettled(env!("CARGO_BIN_EXE_peer"));
        let mut process = command.args(args).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(process.stderr.take().unwrap());
        let mut peer = Self { process, stderr };
        let address = peer.line().rsplit(' ').next().unwrap().to_owned();
        (peer, address)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn terminate(&self) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    }
}

impl Drop for Peer {
    /// A test that fails leaves nothing behind.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn nap(client: &Client, milliseconds: u64) -> Option<String> {
    let result = client.call_tool("nap", &json!({ "milliseconds": milliseconds })).ok()?;
    Some(result.content.first()?.as_text()?.to_string())
}

#[test]
fn a_call_under_way_is_answered_before_the_end() {
    let (mut peer, address) = Peer::start(&["tools", "http"]);
    let client = connect(address).unwrap();
    let call = thread::spawn(move || nap(&client, 700));
    thread::sleep(Duration::from_millis(300));
    peer.terminate();
    assert!(peer.line().contains("ending"));
    assert_eq!(call.join().unwrap().as_deref(), Some("rested"));
    assert!(peer.process.wait().unwrap().success());
}

#[test]
fn who_asks_twice_does_not_wait() {
    let (mut peer, address) = Peer::start(&["tools", "http"]);
    let client = connect(address).unwrap();
    let call = thread::spawn(move || nap(&client, 60_000));
    thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    peer.terminate();
    assert!(peer.line().contains("ending"));
    peer.terminate();
    assert!(peer.process.wait().unwrap().success());
    assert!(begun.elapsed() < Duration::from_secs(3));
    assert_eq!(call.join().unwrap(), None);
}

#[test]
fn who_listens_on_the_network_is_told_that_it_is_not_let_in() {
    let mut process = unsettled(env!("CARGO_BIN_EXE_peer")).args(["http", "0.0.0.0:0"]).stderr(Stdio::piped()).spawn();
    let process = process.as_mut().unwrap();
    let mut told = String::new();
    BufReader::new(process.stderr.take().unwrap()).read_line(&mut told).unwrap();
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(told.contains("0.0.0.0:0") && told.contains("Transport::Network"), "{told}");
}

#[test]
fn a_socket_is_removed() {
    let path = std::env::temp_dir().join(format!("sandwire-stop-{}.sock", std::process::id()));
    let (mut peer, address) = Peer::start(&["unix", path.to_str().unwrap()]);
    assert!(address.ends_with(path.to_str().unwrap()) && path.exists());
    peer.terminate();
    assert!(peer.process.wait().unwrap().success());
    assert!(!path.exists());
}

#[test]
fn over_standard_streams_a_signal_ends_the_process_as_ever() {
    let (mut peer, _) = Peer::start(&["stdio"]);
    peer.terminate();
    assert_eq!(peer.process.wait().unwrap().signal(), Some(15));
}
