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
    let (fields, body) = text.split_once("\n\n").unwrap_or(("", &text));
    let mut head = RequestHead::new(Verb::Post);
    for field in fields.lines() {
        match field.split_once(':') {
            Some((name, value)) => head.headers.push(name.to_owned(), value),
            None => head.method = Verb::from(field),
        }
    }
    if fields.is_empty() {
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
