//! What the entry asks before it answers a request, and tells once it has.

use std::{borrow::Cow, fmt, future::ready, sync::Arc};

use sandwire_io::{BoxFuture, Bytes, MaybeSend, MaybeSync};
use sandwire_proto::{
    Principal,
    http::{RequestHead, ResponseHead, names},
};
use sandwire_types::{ErrorCode, ErrorObject, Message, ProtocolVersion, Response as Answer, wire::encode};

use super::{
    Response,
    gate::{GATE, Gate},
};

/// Something that looks at every request before its body is read, in the order in which a
/// [`Guard`](super::Guard) lists them, or at every answer. Preflight requests, which carry nothing that could tell who
/// sends them, pass by.
///
/// ```
/// use sandwire_server::http::{Guard, Hook, Principal, Refused};
///
/// let guard = Guard {
///     hooks: [
///         Hook::log(|seen| println!("{} {}", seen.status, seen.ms)),
///         Hook::authenticate(|head| {
///             let known = head.headers.get("authorization") == Some("Bearer of good news");
///             async move { if known { Ok(Principal::new("alice")) } else { Err(Refused::unauthorized("Bearer")) } }
///         }),
///         Hook::limit(|_, principal| {
///             let busy = principal.is_some_and(|principal| &*principal.id == "eve");
///             async move { if busy { Err(Refused::too_many(30)) } else { Ok(()) } }
///         }),
///     ]
///     .into(),
///     ..Guard::default()
/// };
/// # drop(guard);
/// ```
#[derive(Clone)]
pub struct Hook(Arc<dyn Look>);

/// Who sends a request, where that was found out.
pub(super) type Known = Option<Arc<Principal>>;

trait Look: MaybeSend + MaybeSync {
    /// Whether a request may go on, and who sends it.
    fn admit(&self, head: &RequestHead, known: Known) -> BoxFuture<'static, Result<Known, Refused>> {
        let _ = head;
        Box::pin(ready(Ok(known)))
    }

    fn log(&self, seen: &Seen<'_>) {
        let _ = seen;
    }
}

struct Admit<F>(F);

impl<F> Look for Admit<F>
where
    F: Fn(&RequestHead, Known) -> BoxFuture<'static, Result<Known, Refused>> + MaybeSend + MaybeSync,
{
    fn admit(&self, head: &RequestHead, known: Known) -> BoxFuture<'static, Result<Known, Refused>> {
        self.0(head, known)
    }
}

struct Log<F>(F);

impl<F: Fn(&Seen<'_>) + MaybeSend + MaybeSync> Look for Log<F> {
    fn log(&self, seen: &Seen<'_>) {
        self.0(seen);
    }
}

/// A request that was answered.
#[derive(Debug)]
#[non_exhaustive]
pub struct Seen<'a> {
    /// The request.
    pub head: &'a RequestHead,
    /// Who sent it, where that was found out.
    pub principal: Option<&'a Principal>,
    /// The status of the answer. What an event stream brings is still to come.
    pub status: u16,
    /// How long the answer took, in milliseconds.
    pub ms: u64,
}

/// An answer in place of the server's.
#[derive(Clone, Debug)]
pub struct Refused {
    head: ResponseHead,
    says: Says,
}

#[derive(Clone, Debug)]
enum Says {
    Error(Cow<'static, str>),
    Text(String),
}

impl Refused {
    /// A refusal whose body is a JSON-RPC error of this message (lower case, no final stop, saying what to do next).
    #[must_use]
    pub fn new(status: u16, message: impl Into<Cow<'static, str>>) -> Self {
        Self { head: ResponseHead::new(status), says: Says::Error(message.into()) }
    }

    /// An answer that is no refusal, such as a document that clients look for beside the server.
    #[must_use]
    pub fn answer(status: u16, content_type: &'static str, body: impl Into<String>) -> Self {
        let mut head = ResponseHead::new(status);
        head.headers.push(names::CONTENT_TYPE, content_type);
        Self { head, says: Says::Text(body.into()) }
    }

    /// Status 401: nobody knows who sends the request. `challenge`, the value of `WWW-Authenticate`, says what would
    /// tell.
    #[must_use]
    pub fn unauthorized(challenge: impl Into<String>) -> Self {
        let refused = Self::new(401, "the server wants to know who sends this; send a valid token");
        refused.with(names::WWW_AUTHENTICATE, challenge)
    }

    /// Status 403: whoever sends the request may not.
    #[must_use]
    pub fn forbidden(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(403, message)
    }

    /// Status 429: there are too many requests, and may be more after so many seconds.
    #[must_use]
    pub fn too_many(retry_after_seconds: u32) -> Self {
        let refused = Self::new(429, "there are more requests than may be; wait before the next");
        refused.with(names::RETRY_AFTER, retry_after_seconds.to_string())
    }

    /// The same with another header field.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.head.headers.set(name, value);
        self
    }

    pub(super) fn into_response(self, version: Option<ProtocolVersion>) -> Response {
        let Self { mut head, says } = self;
        let body = match says {
            Says::Text(body) => body,
            Says::Error(message) => {
                head.headers.set(names::CONTENT_TYPE, "application/json");
                let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, message);
                encode(&Message::Response(Answer::refusal(None, error, version)))
            }
        };
        (head, Box::new(Bytes::new(body)))
    }
}

impl Hook {
    /// Finds out who sends a request: the party, or the answer to what it does not believe. Handlers see the party as
    /// [`Context::principal`](crate::Context::principal). What they see in a session is what the request at hand told.
    pub fn authenticate<F, T>(authenticate: F) -> Self
    where
        F: Fn(&RequestHead) -> T + MaybeSend + MaybeSync + 'static,
        T: Future<Output = Result<Principal, Refused>> + MaybeSend + 'static,
    {
        Self::admitting(move |head, _| {
            let authenticated = authenticate(head);
            Box::pin(async move { authenticated.await.map(|principal| Some(Arc::new(principal))) })
        })
    }

    /// Decides whether a request may go on. It knows the party if the hook that finds it out stands before it.
    pub fn limit<F, T>(limit: F) -> Self
    where
        F: Fn(&RequestHead, Option<&Principal>) -> T + MaybeSend + MaybeSync + 'static,
        T: Future<Output = Result<(), Refused>> + MaybeSend + 'static,
    {
        Self::admitting(move |head, known| {
            let limited = limit(head, known.as_deref());
            Box::pin(async move { limited.await.map(|()| known) })
        })
    }

    /// Hears of every request once its answer begins, those that were refused included. It must not wait.
    pub fn log(log: impl Fn(&Seen<'_>) + MaybeSend + MaybeSync + 'static) -> Self {
        Self(Arc::new(Log(log)))
    }

    fn admitting<F>(admit: F) -> Self
    where
        F: Fn(&RequestHead, Known) -> BoxFuture<'static, Result<Known, Refused>> + MaybeSend + MaybeSync + 'static,
    {
        Self(Arc::new(Admit(admit)))
    }

    pub(super) fn admit(&self, head: &RequestHead, known: Known) -> BoxFuture<'static, Result<Known, Refused>> {
        self.0.admit(head, known)
    }

    pub(super) fn tell(&self, seen: &Seen<'_>) {
        self.0.log(seen);
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

/// The hooks of an entry, in the order in which they look at a request.
#[derive(Clone, Default)]
pub struct Hooks(Option<(Arc<[Hook]>, Gate)>);

impl<const N: usize> From<[Hook; N]> for Hooks {
    fn from(hooks: [Hook; N]) -> Self {
        Self(Some((Arc::from(hooks), GATE)))
    }
}

impl From<Vec<Hook>> for Hooks {
    fn from(hooks: Vec<Hook>) -> Self {
        Self(Some((Arc::from(hooks), GATE)))
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Hooks {
    pub(super) fn gate(&self) -> Option<Gate> {
        self.0.as_ref().map(|(_, gate)| *gate)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Hook> {
        self.0.iter().flat_map(|(hooks, _)| hooks.iter())
    }
}
