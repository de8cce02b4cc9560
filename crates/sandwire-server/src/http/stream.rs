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
    env: Arc<dyn Env>,
    timer: Box<dyn Timer>,
    keep_alive_ms: u64,
    next_comment: Time,
}

impl Events {
    pub(super) fn new(
        exchange: Exchange,
        version: ProtocolVersion,
        waiting: usize,
        env: &Arc<dyn Env>,
        keep_alive_ms: u64,
    ) -> Self {
        let next_comment = env.now().after(keep_alive_ms);
        let (said, timer, env) = (VecDeque::new(), env.timer(), Arc::clone(env));
        Self { exchange, said, version, waiting, env, timer, keep_alive_ms, next_comment }
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
                Poll::Pending => return self.timer.poll(self.next_comment, cx).map(|()| None),
            }
        }
        Poll::Ready(Some(whole(self.version, &self.said)))
    }

    /// Puts the next comment off; whether the message is an answer.
    fn note(&mut self, message: &Message) -> bool {
        let is_answer = matches!(message, Message::Response(_));
        self.waiting -= usize::from(is_answer);
        self.next_comment = self.env.now().after(self.keep_alive_ms);
        is_answer
    }

    fn event(&self, message: &Message) -> Vec<u8> {
        let text = encode(message);
        let mut event = Vec::with_capacity(text.len() + 8);
        event.extend_from_slice(b"data: ");
        // Outside strings, where alone they may stand, line breaks mean no more than spaces.
        event.extend(text.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }));
        event.extend_from_slice(b"\n\n");
        event
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
                Poll::Pending => {
                    return self.timer.poll(self.next_comment, cx).map(|()| {
                        self.next_comment = self.env.now().after(self.keep_alive_ms);
                        Some(Ok(b":\n\n".to_vec()))
                    });
                }
            },
        };
        Poll::Ready(Some(Ok(self.event(&message))))
    }
}
