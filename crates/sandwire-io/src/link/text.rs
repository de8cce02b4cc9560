use super::{Link, LinkEvent};
use crate::{Observer, TextPort};
use sandwire_proto::{ExchangeId, Via, http::RequestHead};
use sandwire_types::Message;
use std::task::{Context, Poll};

/// JSON text over a port.
pub struct TextLink<P> {
    port: P,
    max_message_bytes: usize,
}

impl<P: TextPort> TextLink<P> {
    /// A link over `port` that accepts messages of at most `max_message_bytes`.
    #[must_use]
    pub fn new(port: P, max_message_bytes: usize) -> Self {
        Self {
            port,
            max_message_bytes,
        }
    }
}

impl<P: TextPort> Link for TextLink<P> {
    fn send(&mut self, _via: Via, _message: Message, _head: Option<Box<RequestHead>>) {
        let _ = (&self.port, self.max_message_bytes);
    }

    fn abandon(&mut self, _exchange: ExchangeId) {}

    fn poll(&mut self, _cx: &mut Context<'_>) -> Poll<LinkEvent> {
        Poll::Pending
    }

    fn close(&mut self) {}

    fn observe(&mut self, _observer: Observer) {}
}
