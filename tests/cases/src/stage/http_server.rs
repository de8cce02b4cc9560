//! A server of ours behind its HTTP entry, which is called as a function.

use super::{Judge, MODERN, Said, VERSIONS, envelope, request};
use sandwire_io::{Body, BoxFuture, Bytes, Endpoint, HttpService, testing::SimEnv};
use sandwire_proto::http::{RequestHead, ResponseHead, Verb};
use sandwire_server::http::{Guard, HttpEntry, Sessions, SessionsDriver};
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};
use wire_check::Side;

type Response = (ResponseHead, Box<dyn Body>);

pub struct House {
    pub env: SimEnv,
    pub entry: HttpEntry,
    driver: Option<Pin<Box<SessionsDriver>>>,
}

impl House {
    /// A server that keeps sessions.
    pub fn new(endpoint: impl Endpoint) -> Self {
        Self::with(endpoint, Guard::default(), Sessions::default())
    }

    pub fn with(endpoint: impl Endpoint, guard: Guard, sessions: Sessions) -> Self {
        let env = SimEnv::new(5);
        let (entry, driver) = HttpEntry::with_sessions(Arc::new(endpoint), Arc::new(env.clone()), guard, sessions);
        Self { env, entry, driver: Some(Box::pin(driver)) }
    }

    /// A server that keeps nothing.
    pub fn stateless(endpoint: impl Endpoint) -> Self {
        Self::guarded(endpoint, Guard::default())
    }

    pub fn guarded(endpoint: impl Endpoint, guard: Guard) -> Self {
        let env = SimEnv::new(5);
        let entry = HttpEntry::guarded(Arc::new(endpoint), Arc::new(env.clone()), guard);
        Self { env, entry, driver: None }
    }

    /// Lets the driver do what there is to do.
    pub fn run(&mut self) {
        if let Some(driver) = &mut self.driver {
            let _ = driver.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
    }

    /// Begins a request.
    pub fn begin(&self, head: RequestHead, body: &str) -> Waiting {
        self.begin_as(head, body, body)
    }

    /// Begins a request that the judge takes for another one.
    pub fn begin_as(&self, head: RequestHead, body: &str, noted: &str) -> Waiting {
        let judge = Judge::of(Side::Server).at(head.headers.get("mcp-protocol-version"));
        judge.theirs(noted);
        Waiting { response: Some(self.entry.handle(head, Box::new(Bytes::new(body)))), judge: Some(judge) }
    }

    /// A request that is answered at once.
    pub fn send(&self, head: RequestHead, body: &str) -> Got {
        self.begin(head, body).response().whole()
    }

    /// A modern request that is right in every respect, of id 7.
    pub fn modern(&self, method: &str, params: &str) -> Got {
        self.begin_modern(method, params).response().whole()
    }

    pub fn begin_modern(&self, method: &str, params: &str) -> Waiting {
        self.begin(modern_head(method, params), &request(MODERN, "7", method, params))
    }

    pub fn initialize(&self, version: &str, capabilities: &str) -> Got {
        let params = format!(
            r#""protocolVersion":"{version}","capabilities":{capabilities},"clientInfo":{{"name":"c","version":"1"}}"#
        );
        self.send(head(Verb::Post, &[]), &request("", "0", "initialize", &params))
    }

    /// Begins a session.
    pub fn open(&self, version: &str) -> String {
        self.open_as(version, "{}")
    }

    pub fn open_as(&self, version: &str, capabilities: &str) -> String {
        let got = self.initialize(version, capabilities);
        assert_eq!(got.status(), 200, "{}", got.body);
        let session = got.header("mcp-session-id").to_owned();
        let told = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(self.post(&session, version, told).response().whole().status(), 202);
        session
    }

    /// A message of a session.
    pub fn post(&self, session: &str, version: &str, body: &str) -> Waiting {
        self.begin(head(Verb::Post, &[("mcp-session-id", session), ("mcp-protocol-version", version)]), body)
    }

    /// A request without a body in a session.
    pub fn bare(&self, verb: Verb, session: &str, version: &str) -> Waiting {
        let mut head = head(verb.clone(), &[("mcp-session-id", session), ("mcp-protocol-version", version)]);
        if verb == Verb::Get {
            head.headers.push("accept", "text/event-stream");
        }
        self.begin(head, "")
    }
}

/// The head of a request; what a post needs is added unless it is said (or left out by an empty value).
pub fn head(verb: Verb, headers: &[(&'static str, &str)]) -> RequestHead {
    let mut head = RequestHead::new(verb.clone());
    let said = headers.iter().filter(|(_, value)| !value.is_empty());
    head.headers = said.map(|(name, value)| (*name, *value)).collect();
    let usual: &[_] = match verb {
        Verb::Post => &[("content-type", "application/json"), ("accept", "application/json, text/event-stream")],
        _ => &[],
    };
    for (name, value) in usual.iter().chain([&("host", "localhost:3000")]) {
        if headers.iter().all(|(said, _)| said != name) {
            head.headers.push(*name, *value);
        }
    }
    head
}

/// The head that a modern request needs.
pub fn modern_head(method: &str, params: &str) -> RequestHead {
    let mut head = head(Verb::Post, &[("mcp-protocol-version", MODERN)]);
    head.headers.push("mcp-method", method);
    let params = format!("{{{params}}}");
    if let Some(name) = sandwire_json::find(&params, "name").or_else(|| sandwire_json::find(&params, "uri")) {
        head.headers.push("mcp-name", name.trim_matches('"'));
    }
    head
}

/// A modern request with these capabilities of its client.
pub fn body_of(id: &str, method: &str, params: &str, capabilities: &str) -> String {
    let comma = if params.is_empty() { "" } else { "," };
    let envelope = envelope(MODERN, capabilities);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{envelope}{comma}{params}}}}}"#)
}

/// A request whose response has not begun.
pub struct Waiting {
    response: Option<BoxFuture<'static, Response>>,
    judge: Option<Judge>,
}

impl Waiting {
    /// The response, if it has begun.
    pub fn poll(&mut self) -> Option<Stream> {
        let response = self.response.as_mut().unwrap().as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready((head, body)) = response else { return None };
        self.response = None;
        Some(Stream { head, body, judge: self.judge.take().unwrap() })
    }

    pub fn response(mut self) -> Stream {
        self.poll().expect("the response has not begun")
    }
}

/// A response whose body has not ended.
pub struct Stream {
    pub head: ResponseHead,
    body: Box<dyn Body>,
    judge: Judge,
}

impl Stream {
    /// What there is now, and whether it is all.
    pub fn now(&mut self) -> (String, bool) {
        let mut text = String::new();
        let ended = loop {
            match self.body.poll_chunk(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Some(chunk)) => text.push_str(&String::from_utf8(chunk.unwrap()).unwrap()),
                Poll::Ready(None) => break true,
                Poll::Pending => break false,
            }
        };
        let is_stream = self.head.headers.get("content-type") == Some("text/event-stream");
        let events = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim_start);
        let messages: Vec<&str> = if is_stream { events.collect() } else { vec![&text] };
        for message in messages.into_iter().filter(|message| !message.is_empty()) {
            self.judge.ours(message.to_owned());
        }
        (text, ended)
    }

    /// What there is now of a stream that goes on.
    pub fn part(&mut self) -> String {
        let (text, ended) = self.now();
        assert!(!ended, "the stream has ended: {text}");
        text
    }

    pub fn whole(mut self) -> Got {
        let (body, ended) = self.now();
        assert!(ended, "the body goes on: {body}");
        Got { head: self.head, body }
    }
}

/// A whole response.
#[derive(Debug)]
pub struct Got {
    pub head: ResponseHead,
    pub body: String,
}

impl Got {
    pub fn status(&self) -> u16 {
        self.head.status
    }

    pub fn header(&self, name: &str) -> &str {
        self.head.headers.get(name).unwrap_or_default()
    }

    /// The message that the body is, or the last of its stream.
    pub fn said(&self) -> Said {
        let last = self.body.lines().filter_map(|line| line.strip_prefix("data:")).next_back();
        Said(last.map_or(&*self.body, str::trim_start).to_owned())
    }
}

impl Judge {
    /// Holds what follows against the schema of this version, if it is one.
    fn at(mut self, version: Option<&str>) -> Self {
        self.version = version.filter(|version| VERSIONS.contains(version)).map(str::to_owned);
        self
    }
}
