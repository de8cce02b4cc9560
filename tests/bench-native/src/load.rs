//! Keep-alive connections that post the same request again and again, and check every answer.

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use polling::{Event, Events, PollMode, Poller};
use serde_json::{Value, json};

use crate::measure::Subject;

const BUFFER: usize = 16 * 1024;
const A: i64 = 2;
const B: i64 = 3;

/// Posts `tools/call` of the modern era over a number of connections at once.
pub struct Load {
    address: SocketAddr,
    connections: usize,
    request: Vec<u8>,
    /// The body that has been read and found right; all others must be the same.
    right: Vec<u8>,
}

struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Load {
    /// Makes one call to learn what is right.
    pub fn on(address: SocketAddr, connections: usize) -> Self {
        let request = request(address, &call(A, B));
        let right = ask(address, &request);
        check(&right);
        Self { address, connections, request, right }
    }

    /// The answer to the call that all connections make.
    pub fn right(&self) -> String {
        text(&self.right)
    }
}

impl Subject for Load {
    /// The connections are opened before the time begins: servers close those that wait for their next round.
    fn run(&mut self, time: Duration) -> f64 {
        let poller = Poller::new().expect("a poller");
        let mut events = Events::new();
        let mut connections: Vec<_> = (0..self.connections)
            .map(|key| {
                let stream = connect(self.address);
                stream.set_nonblocking(true).expect("a stream that does not block");
                // SAFETY: it is watched no longer than it is open: see the end of this function.
                unsafe { poller.add_with_mode(&stream, Event::readable(key), PollMode::Level) }
                    .expect("the stream is watched");
                Connection { stream, buffer: Vec::with_capacity(BUFFER) }
            })
            .collect();

        let begin = Instant::now();
        let mut answered = 0_u64;
        let mut open = connections.len();
        for connection in &mut connections {
            send(&mut connection.stream, &self.request);
        }
        while open > 0 {
            events.clear();
            let ready = poller.wait(&mut events, Some(Duration::from_secs(10))).expect("waiting for answers");
            assert!(ready > 0, "no answer for ten seconds");
            let over = begin.elapsed() >= time;
            for event in events.iter() {
                let connection = &mut connections[event.key];
                if !connection.receive(&self.right) {
                    continue;
                }
                answered += 1;
                if over {
                    open -= 1;
                } else {
                    send(&mut connection.stream, &self.request);
                }
            }
        }
        let took = begin.elapsed().as_nanos() as f64 / answered as f64;
        for connection in &connections {
            poller.delete(&connection.stream).expect("the stream was watched");
        }
        took
    }
}

impl Connection {
    /// Whether what arrived completes an answer. It must be the right one.
    fn receive(&mut self, right: &[u8]) -> bool {
        let mut chunk = [0; BUFFER];
        match self.stream.read(&mut chunk) {
            Ok(0) => panic!("the server closed a connection"),
            Ok(read) => self.buffer.extend_from_slice(&chunk[..read]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            Err(error) => panic!("a connection failed: {error}"),
        }
        let Some(answer) = Answer::parse(&self.buffer) else {
            return false;
        };
        assert!(answer.status == 200 && answer.body == right, "a wrong answer: {}", text(&self.buffer));
        assert_eq!(answer.length, self.buffer.len(), "more than one answer came");
        self.buffer.clear();
        true
    }
}

/// A whole HTTP answer.
struct Answer {
    status: u16,
    session: Option<String>,
    body: Vec<u8>,
    /// Of everything.
    length: usize,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
        let head = std::str::from_utf8(&bytes[..end]).expect("a head of text");
        let mut lines = head.lines();
        let status = lines.next()?.split(' ').nth(1)?.parse().expect("a status");
        let (mut sized, mut chunked, mut session) = (None, false, None);
        for line in lines {
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                sized = Some(value.parse::<usize>().expect("a length"));
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                chunked = value.eq_ignore_ascii_case("chunked");
            } else if name.eq_ignore_ascii_case("mcp-session-id") {
                session = Some(value.to_owned());
            }
        }
        let rest = &bytes[end..];
        let (body, taken) = if chunked { dechunk(rest)? } else { (rest.get(..sized?)?.to_vec(), sized?) };
        Some(Self { status, session, body, length: end + taken })
    }
}

/// The body of chunks and how long they are, once all are there.
fn dechunk(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let line = bytes[at..].windows(2).position(|two| two == b"\r\n")?;
        let size = std::str::from_utf8(&bytes[at..at + line]).expect("a size of text");
        let size = usize::from_str_radix(size.trim(), 16).expect("a size");
        at += line + 2;
        body.extend_from_slice(bytes.get(at..at + size)?);
        at += size;
        bytes.get(at..at + 2)?;
        at += 2;
        if size == 0 {
            return Some((body, at));
        }
    }
}

/// A `tools/call` of the modern era.
fn call(a: i64, b: i64) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": "add", "arguments": { "a": a, "b": b },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1.0.0" },
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    })
}

fn request(address: SocketAddr, message: &Value) -> Vec<u8> {
    let headers =
        HashMap::from([("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "add")]);
    post(address, &headers, message)
}

fn post(address: SocketAddr, headers: &HashMap<&str, &str>, message: &Value) -> Vec<u8> {
    let body = message.to_string();
    let mut text = format!("POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n");
    text.push_str("Accept: application/json, text/event-stream\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    text.into_bytes()
}

/// Makes one call on a connection of its own, and gives the body of the answer.
fn ask(address: SocketAddr, request: &[u8]) -> Vec<u8> {
    let mut stream = connect(address);
    let answer = exchange(&mut stream, request);
    assert_eq!(answer.status, 200, "{}", text(&answer.body));
    answer.body
}

fn exchange(stream: &mut TcpStream, request: &[u8]) -> Answer {
    stream.write_all(request).expect("the request is sent");
    let mut buffer = Vec::new();
    loop {
        let mut chunk = [0; BUFFER];
        let read = stream.read(&mut chunk).expect("an answer comes");
        assert!(read > 0, "no answer but {}", text(&buffer));
        buffer.extend_from_slice(&chunk[..read]);
        if let Some(answer) = Answer::parse(&buffer) {
            return answer;
        }
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server accepts");
    stream.set_nodelay(true).expect("no delay");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a time limit");
    stream
}

/// Whether an answer, an event stream of one included, is the right one.
fn check(body: &[u8]) {
    let body = text(body);
    let data = body.lines().filter_map(|line| line.strip_prefix("data:")).find(|data| data.contains("result"));
    let message: Value = serde_json::from_str(data.unwrap_or(&body)).expect("an answer in JSON");
    assert_eq!(message["id"], 1, "{body}");
    let result = &message["result"];
    assert_eq!(result["structuredContent"], json!({ "sum": A + B }), "{body}");
    // A peer writes it with spaces.
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().expect("a text")).expect("in JSON");
    assert_eq!(text, json!({ "sum": A + B }), "{body}");
}

fn send(stream: &mut TcpStream, request: &[u8]) {
    // It is short and nothing else is on its way: it fits.
    stream.write_all(request).expect("the request is sent");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Opens sessions of the legacy era, each with what a client sends at first.
pub fn open_sessions(address: SocketAddr, number: usize) {
    let mut stream = connect(address);
    let opening = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1.0.0" },
        },
    });
    let opening = post(address, &HashMap::new(), &opening);
    for _ in 0..number {
        let answer = exchange(&mut stream, &opening);
        let session = answer.session.expect("a session of its own");
        let headers = HashMap::from([("MCP-Protocol-Version", "2025-11-25"), ("Mcp-Session-Id", session.as_str())]);
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let answer = exchange(&mut stream, &post(address, &headers, &initialized));
        assert_eq!(answer.status, 202, "{}", text(&answer.body));
    }
}
