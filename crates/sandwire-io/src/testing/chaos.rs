use super::next_random;
use crate::{Link, LinkEvent, Observer};
use sandwire_proto::{ExchangeId, TransportError, TransportErrorKind, Via, Wire, http::RequestHead};
use sandwire_types::{ErrorCode, Message, WireError};
use std::{
    collections::VecDeque,
    task::{Context, Poll},
};

/// How often out of a thousand a message that arrives meets a fault.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::exhaustive_structs)]
pub struct Faults {
    /// It is lost.
    pub lose: u32,
    /// It arrives twice.
    pub repeat: u32,
    /// Something that is no message arrives before it.
    pub garble: u32,
    /// It arrives after the next one.
    pub swap: u32,
    /// The link breaks in its place.
    pub cut: u32,
}

/// A link that does to what arrives what a bad network, or a bad peer, would do. The same seed does the same.
pub struct ChaosLink {
    link: Box<dyn Link>,
    faults: Faults,
    seed: u64,
    kept: Option<LinkEvent>,
    ready: VecDeque<LinkEvent>,
}

impl ChaosLink {
    /// `link` with faults.
    #[must_use]
    pub fn new(link: Box<dyn Link>, faults: Faults, seed: u64) -> Self {
        Self { link, faults, seed: seed | 1, kept: None, ready: VecDeque::new() }
    }

    fn happens(&mut self, per_mille: u32) -> bool {
        next_random(&mut self.seed) >> 33 < u64::from(per_mille) * (1 << 31) / 1000
    }

    fn take(&mut self, event: LinkEvent) {
        let LinkEvent::Message { via, message } = event else {
            self.ready.extend(self.kept.take());
            return self.ready.push_back(event);
        };
        if self.happens(self.faults.cut) {
            self.link.close();
            let error = TransportError::new(TransportErrorKind::Closed, "the link broke");
            return self.ready.push_back(LinkEvent::Closed(Some(error)));
        }
        if self.happens(self.faults.garble) {
            let error = WireError::new(ErrorCode::PARSE_ERROR, "noise");
            self.ready.push_back(LinkEvent::Garbage { via, error });
        }
        if self.happens(self.faults.lose) {
            return;
        }
        if self.happens(self.faults.repeat) {
            self.ready.push_back(LinkEvent::Message { via, message: message.clone() });
        }
        let event = LinkEvent::Message { via, message };
        if self.kept.is_none() && self.happens(self.faults.swap) {
            self.kept = Some(event);
        } else {
            self.ready.push_back(event);
            self.ready.extend(self.kept.take());
        }
    }
}

impl Link for ChaosLink {
    fn wire(&self) -> Wire {
        self.link.wire()
    }

    fn send(&mut self, via: Via, message: Message, head: Option<Box<RequestHead>>) {
        self.link.send(via, message, head);
    }

    fn open(&mut self, exchange: ExchangeId, head: Box<RequestHead>) {
        self.link.open(exchange, head);
    }

    fn abandon(&mut self, exchange: ExchangeId) {
        self.link.abandon(exchange);
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Poll::Ready(event);
            }
            match self.link.poll(cx) {
                Poll::Ready(event) => self.take(event),
                Poll::Pending => match self.kept.take() {
                    Some(event) => self.ready.push_back(event),
                    None => return Poll::Pending,
                },
            }
        }
    }

    fn close(&mut self) {
        self.link.close();
    }

    fn observe(&mut self, observer: Observer) {
        self.link.observe(observer);
    }
}

impl std::fmt::Debug for ChaosLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChaosLink").field("faults", &self.faults).finish_non_exhaustive()
    }
}
