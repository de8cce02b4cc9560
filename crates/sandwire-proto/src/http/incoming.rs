use super::{Headers, ResponseHead, names};
use crate::TransportError;

/// What a response's body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// One JSON text.
    Json,
    /// An event stream.
    EventStream,
    /// Nothing the protocol knows.
    Other,
}

impl Content {
    /// What these header fields say about the body.
    #[must_use]
    pub fn of(headers: &Headers) -> Self {
        match headers.media_type() {
            Some(kind) if kind.eq_ignore_ascii_case("application/json") => Self::Json,
            Some(kind) if kind.eq_ignore_ascii_case("text/event-stream") => Self::EventStream,
            _ => Self::Other,
        }
    }
}

/// The failure that a status without a JSON-RPC message in its body stands for; `session` says whether the request
/// named a session.
#[must_use]
pub fn failure(head: &ResponseHead, session: bool) -> TransportError {
    TransportError::status_of(head.status, head.headers.get(names::WWW_AUTHENTICATE).map(Into::into), session)
}
