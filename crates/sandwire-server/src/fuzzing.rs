//! The body of the fuzz target for the HTTP entry.

use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
};

use sandwire_io::{Answer, Bytes, Call, Endpoint, Env, HttpService, Timer};
use sandwire_json::Raw;
use sandwire_proto::{
    Time,
    http::{Headers, RequestHead, Verb, param_headers::mirrored},
    server::{Config, Progress},
};
use sandwire_types::Reply;

use crate::http::HttpEntry;

/// Reads bytes as a request, head and body as HTTP/1.1 has them, and has it answered to the end.
///
/// Every response is one the protocol knows, and its body has an end.
pub fn http_entry(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (mut head, body) = request(&text);
    if head.headers.is_empty() && head.method == Verb::Post {
        for (name, value) in [
            ("content-type", "application/json"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "t"),
        ] {
            head.headers.push(name, value);
        }
    }
    let entry = HttpEntry::new(Arc::new(Told(Arc::new(config()))), Arc::new(Still));
    let mut cx = Context::from_waker(Waker::noop());
    let Poll::Ready((head, mut body)) = entry.handle(head, Box::new(Bytes::new(body))).as_mut().poll(&mut cx) else {
        return;
    };
    assert!(matches!(head.status, 200 | 202 | 204 | 400 | 403..=406 | 413 | 415 | 421), "{}", head.status);
    for _ in 0..1000 {
        match body.poll_chunk(&mut cx) {
            Poll::Ready(Some(chunk)) => assert!(chunk.is_ok_and(|chunk| !chunk.is_empty())),
            Poll::Ready(None) | Poll::Pending => return,
        }
    }
    assert!(head.status != 200, "a body without end");
}

/// A request as HTTP/1.1 has it: a line without a colon names the method.
fn request(text: &str) -> (RequestHead, &str) {
    let (fields, body) = text.split_once("\n\n").unwrap_or(("", text));
    let mut head = RequestHead::new(Verb::Post);
    for field in fields.lines() {
        match field.split_once(':') {
            Some((name, value)) => head.headers.push(name.to_owned(), value),
            None => head.method = Verb::from(field),
        }
    }
    (head, body)
}

/// Reads bytes as requests, each after a line of two dashes, to one entry with sessions. `$S` stands for the session
/// that was opened last, `$E` for the event that was received last, and a header `path` for the request's path.
///
/// Every response is one the protocol knows, and once the streams are dropped and time has passed, no session is left.
#[cfg(feature = "sse")]
pub fn http_sessions(data: &[u8]) {
    use crate::http::{Guard, Sessions};
    use sandwire_io::MemoryEvents;

    let settings =
        Sessions { max: 3, events: Some(Arc::new(MemoryEvents::new(8, 1000, 3))), sse: true, ..Sessions::default() };
    let clock = Arc::new(Turning::default());
    let endpoint = Arc::new(Told(Arc::new(config())));
    let (entry, driver) = HttpEntry::with_sessions(endpoint, clock.clone(), Guard::open(), settings);
    let mut driver = std::pin::pin!(driver);
    let mut cx = Context::from_waker(Waker::noop());
    let (mut session, mut event) = (String::new(), String::new());
    let mut streams = std::collections::VecDeque::new();
    for text in String::from_utf8_lossy(data).split("\n--\n").take(64) {
        let text = text.replace("$S", &session).replace("$E", &event);
        let (mut head, body) = request(&text);
        head.path = head.headers.get("path").unwrap_or_default().to_owned();
        let mut response = entry.handle(head, Box::new(Bytes::new(body)));
        let Poll::Ready((head, body)) = response.as_mut().poll(&mut cx) else { continue };
        assert!(matches!(head.status, 200 | 202 | 204 | 400 | 404..=406 | 409 | 413 | 415 | 503), "{}", head.status);
        if let Some(id) = head.headers.get("mcp-session-id") {
            id.clone_into(&mut session);
        }
        streams.push_back(body);
        for body in &mut streams {
            for _ in 0..100 {
                let Poll::Ready(Some(Ok(chunk))) = body.poll_chunk(&mut cx) else { break };
                let chunk = String::from_utf8_lossy(&chunk);
                if let Some(id) = chunk.strip_prefix("id: ").and_then(|rest| rest.lines().next()) {
                    id.clone_into(&mut event);
                }
                if let Some((_, id)) = chunk.trim_end().split_once("?sessionId=") {
                    id.clone_into(&mut session);
                }
            }
        }
        if streams.len() > 4 {
            streams.pop_front();
        }
        assert!(driver.as_mut().poll(&mut cx).is_pending());
    }
    streams.clear();
    clock.turn(2 * Sessions::default().idle_ms);
    assert!(driver.as_mut().poll(&mut cx).is_pending());
    assert_eq!(entry.sessions(), 0);
    drop(entry);
    assert!(driver.as_mut().poll(&mut cx).is_ready());
}

/// A clock that is turned by hand, and numbers in place of randomness.
#[cfg(feature = "sse")]
#[derive(Default)]
struct Turning {
    now: Arc<std::sync::atomic::AtomicU64>,
    next: std::sync::atomic::AtomicU64,
}

#[cfg(feature = "sse")]
impl Turning {
    fn turn(&self, milliseconds: u64) {
        self.now.fetch_add(milliseconds, std::sync::atomic::Ordering::Relaxed);
    }
}

#[cfg(feature = "sse")]
impl Env for Turning {
    fn now(&self) -> Time {
        Time(self.now.load(std::sync::atomic::Ordering::Relaxed))
    }
    fn timer(&self) -> Box<dyn Timer> {
        Box::new(Turned(Arc::clone(&self.now)))
    }
    fn fill_random(&self, bytes: &mut [u8]) {
        let number = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed).to_le_bytes();
        bytes.iter_mut().zip(number.iter().cycle()).for_each(|(byte, from)| *byte = *from);
    }
    fn unix_time(&self) -> Option<u64> {
        None
    }
}

/// A timer of the clock that is turned by hand. It wakes nobody: the driver is polled when the clock was turned.
#[cfg(feature = "sse")]
struct Turned(Arc<std::sync::atomic::AtomicU64>);

#[cfg(feature = "sse")]
impl Timer for Turned {
    fn poll(&mut self, at: Time, _: &mut Context<'_>) -> Poll<()> {
        if self.0.load(std::sync::atomic::Ordering::Relaxed) >= at.0 { Poll::Ready(()) } else { Poll::Pending }
    }
}

fn config() -> Config {
    let info = Raw::from_valid(r#"{"name":"f","version":"1"}"#);
    Config::new(info, Raw::from_valid(r#"{"tools":{},"resources":{"subscribe":true},"logging":{}}"#))
}

struct Told(Arc<Config>);

impl Endpoint for Told {
    fn config(&self) -> Arc<Config> {
        Arc::clone(&self.0)
    }

    fn is_mirrored(&self, _: &str, arguments: &str, headers: &Headers) -> bool {
        let schema = r#"{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"R"}}}"#;
        mirrored(schema, arguments, headers)
    }

    fn call(&self, call: Call) -> Answer {
        call.outlet.progress(Progress { progress: 1.0, ..Progress::default() });
        Answer::Ready(Ok(Reply::empty()))
    }
}

struct Still;

impl Env for Still {
    fn now(&self) -> Time {
        Time(0)
    }
    fn timer(&self) -> Box<dyn Timer> {
        Box::new(Self)
    }
    fn fill_random(&self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
    fn unix_time(&self) -> Option<u64> {
        None
    }
}

impl Timer for Still {
    fn poll(&mut self, _: Time, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}
