//! A server on its own standard streams, byte by byte.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use executors::processor_time;
use serde_json::{Value, json};
use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write, pipe},
    net::Shutdown,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_peer"));
    command.arg("tools").stderr(Stdio::piped());
    command
}

/// A server that runs, spoken to in bytes.
struct Peer {
    child: Child,
    input: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
}

impl Peer {
    fn start() -> Self {
        let mut child = command().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { input: child.stdin.take(), lines, child }
    }

    /// One that was initialized, in the legacy era.
    fn opened() -> Self {
        let mut peer = Self::start();
        peer.send(OPENING);
        assert_eq!(peer.next()["id"], 0);
        peer
    }

    fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.input.as_mut().unwrap().write_all(bytes.as_ref()).unwrap();
    }

    /// The next message; every line has to be one.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.send(call(7, tool, arguments));
        let answer = self.next();
        assert_eq!(answer["id"], 7);
        answer
    }

    fn pings(&mut self) {
        self.send(PING);
        assert_eq!(self.next(), json!({ "jsonrpc": "2.0", "id": 8, "result": {} }));
    }

    /// Closes the server's input, and gives what it says until it ends by itself, and on standard error.
    fn end(mut self) -> (String, String) {
        drop(self.input.take());
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        let output = self.child.wait_with_output().unwrap();
        assert!(output.status.success());
        (rest, String::from_utf8(output.stderr).unwrap())
    }
}

const OPENING: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
    "\n"
);
const PING: &str = "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\n";

fn call(id: u32, tool: &str, arguments: Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments });
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

#[test]
fn what_handlers_and_their_children_print_goes_to_standard_error() {
    let mut peer = Peer::opened();
    assert_eq!(text(&peer.call("noise", json!({}))), "quiet");
    peer.pings();
    let (rest, errors) = peer.end();
    assert_eq!(rest, "");
    for printed in ["printed\n", "echoed\n", "printed without an end"] {
        assert!(errors.contains(printed), "{errors}");
    }
}

#[test]
fn the_streams_are_as_before_afterwards() {
    let mut child = command().arg("twice").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let noise = call(7, "noise", json!({}));
    child.stdin.take().unwrap().write_all(format!("{OPENING}{noise}").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.lines().nth(1).unwrap().contains("quiet"), "{said}");
    assert_eq!(said.lines().skip(2).collect::<Vec<_>>(), ["in between"]);
}

#[test]
fn handlers_find_standard_input_empty() {
    let mut peer = Peer::opened();
    assert_eq!(text(&peer.call("read", json!({}))), "");
    peer.pings();
}

#[test]
fn a_handler_that_panics_is_an_error() {
    let mut peer = Peer::opened();
    assert_eq!(peer.call("panics", json!({}))["error"]["code"], -32603);
    peer.pings();
    let (_, errors) = peer.end();
    assert!(errors.contains("a handler of tools/call panicked: dropped it"), "{errors}");
}

#[test]
fn standard_error_may_be_closed() {
    let mut peer = Peer::opened();
    drop(peer.child.stderr.take());
    assert_eq!(peer.call("panics", json!({}))["error"]["code"], -32603);
    peer.send(b"\xff\n");
    assert_eq!(peer.next()["error"]["code"], -32700);
    peer.pings();
}

/// B09, B11, B13: none of it ends the connection.
#[test]
fn lines_that_are_no_message_are_answered_or_passed_over() {
    let mut peer = Peer::start();
    peer.send("\u{feff}not json\n");
    peer.send("\r\n  \n");
    peer.send("{\n");
    assert_eq!(peer.next()["error"]["code"], -32700);
    peer.send(OPENING.replace('\n', "\r\n"));
    assert_eq!(peer.next()["id"], 0);
    peer.send(b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}\n");
    assert_eq!(peer.next()["error"]["code"], -32700);
    peer.pings();
    // Over the limit of four megabytes.
    peer.send(call(9, "echo", json!({ "text": "x".repeat(5 << 20) })));
    assert_eq!(peer.next()["error"]["code"], -32700);
    peer.pings();
}

/// B11.
#[test]
fn a_byte_order_mark_before_the_first_message_is_nothing() {
    let mut peer = Peer::start();
    peer.send(format!("\u{feff}{OPENING}"));
    assert_eq!(peer.next()["id"], 0);
}

/// B12.
#[test]
fn only_a_line_feed_ends_a_line() {
    let mut peer = Peer::opened();
    let text_sent = "before\u{2028}after\u{2029}end\u{85}";
    assert_eq!(text(&peer.call("echo", json!({ "text": text_sent }))), text_sent);
    peer.pings();
}

/// B16.
#[test]
fn however_deep_arguments_are_the_call_is_answered() {
    let mut peer = Peer::opened();
    for depth in [126, 200, 10_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        peer.send(call(7, "echo", json!("DEEP")).replace("\"DEEP\"", &format!("{{\"text\":{deep}}}")));
        let answer = peer.next();
        assert!(answer["id"] == 7 || answer["error"]["code"] == -32700, "{answer}");
        peer.pings();
    }
}

/// B103.
#[test]
fn a_line_may_come_in_any_pieces() {
    let mut peer = Peer::opened();
    let line = call(7, "echo", json!({ "text": "x".repeat(200_000) }));
    peer.send(call(6, "nap", json!({ "milliseconds": 50 })));
    let (half, rest) = line.as_bytes().split_at(100_000);
    peer.send(half);
    // An answer is written while a line is half read.
    assert_eq!(peer.next()["id"], 6);
    rest.chunks(33_333).for_each(|piece| peer.send(piece));
    assert_eq!(text(&peer.next()).len(), 200_000);
}

/// B104.
#[test]
fn calls_under_way_at_the_end_of_the_input_are_answered() {
    let mut peer = Peer::opened();
    peer.send(call(1, "nap", json!({ "milliseconds": 200 })) + &call(2, "nap", json!({ "milliseconds": 100 })));
    let (rest, _) = peer.end();
    let ids: Vec<_> = rest.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone()).collect();
    assert_eq!(ids, [2, 1]);
}

#[test]
fn a_first_request_of_the_modern_era_decides_for_it() {
    let mut peer = Peer::start();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": meta } });
    peer.send(format!("{request}\n"));
    assert!(peer.next()["result"]["supportedVersions"].is_array());
}

#[test]
fn the_mode_of_a_pipe_is_as_before() {
    use rustix::fs::{OFlags, fcntl_getfl};

    let nonblocking = |pipe: &dyn AsFd| fcntl_getfl(pipe.as_fd()).unwrap().contains(OFlags::NONBLOCK);
    let (input, mut requests) = pipe().unwrap();
    let (answers, output) = pipe().unwrap();
    let mut child = command().stdin(input.try_clone().unwrap()).stdout(output.try_clone().unwrap()).spawn().unwrap();
    requests.write_all(OPENING.as_bytes()).unwrap();
    let mut answers = BufReader::new(answers);
    answers.read_line(&mut String::new()).unwrap();
    assert!(nonblocking(&input) && nonblocking(&output));
    drop(requests);
    assert!(child.wait().unwrap().success());
    assert!(!nonblocking(&input) && !nonblocking(&output));
}

/// What some programs start children with.
#[test]
fn sockets_are_served_too() {
    let (near, far) = UnixStream::pair().unwrap();
    let output = OwnedFd::from(far.try_clone().unwrap());
    let mut child = command().stdin(OwnedFd::from(far)).stdout(output).spawn().unwrap();
    (&near).write_all(format!("{OPENING}{PING}").as_bytes()).unwrap();
    near.shutdown(Shutdown::Write).unwrap();
    let answers = std::io::read_to_string(&near).unwrap();
    assert_eq!(answers.lines().count(), 2, "{answers}");
    assert!(child.wait().unwrap().success());
}

#[test]
fn files_are_served_too() {
    let folder = std::env::temp_dir();
    let (asked, answered) = (folder.join(format!("{}.in", id())), folder.join(format!("{}.out", id())));
    std::fs::write(&asked, format!("{OPENING}{}{PING}", call(7, "nap", json!({ "milliseconds": 50 })))).unwrap();
    let run = command().stdin(File::open(&asked).unwrap()).stdout(File::create(&answered).unwrap()).output().unwrap();
    assert!(run.status.success());
    let answers = std::fs::read_to_string(&answered).unwrap();
    std::fs::remove_file(asked).unwrap();
    std::fs::remove_file(answered).unwrap();
    assert_eq!(answers.lines().count(), 3, "{answers}");
    assert!(answers.contains("rested"));
}

fn id() -> String {
    format!("sandwire-stdio-{}", std::process::id())
}

#[test]
fn an_idle_server_uses_no_processor_time() {
    let mut peer = Peer::opened();
    peer.pings();
    let spent = || processor_time(peer.child.id());
    let Some(before) = spent() else { return };
    thread::sleep(Duration::from_secs(1));
    assert!(spent().unwrap() - before <= 2);
}

#[test]
fn settings_are_read_and_wrong_ones_told() {
    let run = |name: &str, value: &str| {
        let run = command().env(name, value).stdin(Stdio::null()).output().unwrap();
        (run.status.success(), String::from_utf8(run.stderr).unwrap())
    };
    let (fine, told) = run("SANDWIRE_PROT", "80");
    assert!(fine && told.contains("has SANDWIRE_PROT, which is not known"), "{told}");
    assert!(told.contains("serving standard input and output"), "{told}");
    let (fine, told) = run("SANDWIRE_LOG_LEVEL", "off");
    assert_eq!((fine, &*told), (true, ""));
    let (fine, told) = run("SANDWIRE_DEBUG", "loud");
    assert!(!fine && told.contains("it must be 1, true, 0 or false"), "{told}");
}

#[test]
fn messages_are_told_when_asked_for() {
    let mut child = command().env("SANDWIRE_DEBUG", "1").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&[b"\xff\n", PING.as_bytes()].concat()).unwrap();
    let told = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    assert!(told.contains("sandwire: line is not UTF-8"), "{told}");
    assert!(told.contains("sandwire: < {\"jsonrpc\"") && told.contains("sandwire: > {\"jsonrpc\""), "{told}");
}

#[test]
fn a_client_that_is_gone_ends_the_server() {
    let mut peer = Peer::opened();
    peer.send(call(1, "nap", json!({ "milliseconds": 50 })));
    let Peer { mut child, input, lines } = peer;
    drop((input, lines));
    let (ended, end) = mpsc::channel();
    thread::spawn(move || ended.send(child.wait().unwrap()));
    end.recv_timeout(Duration::from_secs(10)).unwrap();
}
