//! The event stream of one exchange.

use std::{
    collections::VecDeque,
    sync::Arc,
    task::{Context, Poll},
};

use sandwire_io::{Body, Env, Exchange, Timer};
use sandwire_proto::{Time, TransportError};
use sandwire_types::{Message, ProtocolVersion, wire::encode};

use super::{Response, answer::whole};

/// Gives what an exchange says, as events, until every request has its answer. Dropping it cancels what is under way.
pub(super) struct Events {
    exchange: Exchange,
    said: VecDeque<Message>,
    version: ProtocolVersion,
    /// How many requests have no answer yet.
    waiting: usize,
    keep_alive: KeepAlive,
}

/// When an event stream needs a comment, so that nobody between takes it for dead.
pub(super) struct KeepAlive {
    env: Arc<dyn Env>,
    /// Made when it is needed: most answers are there at once.
    timer: Option<Box<dyn Timer>>,
    every_ms: u64,
    next: Time,
}

impl KeepAlive {
    pub(super) fn new(env: &Arc<dyn Env>, every_ms: u64) -> Self {
        Self { env: Arc::clone(env), timer: None, every_ms, next: env.now().after(every_ms) }
    }

    /// Begins to wait anew.
    pub(super) fn put_off(&mut self) {
        self.next = self.env.now().after(self.every_ms);
    }

    /// Waits until a comment is due, and leaves it due.
    pub(super) fn poll_due(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.timer.get_or_insert_with(|| self.env.timer()).poll(self.next, cx)
    }

    /// The next comment.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Vec<u8>> {
        self.poll_due(cx).map(|()| {
            self.put_off();
            b":\n\n".to_vec()
        })
    }
}

/// A message as an event, with the id by which it can be asked for again where it has one.
pub(super) fn event(id: Option<&str>, text: &str) -> Vec<u8> {
    let mut event = Vec::with_capacity(text.len() + 8);
    if let Some(id) = id {
        event.extend_from_slice(b"id: ");
        event.extend_from_slice(id.as_bytes());
        event.push(b'\n');
    }
    event.extend_from_slice(b"data: ");
    // Outside strings, where alone they may stand, line breaks mean no more than spaces.
    event.extend(text.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }));
    event.extend_from_slice(b"\n\n");
    event
}

impl Events {
    pub(super) fn new(exchange: Exchange, version: ProtocolVersion, waiting: usize, keep_alive: KeepAlive) -> Self {
        Self { exchange, said: VecDeque::new(), version, waiting, keep_alive }
    }

    /// Waits for the answers: ready with all of them, or with nothing once there is something else to send first.
    pub(super) fn poll_answers(&mut self, cx: &mut Context<'_>) -> Poll<Option<Response>> {
        while self.waiting > 0 {
            match self.exchange.poll(cx) {
                Poll::Ready(Some(message)) => {
                    let is_answer = self.note(&message);
                    self.said.push_back(message);
                    if !is_answer {
                        return Poll::Ready(None);
                    }
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return self.keep_alive.poll_due(cx).map(|()| None),
            }
        }
        Poll::Ready(Some(whole(self.version, &self.said)))
    }

    /// Puts the next comment off; whether the message is an answer.
    fn note(&mut self, message: &Message) -> bool {
        let is_answer = matches!(message, Message::Response(_));
        self.waiting -= usize::from(is_answer);
        self.keep_alive.put_off();
        is_answer
    }
}

impl Body for Events {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        let message = match self.said.pop_front() {
            Some(message) => message,
            None if self.waiting == 0 => return Poll::Ready(None),
            None => match self.exchange.poll(cx) {
                Poll::Ready(Some(message)) => {
                    self.note(&message);
                    message
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return self.keep_alive.poll(cx).map(|comment| Some(Ok(comment))),
            },
        };
        Poll::Ready(Some(Ok(event(None, &encode(&message)))))
    }
}
