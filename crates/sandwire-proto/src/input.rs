use crate::{ExchangeId, TransportError, Via, http::ResponseHead};
use sandwire_types::{Message, RequestId, WireError};

/// What a link, or the passing of time, tells a machine.
#[derive(Debug)]
#[non_exhaustive]
pub enum Input {
    /// A message arrived.
    Message {
        /// The stream it arrived on.
        via: Via,
        /// The message.
        message: Message,
    },
    /// Something arrived that is not a message.
    Garbage {
        /// The stream it arrived on.
        via: Via,
        /// Why it is not a message.
        error: WireError,
    },
    /// An array of messages arrived, which only protocol version 2025-03-26 allows.
    Batch {
        /// The stream it arrived on.
        via: Via,
        /// The messages, and what stood in the place of some.
        items: Vec<Result<Message, WireError>>,
    },
    /// The head of an exchange's response arrived.
    Head {
        /// The exchange.
        exchange: ExchangeId,
        /// The head.
        head: ResponseHead,
    },
    /// An event stream named a point from which it can be resumed, or a time to wait before that.
    Mark {
        /// The exchange.
        exchange: ExchangeId,
        /// The event id, where the event had one.
        event_id: Option<String>,
        /// Milliseconds to wait before reconnecting, where the stream said so.
        retry_ms: Option<u64>,
    },
    /// An exchange's response ended. Nothing more comes from this exchange.
    Ended {
        /// The exchange.
        exchange: ExchangeId,
        /// How it ended.
        how: Ended,
    },
    /// A request could not be sent, and the link goes on. Links with exchanges end its exchange instead.
    Unsent {
        /// The request.
        id: RequestId,
        /// Why.
        error: TransportError,
    },
    /// The peer was replaced by a new one that knows nothing of what was sent before. The link goes on: what is sent
    /// from now on reaches the new peer. Without the feature `restarts` a client cannot: its links say that they closed.
    Restarted(TransportError),
    /// The link is gone. Nothing more comes from it.
    Closed(Option<TransportError>),
    /// Time passed.
    Tick,
}

/// How an exchange ended.
#[derive(Clone, Debug)]
pub enum Ended {
    /// The body came to its end.
    Finished,
    /// It broke, or never began.
    Lost(TransportError),
}
