use super::{Direction, Link, LinkEvent, decode_into};
use crate::{Observer, TextPort};
use sandwire_proto::{ExchangeId, Limits, TransportError, TransportErrorKind, Via, http::RequestHead};
use sandwire_types::{
    ErrorCode, ErrorObject, Message, Request, Response, WireError,
    wire::{Memo, encode},
};
use std::{
    collections::VecDeque,
    task::{Context, Poll},
};

/// JSON text over a port.
pub struct TextLink<P> {
    port: P,
    limits: Limits,
    memo: Memo,
    arrived: VecDeque<LinkEvent>,
    observer: Option<Observer>,
}

impl<P: TextPort> TextLink<P> {
    /// A link over `port`.
    #[must_use]
    pub fn new(port: P, limits: Limits) -> Self {
        Self { port, limits, memo: Memo::new(), arrived: VecDeque::new(), observer: None }
    }

    fn pass(&mut self, text: String) {
        if let Some(observer) = &self.observer {
            observer(Direction::Sent, &text);
        }
        self.port.send(text);
    }

    /// What becomes of a message that is too long: who waits for it learns of it.
    fn refuse(&mut self, message: Message) {
        match message {
            Message::Request(Request { id, .. }) => {
                let error = TransportError::new(TransportErrorKind::TooLarge, TOO_LARGE);
                self.arrived.push_back(LinkEvent::Unsent { id, error });
            }
            Message::Response(response) => {
                let result = Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, TOO_LARGE));
                self.pass(encode(&Message::Response(Response { result, ..response })));
            }
            Message::Notification(_) => {}
        }
    }
}

const TOO_LARGE: &str = "message is over the size limit; raise the limit or send less at once";

impl<P: TextPort> Link for TextLink<P> {
    fn send(&mut self, _via: Via, message: Message, _head: Option<Box<RequestHead>>) {
        let text = encode(&message);
        if text.len() > self.limits.max_message_bytes {
            return self.refuse(message);
        }
        self.pass(text);
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
                Poll::Ready(Some(Ok(text))) if text.len() > self.limits.max_message_bytes => {
                    Err(TransportError::new(TransportErrorKind::TooLarge, TOO_LARGE))
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
                Err(error) if error.kind() == TransportErrorKind::Closed => {
                    return Poll::Ready(LinkEvent::Closed(Some(error)));
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
