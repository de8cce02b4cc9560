//! HTTP servers as functions.

use std::task::{Context, Poll};

use sandwire_proto::{
    TransportError,
    http::{RequestHead, ResponseHead},
};

use crate::{Body, BoxFuture, MaybeSend, MaybeSync};

/// Answers HTTP requests: a head and a body in, a head and a body out.
///
/// The same function serves a worker's `fetch` event, a component's handler, a native server and a test. Dropping the
/// future, or the body it gave before that ended, says that the client went away.
pub trait HttpService: MaybeSend + MaybeSync + 'static {
    /// Answers one request.
    fn handle(&self, head: RequestHead, body: Box<dyn Body>) -> BoxFuture<'static, (ResponseHead, Box<dyn Body>)>;
}

/// A body that is all there.
#[derive(Clone, Debug, Default)]
pub struct Bytes(Option<Vec<u8>>);

impl Bytes {
    /// A body of these bytes.
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Some(bytes.into()).filter(|bytes| !bytes.is_empty()))
    }
}

impl Body for Bytes {
    fn poll_chunk(&mut self, _cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        Poll::Ready(self.0.take().map(Ok))
    }
}
