//! The HTTP entry: one path that serves both eras, from a request's head and body to a response's.
//!
//! A modern request is answered as JSON, or as an event stream from the first notification on. A legacy one is
//! answered the same way and leaves nothing behind: there is no session, so no questions to the client, no stream
//! outside a request. With the feature `sessions`, an entry can give legacy clients sessions, which have both.
//! Reading order: `guard` (who is let in), this file, `check` (headers against body), `answer` (what the exchange
//! says), `stream`, `session`.

mod answer;
mod check;
mod gate;
mod hook;
mod load;
#[cfg(feature = "sessions")]
mod session;
mod stream;
#[cfg(feature = "tower")]
mod tower;

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll, ready},
};

use sandwire_io::{Body, BoxFuture, Endpoint, Env, HttpService};
use sandwire_proto::http::{RequestHead, ResponseHead, Verb, names};
use sandwire_types::{
    ErrorCode,
    wire::{Incoming, Memo, decode},
};

pub use crate::guard::{Allow, Guard};
use answer::{Begun, Refusal};
use hook::Known;
pub use hook::{Hook, Hooks, Refused, Seen};
pub use load::InFlight;
pub use sandwire_proto::Principal;
#[cfg(feature = "sessions")]
pub use session::{Sessions, SessionsDriver};
#[cfg(feature = "tower")]
pub use tower::TowerBody;

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
    #[cfg(feature = "sessions")]
    sessions: Option<Arc<session::Table>>,
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
        let shared = Shared {
            endpoint,
            env,
            guard,
            #[cfg(feature = "sessions")]
            sessions: None,
        };
        Self { shared: Arc::new(shared) }
    }
}

impl crate::Server {
    /// The server as a function of HTTP requests, for this machine only; [`HttpEntry::guarded`] serves others. The time
    /// and the randomness that HTTP takes are the host's: a server by itself knows of none, and so is not an
    /// [`HttpService`].
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
        match shared.guard.hooks.gate().or(shared.guard.in_flight.gate()) {
            Some(gate) => gate(shared, head, body),
            None => Box::pin(async move { shared.handle(&head, body, &None).await }),
        }
    }
}

impl Shared {
    async fn handle(&self, head: &RequestHead, body: Box<dyn Body>, from: &Known) -> Response {
        if let Err(barred) = self.guard.check(head) {
            let refusal = Refusal::new(barred.status(), ErrorCode::INVALID_REQUEST, barred.message());
            return refusal.into_response(None, self.methods());
        }
        let (mut answer, body) = match self.begun(head, body, from).await {
            Ok(Begun::Waits(mut events)) => match poll_fn(|cx| events.poll_answers(cx)).await {
                Some(response) => response,
                None => (answer::streaming(), events as Box<dyn Body>),
            },
            Ok(Begun::Accepted) => answer::accepted(),
            Ok(Begun::Preflight) => (self.guard.preflight(&head.headers), answer::nothing()),
            #[cfg(feature = "sessions")]
            Ok(Begun::Responded(response)) => response,
            Err(refusal) => refusal.into_response(check::version_of(head), self.methods()),
        };
        self.guard.expose(head.headers.get("origin"), &mut answer);
        (answer, body)
    }

    async fn begun(&self, head: &RequestHead, body: Box<dyn Body>, from: &Known) -> Result<Begun, Refusal> {
        if self.guard.cors && is_preflight(head) {
            return Ok(Begun::Preflight);
        }
        #[cfg(feature = "sessions")]
        if let Some(table) = &self.sessions
            && let Some(response) = self.without_body(table, head, from).await?
        {
            return Ok(Begun::Responded(response));
        }
        check::verb(head)?;
        check::content_type(head)?;
        #[cfg(feature = "sse")]
        if let Some(table) = &self.sessions
            && let Some(session) = table.named(head)
        {
            let Some(incoming) = self.incoming(head, body).await? else { return Ok(Begun::Accepted) };
            return self.beside_stream(table, session, incoming, from);
        }
        check::accept(head)?;
        let Some(incoming) = self.incoming(head, body).await? else { return Ok(Begun::Accepted) };
        #[cfg(feature = "sessions")]
        if let Some(table) = &self.sessions
            && self.is_legacy(head, &incoming)
        {
            return self.post(table, head, incoming, from).await;
        }
        match incoming {
            Incoming::One(message) => self.message(head, message, from),
            Incoming::Batch(items) => self.batch(head, items, from),
        }
    }

    /// The request methods that the address takes.
    fn methods(&self) -> &'static str {
        #[cfg(feature = "sessions")]
        if self.sessions.is_some() {
            return crate::guard::METHODS;
        }
        "POST, OPTIONS"
    }

    /// What the body says, if that is not what is best passed over: a notification that nobody understands.
    async fn incoming(&self, head: &RequestHead, mut body: Box<dyn Body>) -> Result<Option<Incoming>, Refusal> {
        let announced = head.headers.get("content-length").and_then(|length| length.parse::<usize>().ok());
        if announced.is_some_and(|length| length > self.guard.max_body_bytes) {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        poll_fn(|cx| self.poll_body(&mut *body, &mut bytes, cx)).await?;
        drop(body);
        read(bytes).map_err(|refusal| match refusal.error.code {
            // Half an envelope: a routing header that is there twice comes first.
            ErrorCode::INVALID_PARAMS => {
                let first = check::routing(head).err().map(|twice| Refusal { id: refusal.id.clone(), ..twice });
                first.unwrap_or(refusal)
            }
            _ => refusal,
        })
    }

    fn poll_body(&self, body: &mut dyn Body, bytes: &mut Vec<u8>, cx: &mut Context<'_>) -> Poll<Result<(), Refusal>> {
        loop {
            match ready!(body.poll_chunk(cx)) {
                Some(Ok(chunk)) if bytes.len().saturating_add(chunk.len()) > self.guard.max_body_bytes => {
                    return Poll::Ready(Err(too_large()));
                }
                Some(Ok(chunk)) if bytes.is_empty() => *bytes = chunk,
                Some(Ok(chunk)) => bytes.extend_from_slice(&chunk),
                Some(Err(_)) => {
                    let message = "the body ended early; send it again";
                    return Poll::Ready(Err(Refusal::new(400, ErrorCode::PARSE_ERROR, message)));
                }
                None => return Poll::Ready(Ok(())),
            }
        }
    }
}

fn read(body: Vec<u8>) -> Result<Option<Incoming>, Refusal> {
    let Ok(text) = String::from_utf8(body) else {
        return Err(Refusal::new(400, ErrorCode::PARSE_ERROR, "the body is not UTF-8; send JSON as UTF-8"));
    };
    match decode(&text, &mut Memo::new()) {
        Ok(incoming) => Ok(Some(incoming)),
        Err(error) if error.is_notification => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn is_preflight(head: &RequestHead) -> bool {
    head.method == Verb::Options && head.headers.get("access-control-request-method").is_some()
}

fn too_large() -> Refusal {
    Refusal::new(413, ErrorCode::INVALID_REQUEST, "the body is over the server's size limit; send less at once")
}

const VERSION: &str = names::PROTOCOL_VERSION;
