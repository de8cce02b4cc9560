//! The HTTP entry: one path that serves both eras, from a request's head and body to a response's.
//!
//! A modern request is answered as JSON, or as an event stream from the first notification on. A legacy one is
//! answered the same way and leaves nothing behind: there is no session, so no questions to the client, no stream
//! outside a request. Reading order: `guard` (who is let in), this file, `check` (headers against body), `answer`
//! (what the exchange says), `stream`.

mod answer;
mod check;
mod stream;

use std::{future::poll_fn, sync::Arc};

use sandwire_io::{Body, BoxFuture, Bytes, Endpoint, Env, HttpService};
use sandwire_proto::http::{RequestHead, ResponseHead, Verb, names};
use sandwire_types::{
    ErrorCode, ErrorObject, WireError,
    wire::{Incoming, Memo, decode},
};

pub use crate::guard::{Allow, Guard};
use answer::Refusal;

type Response = (ResponseHead, Box<dyn Body>);

/// Serves a server over Streamable HTTP, on whatever path requests are handed to it.
///
/// ```no_run
/// # use std::sync::Arc;
/// # use sandwire_io::{Bytes, Endpoint, Env, HttpService};
/// # use sandwire_proto::http::{RequestHead, Verb};
/// use sandwire_server::http::HttpEntry;
///
/// # fn example(server: Arc<dyn Endpoint>, env: Arc<dyn Env>) {
/// let entry = HttpEntry::new(server, env);
/// let response = entry.handle(RequestHead::new(Verb::Post), Box::new(Bytes::new("{}")));
/// # drop(response);
/// # }
/// ```
#[derive(Clone)]
pub struct HttpEntry {
    shared: Arc<Shared>,
}

struct Shared {
    endpoint: Arc<dyn Endpoint>,
    env: Arc<dyn Env>,
    guard: Guard,
}

impl HttpEntry {
    /// Serves `endpoint` to this machine only; see [`Guard`].
    #[must_use]
    pub fn new(endpoint: Arc<dyn Endpoint>, env: Arc<dyn Env>) -> Self {
        Self::guarded(endpoint, env, Guard::default())
    }

    /// Serves `endpoint` to those whom `guard` lets in.
    #[must_use]
    pub fn guarded(endpoint: Arc<dyn Endpoint>, env: Arc<dyn Env>, guard: Guard) -> Self {
        Self { shared: Arc::new(Shared { endpoint, env, guard }) }
    }
}

impl crate::Server {
    /// The server as a function of HTTP requests, for this machine only; [`HttpEntry::guarded`] serves others.
    #[must_use]
    pub fn http(&self, env: Arc<dyn Env>) -> HttpEntry {
        HttpEntry::new(Arc::new(self.clone()), env)
    }
}

impl std::fmt::Debug for HttpEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpEntry").field("guard", &self.shared.guard).finish_non_exhaustive()
    }
}

impl HttpService for HttpEntry {
    fn handle(&self, head: RequestHead, body: Box<dyn Body>) -> BoxFuture<'static, Response> {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move { shared.handle(head, body).await })
    }
}

impl Shared {
    async fn handle(&self, head: RequestHead, body: Box<dyn Body>) -> Response {
        let origin = head.headers.get("origin");
        let (mut answer, body) = match self.guard.check(&head) {
            Ok(()) if self.guard.cors && is_preflight(&head) => {
                (self.guard.preflight(&head.headers), Box::new(Bytes::default()) as Box<dyn Body>)
            }
            Ok(()) => match self.admitted(&head, body).await {
                Ok(response) => response,
                Err(refusal) => refusal.into_response(check::version_of(&head)),
            },
            Err(barred) => {
                let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, barred.message());
                let (answer, body) = Refusal::new(barred.status(), error).into_response(None);
                return (answer, body);
            }
        };
        self.guard.expose(origin, &mut answer);
        (answer, body)
    }

    async fn admitted(&self, head: &RequestHead, body: Box<dyn Body>) -> Result<Response, Refusal> {
        check::verb(head)?;
        check::content_type(head)?;
        check::accept(head)?;
        let body = self.read(head, body).await?;
        let Ok(text) = String::from_utf8(body) else {
            let error = ErrorObject::new(ErrorCode::PARSE_ERROR, "the body is not UTF-8; send JSON as UTF-8");
            return Err(Refusal::new(400, error));
        };
        match decode(&text, &mut Memo::new()) {
            Ok(Incoming::One(message)) => self.message(head, message).await,
            Ok(Incoming::Batch(items)) => self.batch(head, items).await,
            Err(error) if error.is_notification => Ok(answer::accepted()),
            Err(WireError { code, id, message, .. }) => {
                Err(Refusal { status: 400, id, error: ErrorObject::new(code, message) })
            }
        }
    }

    async fn read(&self, head: &RequestHead, mut body: Box<dyn Body>) -> Result<Vec<u8>, Refusal> {
        let limit = self.guard.max_body_bytes;
        let announced = head.headers.get("content-length").and_then(|length| length.parse::<usize>().ok());
        if announced.is_some_and(|length| length > limit) {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        loop {
            match poll_fn(|cx| body.poll_chunk(cx)).await {
                Some(Ok(chunk)) if bytes.len().saturating_add(chunk.len()) > limit => return Err(too_large()),
                Some(Ok(chunk)) if bytes.is_empty() => bytes = chunk,
                Some(Ok(chunk)) => bytes.extend_from_slice(&chunk),
                Some(Err(_)) => {
                    let error = ErrorObject::new(ErrorCode::PARSE_ERROR, "the body ended early; send it again");
                    return Err(Refusal::new(400, error));
                }
                None => return Ok(bytes),
            }
        }
    }
}

fn is_preflight(head: &RequestHead) -> bool {
    head.method == Verb::Options && head.headers.get("access-control-request-method").is_some()
}

fn too_large() -> Refusal {
    let message = "the body is over the server's size limit; send less at once";
    Refusal::new(413, ErrorObject::new(ErrorCode::INVALID_REQUEST, message))
}

/// Whether a media type is what a field such as `application/*;q=0.5` means.
fn is_media_type(range: &str, wanted: &str) -> bool {
    let range = range.split(';').next().unwrap_or_default().trim();
    let group = wanted.split('/').next().unwrap_or_default();
    range == "*/*"
        || range.eq_ignore_ascii_case(wanted)
        || range.strip_suffix("/*").is_some_and(|have| have.eq_ignore_ascii_case(group))
}

const VERSION: &str = names::PROTOCOL_VERSION;
