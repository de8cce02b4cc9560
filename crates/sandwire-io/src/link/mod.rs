mod http;
#[cfg(feature = "sse")]
mod sse;
mod text;

pub use http::HttpLink;
pub use sandwire_proto::Input as LinkEvent;
#[cfg(feature = "sse")]
pub use sse::SseLink;
pub use text::TextLink;

use crate::{MaybeSend, Observer};
use sandwire_proto::{ExchangeId, Limits, TransportError, TransportErrorKind, Via, Wire, http::RequestHead};
use sandwire_types::{
    ErrorCode, Message, WireError,
    wire::{Incoming, Memo, decode, encode},
};
use std::task::{Context, Poll};

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From here to the peer.
    Sent,
    /// From the peer to here.
    Received,
}

/// Carries the messages of one connection.
///
/// Sending never waits: a link keeps what it cannot send yet and moves it on when it is polled.
pub trait Link: MaybeSend + 'static {
    /// What kind of stream this link offers.
    fn wire(&self) -> Wire {
        Wire::Pipe
    }

    /// Sends a message.
    fn send(&mut self, via: Via, message: Message, head: Option<Box<RequestHead>>);

    /// Begins an exchange that carries no message. Only asked of links whose [`wire`](Self::wire) has exchanges.
    fn open(&mut self, exchange: ExchangeId, head: Box<RequestHead>) {
        let _ = (exchange, head);
    }

    /// Drops an exchange, of which nothing more is reported.
    fn abandon(&mut self, exchange: ExchangeId);

    /// What happens next. After [`LinkEvent::Closed`] it is not polled again, unless it [lingers](Self::lingers).
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent>;

    /// The link that takes the place of this one when the server is one of the oldest, with two addresses. Only asked of
    /// links whose [`wire`](Self::wire) has exchanges, all of which are over.
    #[cfg(feature = "sse")]
    fn downgrade(&mut self) -> Option<Box<dyn Link>> {
        None
    }

    /// Closes the link once what was sent before is on its way.
    fn close(&mut self);

    /// After [`LinkEvent::Closed`] without an error: whether the peer, which sends no more, still takes what is sent.
    /// Then polling moves that on, until [`close`](Self::close) and a second `Closed`.
    fn lingers(&self) -> bool {
        false
    }

    /// Shows the text of every message to `observer` from now on. Links that carry no text do nothing.
    fn observe(&mut self, observer: Observer) {
        let _ = observer;
    }
}

const TOO_LARGE: &str = "message is over the size limit; raise the limit or ask for less at once";

/// Writes and reads the texts of one connection, and shows them to whoever looks on.
struct Texts {
    max_bytes: usize,
    memo: Memo,
    observer: Option<Observer>,
}

impl Texts {
    fn new(limits: &Limits) -> Self {
        Self { max_bytes: limits.max_message_bytes, memo: Memo::new(), observer: None }
    }

    /// The same for a link that takes the place of this one.
    #[cfg(feature = "sse")]
    fn for_successor(&self) -> Self {
        Self { max_bytes: self.max_bytes, memo: Memo::new(), observer: self.observer.clone() }
    }

    /// The text of a message that is going to be sent.
    fn write(&self, message: &Message) -> Result<String, TransportError> {
        let text = encode(message);
        if text.len() > self.max_bytes {
            return Err(TransportError::new(TransportErrorKind::TooLarge, TOO_LARGE));
        }
        if let Some(observer) = &self.observer {
            observer(Direction::Sent, &text);
        }
        Ok(text)
    }

    /// What a text that arrived holds, or that it is none for the reason given.
    fn read(&mut self, via: Via, text: Result<&str, &str>) -> LinkEvent {
        let decoded = match text {
            Ok(text) => {
                if let Some(observer) = &self.observer {
                    observer(Direction::Received, text);
                }
                decode(text, &mut self.memo)
            }
            Err(reason) => Err(WireError::new(ErrorCode::PARSE_ERROR, reason)),
        };
        match decoded {
            Ok(Incoming::One(message)) => LinkEvent::Message { via, message },
            Ok(Incoming::Batch(items)) => LinkEvent::Batch { via, items },
            Err(error) => LinkEvent::Garbage { via, error },
        }
    }
}
