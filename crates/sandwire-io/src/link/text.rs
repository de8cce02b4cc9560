use super::{Link, LinkEvent, TOO_LARGE, Texts};
use crate::{Observer, TextPort};
use sandwire_proto::{ExchangeId, Limits, TransportErrorKind, Via, http::RequestHead};
use sandwire_types::{ErrorCode, ErrorObject, Message, Request, Response};
use std::task::{Context, Poll, ready};

/// JSON text over a port.
pub struct TextLink<P> {
    port: P,
    texts: Texts,
    unsent: Vec<LinkEvent>,
}

impl<P: TextPort> TextLink<P> {
    /// A link over `port`.
    #[must_use]
    pub fn new(port: P, limits: Limits) -> Self {
        Self { port, texts: Texts::new(&limits), unsent: Vec::new() }
    }
}

impl<P: TextPort> Link for TextLink<P> {
    fn send(&mut self, _via: Via, message: Message, _head: Option<Box<RequestHead>>) {
        match (self.texts.write(&message), message) {
            (Ok(text), _) => self.port.send(text),
            // Who waits for what is too long learns of it.
            (Err(error), Message::Request(Request { id, .. })) => self.unsent.push(LinkEvent::Unsent { id, error }),
            (Err(_), Message::Response(response)) => {
                let result = Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, TOO_LARGE));
                if let Ok(text) = self.texts.write(&Message::Response(Response { result, ..response })) {
                    self.port.send(text);
                }
            }
            (Err(_), Message::Notification(_)) => {}
        }
    }

    fn abandon(&mut self, _exchange: ExchangeId) {}

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        if let Some(event) = self.unsent.pop() {
            return Poll::Ready(event);
        }
        Poll::Ready(match ready!(self.port.poll(cx)) {
            None => LinkEvent::Closed(None),
            Some(Ok(text)) if text.len() > self.texts.max_bytes => self.texts.read(Via::Pipe, Err(TOO_LARGE)),
            Some(Ok(text)) => self.texts.read(Via::Pipe, Ok(&text)),
            Some(Err(error)) => match error.kind() {
                TransportErrorKind::Restarted if cfg!(feature = "restarts") => LinkEvent::Restarted(error),
                TransportErrorKind::Closed | TransportErrorKind::Restarted => LinkEvent::Closed(Some(error)),
                _ => self.texts.read(Via::Pipe, Err(error.message())),
            },
        })
    }

    fn close(&mut self) {
        self.port.close();
    }

    fn lingers(&self) -> bool {
        self.port.lingers()
    }

    fn observe(&mut self, observer: Observer) {
        self.texts.observer = Some(observer);
    }
}

impl<P> std::fmt::Debug for TextLink<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextLink").finish_non_exhaustive()
    }
}
