use crate::{BoxFuture, MaybeSend, MaybeSync};
use sandwire_proto::{
    TransportError,
    http::{RequestHead, ResponseHead},
};
use std::task::{Context, Poll};

/// A host's way of making HTTP requests.
pub trait HttpClient: MaybeSend + MaybeSync + 'static {
    /// Sends a request. The future is ready once the response's head is there; dropping it aborts the request.
    fn send(&self, request: HttpRequest) -> BoxFuture<'static, Result<HttpResponse, TransportError>>;
}

/// An HTTP request.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs)]
pub struct HttpRequest {
    /// The address.
    pub url: String,
    /// Method and header fields; the client adds its own, such as authorization.
    pub head: RequestHead,
    /// The body, JSON text.
    pub body: Option<String>,
}

/// An HTTP response whose body is still arriving.
#[allow(clippy::exhaustive_structs)]
pub struct HttpResponse {
    /// Status and header fields.
    pub head: ResponseHead,
    /// The body.
    pub body: Box<dyn Body>,
}

impl std::fmt::Debug for HttpResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpResponse").field("head", &self.head).finish_non_exhaustive()
    }
}

/// A body that arrives in chunks. Dropping one that has not ended aborts the transfer.
pub trait Body: MaybeSend {
    /// The next chunk as soon as it is there; `None` at the end, after which it is not polled again.
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>>;
}
