use super::{Direction, Link, LinkEvent, decode_into};
use crate::{Observer, TextPort};
use sandwire_proto::{ExchangeId, TransportError, TransportErrorKind, Via, http::RequestHead};
use sandwire_types::{
    ErrorCode, Message, WireError,
    wire::{Memo, encode},
};
use std::{
    collections::VecDeque,
    task::{Context, Poll},
};

/// JSON text over a port.
pub struct TextLink<P> {
    port: P,
    max_message_bytes: usize,
    memo: Memo,
    arrived: VecDeque<LinkEvent>,
    observer: Option<Observer>,
}

impl<P: TextPort> TextLink<P> {
    /// A link over `port` that accepts messages of at most `max_message_bytes`.
    #[must_use]
    pub fn new(port: P, max_message_bytes: usize) -> Self {
        Self { port, max_message_bytes, memo: Memo::new(), arrived: VecDeque::new(), observer: None }
    }
}

impl<P: TextPort> Link for TextLink<P> {
    fn send(&mut self, _via: Via, message: Message, _head: Option<Box<RequestHead>>) {
        let text = encode(&message);
        if let Some(observer) = &self.observer {
            observer(Direction::Sent, &text);
        }
        self.port.send(text);
    }

    fn abandon(&mut self, _exchange: ExchangeId) {}

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        loop {
            if let Some(event) = self.arrived.pop_front() {
                return Poll::Ready(event);
            }
            let text = match self.port.poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(LinkEvent::Closed(None)),
                Poll::Ready(Some(Ok(text))) if text.len() > self.max_message_bytes => {
                    Err(TransportError::new(TransportErrorKind::TooLarge, "message is over the size limit"))
                }
                Poll::Ready(Some(text)) => text,
            };
            match text {
                Ok(text) => {
                    if let Some(observer) = &self.observer {
                        observer(Direction::Received, &text);
                    }
                    decode_into(&text, Via::Pipe, &mut self.memo, &mut self.arrived);
                }
                Err(error) => {
                    let error = WireError::new(ErrorCode::PARSE_ERROR, error.message());
                    return Poll::Ready(LinkEvent::Garbage { via: Via::Pipe, error });
                }
            }
        }
    }

    fn close(&mut self) {
        self.port.close();
    }

    fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }
}

impl<P> std::fmt::Debug for TextLink<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextLink").finish_non_exhaustive()
    }
}
