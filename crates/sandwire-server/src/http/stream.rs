//! The event stream of one exchange.

use std::{
    collections::VecDeque,
    sync::Arc,
    task::{Context, Poll},
};

use sandwire_io::{Body, Env, Exchange, Timer};
use sandwire_proto::{Time, TransportError};
use sandwire_types::{Message, ProtocolVersion, wire::encode_at};

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
        said: Vec<Message>,
        version: ProtocolVersion,
        waiting: usize,
        env: Arc<dyn Env>,
        keep_alive_ms: u64,
    ) -> Self {
        let timer = env.timer();
        let next_comment = env.now().after(if said.is_empty() { 0 } else { keep_alive_ms });
        Self { exchange, said: said.into(), version, waiting, env, timer, keep_alive_ms, next_comment }
    }

    fn event(&self, message: &Message) -> Vec<u8> {
        let text = encode_at(Some(self.version), message);
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
        if let Some(message) = self.said.pop_front() {
            return Poll::Ready(Some(Ok(self.event(&message))));
        }
        if self.waiting == 0 {
            return Poll::Ready(None);
        }
        match self.exchange.poll(cx) {
            Poll::Ready(Some(message)) => {
                if matches!(message, Message::Response(_)) {
                    self.waiting -= 1;
                }
                self.next_comment = self.env.now().after(self.keep_alive_ms);
                Poll::Ready(Some(Ok(self.event(&message))))
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => self.timer.poll(self.next_comment, cx).map(|()| {
                self.next_comment = self.env.now().after(self.keep_alive_ms);
                Some(Ok(b":\n\n".to_vec()))
            }),
        }
    }
}
