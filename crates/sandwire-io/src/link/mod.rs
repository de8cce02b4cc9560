mod http;
mod text;

pub use http::HttpLink;
pub use sandwire_proto::Input as LinkEvent;
pub use text::TextLink;

use crate::{MaybeSend, Observer};
use sandwire_proto::{ExchangeId, Via, Wire, http::RequestHead};
use sandwire_types::{
    Message,
    wire::{Incoming, Memo, decode},
};
use std::{
    collections::VecDeque,
    task::{Context, Poll},
};

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

    /// What happens next. After [`LinkEvent::Closed`] it is not polled again.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent>;

    /// Closes the link once what was sent before is on its way.
    fn close(&mut self);

    /// Shows the text of every message to `observer` from now on. Links that carry no text do nothing.
    fn observe(&mut self, observer: Observer) {
        let _ = observer;
    }
}

/// What a text that arrived holds: one message, several, or none.
fn decode_into(text: &str, via: Via, memo: &mut Memo, events: &mut VecDeque<LinkEvent>) {
    match decode(text, memo) {
        Ok(Incoming::One(message)) => events.push_back(LinkEvent::Message { via, message }),
        Ok(Incoming::Batch(items)) => events.push_back(LinkEvent::Batch { via, items }),
        Err(error) => events.push_back(LinkEvent::Garbage { via, error }),
    }
}
