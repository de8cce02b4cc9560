//! Keeps every message that our client or our server says and hears, for the run to hold against the official schemas.
#![allow(clippy::expect_used)]

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures::future::poll_fn;
use sandwire::io::{Body, BoxFuture, Bytes, Direction, HttpService};
use sandwire_proto::TransportError;
use sandwire_proto::http::{RequestHead, ResponseHead};

/// Names a session's requests and responses.
const SESSION: &str = "mcp-session-id";

/// A file with a line for each message: the number of its conversation, whether it was sent or received, and its text.
#[derive(Debug)]
pub struct Record(Mutex<File>);

impl Record {
    /// A new file.
    ///
    /// # Panics
    ///
    /// When it cannot be written.
    #[must_use]
    pub fn at(path: impl AsRef<Path>) -> Arc<Self> {
        Arc::new(Self(Mutex::new(File::create(path).expect("the record can be written"))))
    }

    fn keep(&self, conversation: u32, direction: Direction, text: &str) {
        let text = text.replace(['\r', '\n'], " ");
        writeln!(lock(&self.0), "{conversation} {direction:?} {text}").expect("the record can be written");
    }

    /// What hears the messages of the only conversation.
    pub fn observer(self: &Arc<Self>) -> impl Fn(Direction, &str) + Send + Sync + 'static {
        let record = Arc::clone(self);
        move |direction, text| record.keep(0, direction, text)
    }
}

/// Our server over HTTP, where a request of the modern era is a conversation of its own and a session is one before.
#[derive(Debug)]
pub struct Recorded<S> {
    service: Arc<S>,
    record: Arc<Record>,
    conversations: AtomicU32,
    /// Whether everything belongs to one conversation.
    one: bool,
    sessions: Arc<Mutex<HashMap<String, u32>>>,
}

impl<S> Recorded<S> {
    /// A service whose messages are kept; in the transport of 2024, which names sessions elsewhere, as those of `one`
    /// conversation.
    #[must_use]
    pub fn new(service: S, record: Arc<Record>, one: bool) -> Self {
        Self { service: Arc::new(service), record, conversations: AtomicU32::new(0), one, sessions: Arc::default() }
    }
}

impl<S: HttpService> HttpService for Recorded<S> {
    fn handle(&self, head: RequestHead, body: Box<dyn Body>) -> BoxFuture<'static, (ResponseHead, Box<dyn Body>)> {
        let session = head.headers.get(SESSION).and_then(|session| lock(&self.sessions).get(session).copied());
        let session = if self.one { Some(0) } else { session };
        let conversation = session.unwrap_or_else(|| self.conversations.fetch_add(1, Ordering::Relaxed));
        let (service, record) = (Arc::clone(&self.service), Arc::clone(&self.record));
        let sessions = Arc::clone(&self.sessions);
        Box::pin(async move {
            let heard = whole(body).await;
            if !heard.is_empty() {
                record.keep(conversation, Direction::Received, &String::from_utf8_lossy(&heard));
            }
            let (head, body) = service.handle(head, Box::new(Bytes::new(heard))).await;
            if let Some(session) = head.headers.get(SESSION) {
                lock(&sessions).insert(session.to_owned(), conversation);
            }
            let streams = head.headers.get("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
            let said = Said { body, record, conversation, streams, text: Vec::new() };
            (head, Box::new(said) as Box<dyn Body>)
        })
    }
}

/// Everything that a request's body has; one that breaks off is answered as it came.
async fn whole(mut body: Box<dyn Body>) -> Vec<u8> {
    let mut text = Vec::new();
    while let Some(Ok(chunk)) = poll_fn(|cx| body.poll_chunk(cx)).await {
        text.extend(chunk);
    }
    text
}

/// A response's body, which is kept as it goes.
struct Said {
    body: Box<dyn Body>,
    record: Arc<Record>,
    conversation: u32,
    /// Whether it is a stream of events.
    streams: bool,
    /// What has not been kept yet.
    text: Vec<u8>,
}

impl Said {
    fn keep(&self, message: &str) {
        if !message.is_empty() {
            self.record.keep(self.conversation, Direction::Sent, message);
        }
    }

    /// The data of the next event that is all there.
    fn take_event(&mut self) -> Option<String> {
        let end = self.text.windows(2).position(|two| two == b"\n\n")?;
        let event: Vec<u8> = self.text.drain(..end + 2).collect();
        let event = String::from_utf8_lossy(&event);
        if event.lines().any(|line| line == "event: endpoint") {
            return Some(String::new());
        }
        let data = event.lines().filter_map(|line| line.strip_prefix("data:"));
        Some(data.map(str::trim_start).collect::<Vec<_>>().join("\n"))
    }
}

impl Body for Said {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        let polled = self.body.poll_chunk(cx);
        match &polled {
            Poll::Ready(Some(Ok(chunk))) => {
                self.text.extend(chunk);
                while self.streams
                    && let Some(message) = self.take_event()
                {
                    self.keep(&message);
                }
            }
            Poll::Ready(None) if !self.streams => self.keep(&String::from_utf8_lossy(&self.text)),
            _ => {}
        }
        polled
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
